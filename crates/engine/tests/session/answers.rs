//! Classification of answers, and the reaction to each kind.

use reknit_engine::{AnswerKind, AttemptStatus, DropReason, SessionRecord};
use reknit_model_api::{FinishReason, Message, ModelAnswer};

use crate::driver::{TestDriver, calling, rate_limited, reporting, saying, thinking, truncated};

fn kinds(driver: &TestDriver) -> Vec<AnswerKind> {
    let kind = |status: AttemptStatus| if let AttemptStatus::Answered(kind) = status { Some(kind) } else { None };
    driver.attempts().iter().filter_map(|attempt| kind(attempt.status)).collect()
}

#[test]
fn every_unusable_answer_is_classified_and_gets_its_own_notice() {
    let refusing = ModelAnswer { finish: FinishReason::Refusal, ..saying("I will not.") };
    let blocked = ModelAnswer { finish: FinishReason::ContentFilter, ..saying("") };
    for (answer, kind, notice) in [
        (saying("It is on its way."), AnswerKind::TextOnly, Some("System notice: plain text responses are ignored")),
        (saying(" \n"), AnswerKind::Empty, Some("System notice: your answer was empty")),
        (thinking(), AnswerKind::ReasoningOnly, Some("System notice: you only thought")),
        (truncated(saying("It is on")), AnswerKind::Truncated, Some("System notice: your answer was cut")),
        (
            truncated(calling(&[("shop__look_up", "{}")])),
            AnswerKind::Truncated,
            Some("System notice: your answer was cut"),
        ),
        (
            calling(&[("shop__look_up", "{{{")]),
            AnswerKind::MalformedCall,
            Some("System notice: a tool call was ignored"),
        ),
        (
            calling(&[("shop__look_up", "[1]")]),
            AnswerKind::MalformedCall,
            Some("System notice: a tool call was ignored"),
        ),
        (calling(&[("fly", "{}")]), AnswerKind::UnknownTool, Some("System notice: a tool call was ignored")),
        (refusing, AnswerKind::Refused, None),
        (blocked, AnswerKind::Refused, None),
    ] {
        let mut driver = TestDriver::new();
        let before = driver.session.history().to_vec();
        driver.answer(answer);
        assert_eq!(kinds(&driver), [kind]);
        assert_eq!(driver.asked().0, "turn-1/ask/2");
        assert_eq!(driver.asked().1, "b", "the next target is asked: {kind:?}");
        assert_eq!(driver.session.history(), before, "{kind:?}");
        let notices = driver.notices();
        assert_eq!(notices.len(), usize::from(notice.is_some()), "{kind:?}: {notices:?}");
        assert!(notices.iter().zip(notice).all(|(text, start)| text.starts_with(start)), "{kind:?}: {notices:?}");
    }
}

