//! Answers are told apart, and each has its own reaction.

use reknit_dialogue::{Answer, Finish, Message};
use reknit_engine::{AnswerKind, AttemptStatus, Dropped, Record};

use crate::world::{Play, calling, cut, limited, reporting, saying, thinking};

fn kinds(play: &Play) -> Vec<AnswerKind> {
    let kind = |status: AttemptStatus| if let AttemptStatus::Answered(kind) = status { Some(kind) } else { None };
    play.attempts().iter().filter_map(|attempt| kind(attempt.status)).collect()
}

#[test]
fn every_answer_that_brings_nothing_is_told_apart_and_answered_with_its_own_notice() {
    let refusing = Answer { finish: Finish::Refusal, ..saying("I will not.") };
    let held_back = Answer { finish: Finish::ContentFilter, ..saying("") };
    for (answer, kind, notice) in [
        (saying("It is on its way."), AnswerKind::TextOnly, Some("System notice: plain text responses are ignored")),
        (saying(" \n"), AnswerKind::Empty, Some("System notice: your answer was empty")),
        (thinking(), AnswerKind::ReasoningOnly, Some("System notice: you only thought")),
        (cut(saying("It is on")), AnswerKind::Truncated, Some("System notice: your answer was cut")),
        (cut(calling(&[("shop__look_up", "{}")])), AnswerKind::Truncated, Some("System notice: your answer was cut")),
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
        (held_back, AnswerKind::Refused, None),
    ] {
        let mut play = Play::new();
        let before = play.session.history().to_vec();
        play.answer(answer);
        assert_eq!(kinds(&play), [kind]);
        assert_eq!(play.asked().0, "turn-1/ask/2");
        assert_eq!(play.asked().1, "b", "the next target is asked: {kind:?}");
        assert_eq!(play.session.history(), before, "{kind:?}");
        let notices = play.notices();
        assert_eq!(notices.len(), usize::from(notice.is_some()), "{kind:?}: {notices:?}");
        assert!(notices.iter().zip(notice).all(|(text, start)| text.starts_with(start)), "{kind:?}: {notices:?}");
    }
}

