//! What salvage changed in the call of an agent is told to everybody: to the model, in the report, to the person who approves it.

use std::sync::Arc;

use proptest::prelude::*;
use reknit_engine::{AnswerKind, ApprovalRule, AttemptStatus, Effect, Plans, Policy, Question, SessionStarted};
use reknit_protocol::Value;

use crate::driver::{TestDriver, calling, saying, started, with_rules};

/// Arguments that no strict parser reads as they are sent, with a part of what is told about them.
const DAMAGED: [(&str, &str, &str); 9] = [
    ("{'id': 7}", r#"{"id":7}"#, "replaced other quotes"),
    (r#"{"id": 7,}"#, r#"{"id":7}"#, "dropped an extra comma"),
    ("```json\n{\"id\": 7}\n```", r#"{"id":7}"#, "took the JSON from a fenced block"),
    ("I refund it: {\"id\": 7} as you said.", r#"{"id":7}"#, "JSON"),
    (r#"{"id": 10 /* or 20 */}"#, r#"{"id":10}"#, "/* or 20 */"),
    (r#"{"to": Ann}"#, r#"{"to":"Ann"}"#, "added quotes around text"),
    (r#""{\"id\": 7}""#, r#"{"id":7}"#, "decoded JSON inside a string"),
    (r#"{"id": 7}}"#, r#"{"id":7}"#, "dropped an extra bracket"),
    (r#"{"id": 7, "id": 7}"#, r#"{"id":7}"#, "duplicate key"),
];

fn last_text(driver: &TestDriver) -> String {
    driver.session.history().last().map(|message| message.text().to_owned()).unwrap_or_default()
}

#[test]
fn what_was_changed_to_read_a_call_is_told_to_the_model_and_is_in_the_report() {
    for tool in ["shop__look_up", "shop__order", "shop__refund"] {
        for (arguments, sent, told) in DAMAGED {
            let mut driver = TestDriver::new();
            driver.answer(calling(&[(tool, arguments)]));
            assert_eq!(driver.calls()[0].parameters.to_string(), sent, "{tool} {arguments}");
            driver.reply_all(r#"{"state": "sent"}"#);
            let mended = driver.session.mended();
            assert!(mended.len() == 1 && mended[0].tool == tool && mended[0].change.contains(told), "{mended:?}");
            let note = last_text(&driver);
            assert!(note.contains("(changed before it was sent: ") && note.contains(told), "{note}");
        }
    }
}

#[test]
fn a_renamed_tool_and_a_call_in_text_are_changes_and_an_exact_call_is_none() {
    let text = saying(r#"<tool_call>{"name": "shop__refund", "arguments": {"id": 7}}</tool_call>"#);
    for (answer, told) in [
        (calling(&[("refund", r#"{"id": 7}"#)]), Some("`refund` is the tool `shop__refund`")),
        (text, Some("it was written as text between tags")),
        (calling(&[("shop__refund", r#"{"id": 7}"#)]), None),
        (calling(&[("shop__refund", " {\n\"id\": 7 } ")]), None),
        (calling(&[("shop__refund", "")]), None),
    ] {
        let mut driver = TestDriver::new();
        driver.answer(answer);
        driver.reply_all("{}");
        let changes: Vec<&str> = driver.session.mended().iter().map(|mended| mended.change.as_str()).collect();
        assert_eq!(changes, Vec::from_iter(told));
        assert_eq!(last_text(&driver).contains("changed before it was sent"), told.is_some());
    }
}

#[test]
fn a_key_with_two_values_is_not_sent_to_a_tool_that_changes_something_and_the_model_is_told() {
    for arguments in [r#"{"id": 7, "id": 8}"#, r#"{"to": {"id": 7, "id": "7"}}"#, r#""{\"id\": 7, \"id\": 8}""#] {
        for tool in ["shop__order", "shop__refund"] {
            let mut driver = TestDriver::new();
            driver.answer(calling(&[(tool, arguments)]));
            assert!(driver.calls().is_empty(), "{tool} {arguments}");
            assert_eq!(driver.attempts()[0].status, AttemptStatus::Answered(AnswerKind::MalformedCall));
            let notice = driver.notices().join("\n");
            assert!(notice.contains("id` is in it several times, with different values"), "{notice}");
        }
        let text = format!(r#"<tool_call>{{"name": "shop__refund", "arguments": {arguments}}}</tool_call>"#);
        let mut driver = TestDriver::new();
        driver.answer(saying(&text));
        assert!(driver.calls().is_empty(), "{text}");

        let mut driver = TestDriver::new();
        driver.answer(calling(&[("shop__look_up", arguments)]));
        assert_eq!(driver.calls().len(), 1, "{arguments}");
        driver.reply_all("{}");
        assert!(driver.session.mended()[0].change.contains("kept the last value of a duplicate key"), "{arguments}");
    }
}

#[test]
fn a_plan_that_is_written_as_text_is_read_as_strictly_as_its_call() {
    let plan = |with: &str| {
        let plan = format!("{{'steps': [{{'id': 'a', 'tool': 'shop__refund', 'with': {with}}}]}}");
        calling(&[("agent__run_plan", &Value::from([("plan", Value::from(plan))]).to_string())])
    };
    let mut driver = TestDriver::begin(with_rules(|rules| rules.plans = Plans::Allowed));
    driver.answer(plan("{'id': 7, 'id': 8}"));
    assert!(driver.calls().is_empty());
    assert!(driver.notices().join("").contains("several times, with different values"), "{:?}", driver.notices());
    driver.answer(plan("{'id': 7 /* or 8 */}"));
    assert_eq!(driver.calls()[0].parameters.to_string(), r#"{"id":7}"#);
    driver.reply_all("{}");
    assert!(driver.session.mended()[0].change.contains("/* or 8 */"), "{:?}", driver.session.mended());
    assert!(last_text(&driver).contains("/* or 8 */"), "{}", last_text(&driver));
}

fn asked(driver: &TestDriver) -> Question {
    let question = |effect: Effect| if let Effect::AskPerson(ask) = effect { Some(ask.question.clone()) } else { None };
    driver.session.pending().into_iter().find_map(question).expect("a person is asked")
}

#[test]
fn the_question_to_a_person_says_how_the_call_was_changed() {
    let mut policy = Policy::default();
    policy.approvals.rules = vec![ApprovalRule::default()];
    let mut driver = TestDriver::begin(SessionStarted { policy: Arc::new(policy), ..started() });
    driver.answer(calling(&[("shop__refund", r#"{"id": 10 /* or 20 */, "to": Ann}"#)]));
    let question = asked(&driver);
    let Question::SendCall { change, .. } = &question else { panic!("{question:?}") };
    assert!(change.contains("/* or 20 */") && change.contains("$.to: added quotes around text"), "{change}");
    assert!(question.lines().iter().any(|line| line.label == "change"), "{:?}", question.lines());
}

/// A JSON object, then damage in some places.
fn damaged() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just(r#""Ann""#.to_owned()),
        Just("[1, 2]".to_owned()),
        Just(r#"{"id": 7, "note": "a b"}"#.to_owned()),
        (0_u32..200).prop_map(|number| number.to_string()),
    ];
    let object = prop::collection::vec(("[a-c]", value), 0..4).prop_map(|entries| {
        let entries: Vec<String> = entries.iter().map(|(key, value)| format!(r#""{key}": {value}"#)).collect();
        format!("{{{}}}", entries.join(", "))
    });
    let piece = prop::sample::select(vec![
        "'",
        "\"",
        ",",
        "}",
        "{",
        "]",
        "//x\n",
        "/* or 20 */",
        "```json\n",
        "\n```",
        "I say: ",
        " Bye.",
        "\\",
        "None",
        "*",
        ":",
        "1",
        " ",
    ]);
    let damage = prop::collection::vec((any::<prop::sample::Index>(), piece, any::<bool>()), 0..4);
    (object, damage, any::<bool>()).prop_map(|(mut text, damage, encoded)| {
        for (place, piece, replaces) in damage {
            let at = text.floor_char_boundary(place.index(text.len() + 1));
            let end = if replaces { text.ceil_char_boundary((at + 1).min(text.len())) } else { at };
            text.replace_range(at..end, piece);
        }
        if encoded { Value::from(text).to_string() } else { text }
    })
}

proptest! {
    #[test]
    fn a_call_that_is_not_sent_as_a_strict_parser_reads_it_has_a_record(text in damaged(), in_text in any::<bool>()) {
        let mut driver = TestDriver::new();
        let answer = if in_text {
            saying(&format!("<tool_call>{{\"name\": \"shop__refund\", \"arguments\": {text}}}</tool_call>"))
        } else {
            calling(&[("shop__refund", &text)])
        };
        driver.answer(answer);
        if let Some(call) = driver.calls().first() {
            let sent = call.parameters.clone();
            driver.reply_all("{}");
            let is_exact = match Value::parse(&text) {
                Ok(Value::Object(strict)) => !in_text && strict.to_string() == sent.to_string(),
                Ok(Value::Null) => !in_text && sent.is_empty(),
                _ => !in_text && text.trim().is_empty() && sent.is_empty(),
            };
            let mended = driver.session.mended();
            prop_assert!(is_exact || mended.len() == 1 && !mended[0].change.is_empty(), "{text}: {sent:?}");
            prop_assert_eq!(is_exact, !last_text(&driver).contains("changed before it was sent"));
        }
    }
}
