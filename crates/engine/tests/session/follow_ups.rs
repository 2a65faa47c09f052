//! A session goes on after its report with the next message of the user.

use reknit_engine::{EventKind, Machine, ReportSource, ReportStatus, Session, SessionExit, SessionRecord, TextAnswers};
use reknit_model_api::{Message, ModelRequest, Role};

use crate::driver::{TestDriver, calling, reporting, saying, with_rules};

fn follow_up(driver: &mut TestDriver, input: &str) {
    driver.apply(EventKind::FollowedUp { input: input.to_owned() });
}

/// The messages of a question as `role: text`.
fn conversation(request: &ModelRequest) -> Vec<String> {
    let line = |message: &Message| {
        let calls: Vec<&str> = message.tool_calls().iter().map(|call| call.name.as_str()).collect();
        format!("{}: {}{}", message.role().as_str(), message.text(), calls.join(", "))
    };
    request.messages.iter().skip(1).map(line).collect()
}

#[test]
fn the_next_message_continues_the_conversation_and_its_turns() {
    let mut driver = TestDriver::new();
    driver.good_turn();
    driver.answer(reporting("Order 7 was sent."));
    follow_up(&mut driver, "And order 8?");
    let (id, _, request) = driver.asked();
    assert_eq!(id, "turn-3/ask/1");
    insta::assert_snapshot!(conversation(&request).join("\n"), @r#"
    user: Where is order 7?
    assistant: shop__look_up
    tool: {"state":"sent"}
    assistant: agent__final_report
    tool: The user has read it.
    user: And order 8?
    "#);
    driver.answer(reporting("It was sent too."));
    assert_eq!(driver.report().content, "It was sent too.");
    assert_eq!(driver.report().spent.model_calls, 3, "what was spent before is part of the sum");
    let messages: Vec<(u32, String)> = driver
        .session_records()
        .into_iter()
        .filter_map(|record| match record {
            SessionRecord::FollowedUp { number, input, .. } => Some((number, input)),
            _ => None,
        })
        .collect();
    assert_eq!(messages, [(2, "And order 8?".to_owned())]);
}

#[test]
fn the_limits_count_anew_for_each_message() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.max_turns = 2));
    driver.good_turn();
    assert_eq!(driver.shown(), ["agent__final_report"], "the turns of the first message are used up");
    driver.answer(reporting("so far"));
    assert_eq!(driver.report().exit, SessionExit::MaxTurnsWithResponse);
    follow_up(&mut driver, "And now?");
    assert_eq!(driver.shown().len(), 5);
    assert!(driver.notices().is_empty(), "{:?}", driver.notices());
    driver.answer(reporting("done"));
    assert_eq!((driver.report().exit, driver.report().forced_final_reason), (SessionExit::FinalAnswer, None));
}

#[test]
fn a_call_that_succeeded_for_an_earlier_message_is_not_made_again() {
    let mut driver = TestDriver::new();
    driver.answer(calling(&[("shop__order", r#"{"id": 7}"#)]));
    driver.reply_all(r#"{"state": "ordered"}"#);
    driver.answer(reporting("ordered"));
    follow_up(&mut driver, "Thanks. Is it ordered?");
    driver.answer(calling(&[("shop__order", r#"{"id": 7}"#)]));
    assert!(driver.calls().is_empty(), "the earlier result is used");
    driver.answer(reporting("yes"));
    assert_eq!(driver.report().repeated.len(), 1);
}

#[test]
fn a_conversation_goes_on_after_an_answer_that_was_cancelled() {
    let mut driver = TestDriver::new();
    driver.good_turn();
    driver.apply(EventKind::Cancelled);
    assert_eq!(driver.report().exit, SessionExit::SignalReceived);
    follow_up(&mut driver, "Only the state, please.");
    let (_, _, request) = driver.asked();
    let last_two: Vec<Role> = request.messages.iter().rev().take(2).map(Message::role).collect();
    assert_eq!(last_two, [Role::User, Role::Assistant], "the model sees that its answer was stopped");
    driver.answer(reporting("sent"));
    assert_eq!((driver.report().exit, driver.report().status), (SessionExit::FinalAnswer, ReportStatus::Success));
}

#[test]
fn a_message_before_the_report_changes_nothing() {
    let mut driver = TestDriver::new();
    let before = driver.asked();
    follow_up(&mut driver, "Are you there?");
    assert_eq!(driver.asked(), before);
    assert_eq!(driver.session.late(), 1);
}

#[test]
fn text_is_the_answer_where_it_is_accepted() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.text_answers = TextAnswers::Accepted));
    let system = driver.asked().2.messages[0].text().to_owned();
    assert!(system.contains("answer the user in plain text"), "{system}");
    driver.good_turn();
    driver.answer(saying("It was **sent**."));
    let report = driver.report();
    assert_eq!((report.content.as_str(), report.source), ("It was **sent**.", ReportSource::TextFallback));
    assert_eq!((report.exit, report.status), (SessionExit::FinalAnswer, ReportStatus::Success));
    follow_up(&mut driver, "When?");
    insta::assert_snapshot!(conversation(&driver.asked().2).join("\n"), @r#"
    user: Where is order 7?
    assistant: shop__look_up
    tool: {"state":"sent"}
    assistant: It was **sent**.
    user: When?
    "#);
}

#[test]
fn an_empty_text_is_no_answer_also_where_text_is_accepted() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.text_answers = TextAnswers::Accepted));
    driver.answer(saying("  "));
    assert_eq!(driver.attempt_lines(), ["1.1 a empty_response"]);
}

#[test]
fn a_conversation_is_replayed_and_restored_as_it_was() {
    let mut driver = TestDriver::new();
    driver.good_turn();
    driver.answer(reporting("Order 7 was sent."));
    follow_up(&mut driver, "And order 8?");
    driver.answer(calling(&[("shop__look_up", r#"{"id": 8}"#)]));
    let (replayed, _) = Machine::replay(&driver.events).expect("they replay").expect("there are events");
    assert_eq!(replayed.pending(), driver.session.pending());
    let restored = Session::restore(&driver.session.snapshot().expect("a snapshot")).expect("it can be restored");
    assert_eq!(restored.pending(), driver.session.pending());
    assert_eq!(restored.input(), "And order 8?");
}