#[test]
fn a_notice_is_what_the_user_says_and_has_its_tag() {
    let mut play = Play::new();
    play.answer(saying("words"));
    let notices = play.session.notices();
    assert_eq!(notices.len(), 1);
    insta::assert_snapshot!(notices[0].to_value(), @r#"{"role":"user","content":"System notice: plain text responses are ignored. Call a tool, or give your whole answer by calling `agent__final_report`.","metadata":{"retryMessage":"text_only"}}"#);
    let (_, _, request) = play.asked();
    assert_eq!(request.messages.last().map(|message| message.role().as_str()), Some("user"));
}

#[test]
fn notices_add_up_in_a_turn_are_not_said_twice_and_are_gone_after_it() {
    let mut play = Play::begin(crate::world::with_rules(|rules| rules.max_retries = 5));
    play.answer(saying("words"));
    play.answer(saying("other words"));
    assert_eq!(play.notices().len(), 1, "the same reminder is there once");
    play.fail(limited(None));
    assert_eq!(play.notices().len(), 1, "it is still true for the next target");
    play.answer(saying(""));
    assert_eq!(play.notices().len(), 2);
    play.good_turn();
    assert_eq!(play.notices(), Vec::<String>::new());
    assert!(!format!("{:?}", play.session.history()).contains("System notice"));
}

#[test]
fn the_limit_of_an_answer_is_raised_once_when_it_is_cut() {
    let mut play = Play::new();
    assert_eq!(play.asked().2.max_tokens, 4_096);
    play.answer(cut(saying("a")));
    assert_eq!(play.asked().2.max_tokens, 8_192);
    play.answer(cut(saying("b")));
    assert_eq!(play.asked().2.max_tokens, 8_192);
}

#[test]
fn parameters_that_can_be_repaired_are_repaired() {
    for arguments in ["", "null", "{id: 7,}", "```json\n{\"id\": 7}\n```", r#""{\"id\": 7}""#] {
        let mut play = Play::new();
        play.answer(calling(&[("shop__look_up", arguments)]));
        assert_eq!(play.calls().len(), 1, "{arguments:?}");
    }
}

#[test]
fn parameters_that_end_early_are_never_sent() {
    for arguments in [r#"{"id": 7"#, r#"{"id": "abc"#, r#"{"ids": [1, 2, ...]}"#] {
        let mut play = Play::new();
        play.answer(calling(&[("shop__order", arguments)]));
        assert_eq!(kinds(&play), [AnswerKind::MalformedCall], "{arguments:?}");
        assert!(play.calls().is_empty());
    }
}

#[test]
fn a_call_that_cannot_be_read_is_left_out_and_its_sibling_is_made_and_the_turn_counts() {
    let mut play = Play::new();
    play.answer(calling(&[("shop__look_up", "{{{"), ("shop__look_up", r#"{"id": 7}"#)]));
    assert_eq!(play.calls().len(), 1);
    play.reply_all(r#"{"state": "sent"}"#);
    assert_eq!(play.session.view().turn, 2);
    let said = play.session.history().iter().flat_map(Message::tool_calls).collect::<Vec<_>>();
    assert_eq!(said.len(), 1, "the history has only the call that was made");
    assert!(play.notices()[0].contains("shop__look_up"), "and the next turn hears of the other: {:?}", play.notices());
    let dropped = Record::CallDropped { turn: 1, tool: "shop__look_up".to_owned(), why: Dropped::Malformed };
    assert!(play.session.records().contains(&dropped));
}

#[test]
fn an_unknown_tool_is_answered_with_the_nearest_name_and_the_list() {
    let mut play = Play::new();
    play.answer(calling(&[("shop__lok_upp", "{}")]));
    insta::assert_snapshot!(play.notices().join("\n"), @"System notice: a tool call was ignored because there is no such tool. You called `shop__lok_upp`. Did you mean `shop__look_up`? There is: `shop__look_up`, `shop__order`, `shop__refund`, `shop__convert`, `agent__final_report`.");
}

#[test]
fn a_name_that_can_only_mean_one_tool_is_taken_for_it() {
    for name in ["shop__look_up", "look_up", "shop.lookUp", "Shop__Look-Up", " shop__look_up "] {
        let mut play = Play::new();
        play.answer(calling(&[(name, "{}")]));
        assert_eq!(play.calls().len(), 1, "{name:?}");
        play.reply_all("{}");
        let said = play.session.history().iter().flat_map(Message::tool_calls).next().cloned();
        assert_eq!(said.map(|call| call.name), Some("shop__look_up".to_owned()), "history has the right name");
    }
}

#[test]
fn the_report_may_be_called_by_its_alias() {
    for name in ["agent__final_report", "final_report", "finalReport", "agent-final-report"] {
        let mut play = Play::new();
        play.answer(calling(&[(name, r#"{"report_content": "It was sent."}"#)]));
        assert_eq!(play.report().content, "It was sent.", "{name}");
    }
    let mut play = Play::new();
    play.answer(reporting("x"));
    assert_eq!(kinds(&play), [AnswerKind::FinalReport]);
}

#[test]
fn every_kind_of_answer_has_its_own_record_metric_log_line_and_reaction() {
    use reknit_engine::AnswerKind as K;
    let cases = [
        (K::ToolCalls, calling(&[("shop__look_up", "{}")]), "turn-1/call-1/call/1", None),
        (K::FinalReport, reporting("done"), "", None),
        (K::TextOnly, saying("words"), "turn-1/ask/2", Some("plain text responses are ignored")),
        (K::Empty, saying(""), "turn-1/ask/2", Some("your answer was empty")),
        (K::ReasoningOnly, thinking(), "turn-1/ask/2", Some("you only thought")),
        (K::Truncated, cut(saying("It w")), "turn-1/ask/2", Some("your answer was cut")),
        (K::MalformedCall, calling(&[("shop__look_up", "{{{")]), "turn-1/ask/2", Some("not a valid JSON object")),
        (K::UnknownTool, calling(&[("fly", "{}")]), "turn-1/ask/2", Some("there is no such tool")),
        (K::ReportRejected, calling(&[("agent__final_report", "{}")]), "turn-1/ask/2", Some("was not accepted")),
        (K::Refused, Answer { finish: Finish::Refusal, ..saying("no") }, "turn-1/ask/2", None),
    ];
    assert_eq!(cases.each_ref().map(|case| case.0), K::ALL, "a new kind belongs here");
    let mut labels = std::collections::BTreeSet::new();
    for (kind, answer, due, notice) in cases {
        let mut play = Play::new();
        play.answer(answer);
        let attempt = play.attempts()[0].clone();
        assert_eq!(attempt.status, AttemptStatus::Answered(kind));
        assert!(labels.insert(attempt.status.as_str()), "{kind:?} has a label of its own");
        assert_eq!(play.due().first().map_or("", String::as_str), due, "{kind:?}");
        if due == "turn-1/ask/2" {
            assert_eq!(play.asked().1, "b", "{kind:?}: the next target is asked");
            let notices = play.notices();
            assert_eq!(notices.len(), usize::from(notice.is_some()), "{kind:?}: {notices:?}");
            assert!(notices.iter().all(|text| text.contains(notice.unwrap_or_default())), "{kind:?}: {notices:?}");
        }
        let record = Record::Attempt(Box::new(attempt.clone()));
        let label = attempt.status.as_str();
        assert!(record.metrics().iter().any(|metric| format!("{metric:?}").contains(label)), "{kind:?}");
        let lines: Vec<String> = record.log_lines().iter().map(|line| format!("{line:?}")).collect();
        assert!(lines[0].contains(label), "{kind:?}: {lines:?}");
        assert_eq!(lines.len(), if attempt.error.is_some() { 2 } else { 1 }, "{kind:?}: {lines:?}");
    }
}