#[test]
fn a_notice_is_a_user_message_with_a_tag() {
    let mut driver = TestDriver::new();
    driver.answer(saying("words"));
    let notices = driver.session.notices();
    assert_eq!(notices.len(), 1);
    insta::assert_snapshot!(reknit_protocol::Value::from(notices[0].to_object()), @r#"{"role":"user","content":"System notice: plain text responses are ignored. Call a tool, or give your whole answer by calling `agent__final_report`.","metadata":{"retryMessage":"text_only"}}"#);
    let (_, _, request) = driver.asked();
    assert_eq!(request.messages.last().map(|message| message.role().as_str()), Some("user"));
}

#[test]
fn notices_accumulate_without_duplicates_until_the_turn_ends() {
    let mut driver = TestDriver::begin(crate::driver::with_rules(|rules| rules.max_retries = 5));
    driver.answer(saying("words"));
    driver.answer(saying("other words"));
    assert_eq!(driver.notices().len(), 1, "a repeated notice is sent once");
    driver.fail(rate_limited(None));
    assert_eq!(driver.notices().len(), 1, "the notice is kept for the next target");
    driver.answer(saying(""));
    assert_eq!(driver.notices().len(), 2);
    driver.good_turn();
    assert_eq!(driver.notices(), Vec::<String>::new());
    assert!(!format!("{:?}", driver.session.history()).contains("System notice"));
}

#[test]
fn the_token_limit_is_doubled_once_after_a_truncated_answer() {
    let mut driver = TestDriver::new();
    assert_eq!(driver.asked().2.max_tokens, 4_096);
    driver.answer(truncated(saying("a")));
    assert_eq!(driver.asked().2.max_tokens, 8_192);
    driver.answer(truncated(saying("b")));
    assert_eq!(driver.asked().2.max_tokens, 8_192);
}

#[test]
fn repairable_arguments_are_repaired() {
    for arguments in ["", "null", "{id: 7,}", "```json\n{\"id\": 7}\n```", r#""{\"id\": 7}""#] {
        let mut driver = TestDriver::new();
        driver.answer(calling(&[("shop__look_up", arguments)]));
        assert_eq!(driver.calls().len(), 1, "{arguments:?}");
    }
}

#[test]
fn truncated_arguments_are_never_sent() {
    for arguments in [r#"{"id": 7"#, r#"{"id": "abc"#, r#"{"ids": [1, 2, ...]}"#] {
        let mut driver = TestDriver::new();
        driver.answer(calling(&[("shop__order", arguments)]));
        assert_eq!(kinds(&driver), [AnswerKind::MalformedCall], "{arguments:?}");
        assert!(driver.calls().is_empty());
    }
}

#[test]
fn an_unreadable_call_is_dropped_while_the_other_calls_are_made() {
    let mut driver = TestDriver::new();
    driver.answer(calling(&[("shop__look_up", "{{{"), ("shop__look_up", r#"{"id": 7}"#)]));
    assert_eq!(driver.calls().len(), 1);
    driver.reply_all(r#"{"state": "sent"}"#);
    assert_eq!(driver.session.view().turn, 2);
    let messages = driver.session.history().iter().flat_map(Message::tool_calls).collect::<Vec<_>>();
    assert_eq!(messages.len(), 1, "the history has only the valid call");
    assert!(driver.notices()[0].contains("shop__look_up"), "the notice names the dropped call: {:?}", driver.notices());
    let dropped = SessionRecord::CallDropped { turn: 1, tool: "shop__look_up".to_owned(), why: DropReason::Malformed };
    assert!(driver.session_records().contains(&dropped));
}

#[test]
fn the_notice_about_an_unknown_tool_suggests_the_nearest_name_and_lists_all_tools() {
    let mut driver = TestDriver::new();
    driver.answer(calling(&[("shop__lok_upp", "{}")]));
    insta::assert_snapshot!(driver.notices().join("\n"), @"System notice: a tool call was ignored because there is no such tool. You called `shop__lok_upp`. Did you mean `shop__look_up`? There is: `shop__look_up`, `shop__order`, `shop__refund`, `shop__convert`, `agent__final_report`.");
}

#[test]
fn a_misspelled_tool_name_that_fits_only_one_tool_is_accepted() {
    for name in ["shop__look_up", "look_up", "shop.lookUp", "Shop__Look-Up", " shop__look_up "] {
        let mut driver = TestDriver::new();
        driver.answer(calling(&[(name, "{}")]));
        assert_eq!(driver.calls().len(), 1, "{name:?}");
        driver.reply_all("{}");
        let messages = driver.session.history().iter().flat_map(Message::tool_calls).next().cloned();
        assert_eq!(
            messages.map(|call| call.name),
            Some("shop__look_up".to_owned()),
            "the history has the correct name"
        );
    }
}

#[test]
fn the_report_tool_accepts_its_alias() {
    for name in ["agent__final_report", "final_report", "finalReport", "agent-final-report"] {
        let mut driver = TestDriver::new();
        driver.answer(calling(&[(name, r#"{"report_content": "It was sent."}"#)]));
        assert_eq!(driver.report().content, "It was sent.", "{name}");
    }
    let mut driver = TestDriver::new();
    driver.answer(reporting("x"));
    assert_eq!(kinds(&driver), [AnswerKind::FinalReport]);
}

#[test]
fn every_kind_of_answer_has_its_own_label_and_reaction() {
    use reknit_engine::AnswerKind as K;
    let cases = [
        (K::ToolCalls, calling(&[("shop__look_up", "{}")]), "turn-1/call-1/call/1", None),
        (K::FinalReport, reporting("done"), "", None),
        (K::TextOnly, saying("words"), "turn-1/ask/2", Some("plain text responses are ignored")),
        (K::Empty, saying(""), "turn-1/ask/2", Some("your answer was empty")),
        (K::ReasoningOnly, thinking(), "turn-1/ask/2", Some("you only thought")),
        (K::Truncated, truncated(saying("It w")), "turn-1/ask/2", Some("your answer was cut")),
        (K::MalformedCall, calling(&[("shop__look_up", "{{{")]), "turn-1/ask/2", Some("not a valid JSON object")),
        (K::UnknownTool, calling(&[("fly", "{}")]), "turn-1/ask/2", Some("there is no such tool")),
        (K::ReportRejected, calling(&[("agent__final_report", "{}")]), "turn-1/ask/2", Some("was not accepted")),
        (K::Refused, ModelAnswer { finish: FinishReason::Refusal, ..saying("no") }, "turn-1/ask/2", None),
    ];
    assert_eq!(cases.each_ref().map(|case| case.0), K::ALL, "every kind needs a case");
    let mut labels = std::collections::BTreeSet::new();
    for (kind, answer, due, notice) in cases {
        let mut driver = TestDriver::new();
        driver.answer(answer);
        let attempt = driver.attempts()[0].clone();
        assert_eq!(attempt.status, AttemptStatus::Answered(kind));
        assert!(labels.insert(attempt.status.as_str()), "{kind:?} has a label of its own");
        assert_eq!(driver.due().first().map_or("", String::as_str), due, "{kind:?}");
        if due == "turn-1/ask/2" {
            assert_eq!(driver.asked().1, "b", "{kind:?}: the next target is asked");
            let notices = driver.notices();
            assert_eq!(notices.len(), usize::from(notice.is_some()), "{kind:?}: {notices:?}");
            assert!(notices.iter().all(|text| text.contains(notice.unwrap_or_default())), "{kind:?}: {notices:?}");
        }
    }
}
