//! The context guard: every question fits the window of its target.

use std::sync::Arc;

use reknit_engine::{
    ContextAction, Effect, EventKind, FinalTurnReason, READ_TOOL, SessionExit, SessionRecord, SessionStarted,
    SyntheticReason,
};
use reknit_model_api::{Message, ModelAnswer, ModelFailure, Usage, UsageSource};

use crate::driver::{TestDriver, calling, reporting, saying, started};

/// A session whose targets have these windows, in tokens.
fn windows(windows: &[(&str, u32)]) -> SessionStarted {
    let mut started = started();
    started.targets = windows.iter().map(|(name, _)| (*name).into()).collect();
    let mut policy = started.policy.as_ref().clone();
    policy.rotation.context_windows = windows.iter().map(|(name, window)| ((*name).into(), *window)).collect();
    started.policy = Arc::new(policy);
    started
}

/// The estimated tokens of the first question.
fn base() -> u32 {
    let size = TestDriver::begin(windows(&[("a", 100_000)])).session.question_size().expect("the window is known");
    u32::try_from(size.tokens).expect("a small number")
}

/// A window that may be too small for the first question and its answer.
fn narrow() -> u32 {
    base() * 5 / 4
}

/// Answers a pending token count; `None` means that there is no tokenizer.
fn count(driver: &mut TestDriver, tokens: Option<u64>) {
    let found = driver.session.pending().into_iter().find_map(|effect| match effect {
        Effect::CountTokens(count) => Some((count.id, count.target)),
        _ => None,
    });
    let (effect, _) = found.unwrap_or_else(|| panic!("no count is pending: {:?}", driver.due()));
    driver.apply(EventKind::TokensCounted { effect, tokens });
}

/// An answer without reported token usage.
fn uncounted(mut answer: ModelAnswer) -> ModelAnswer {
    answer.usage.source = UsageSource::Estimated;
    answer
}

/// A turn with a result of this length.
fn long_turn(driver: &mut TestDriver, bytes: usize) {
    driver.answer(uncounted(calling(&[("shop__look_up", r#"{"id": 7}"#)])));
    driver.reply_all(&format!("\"{}\"", "words ".repeat(bytes / 6)));
}

fn actions(driver: &TestDriver) -> Vec<ContextAction> {
    let guard = |record: &'_ SessionRecord| matches!(record, SessionRecord::ContextGuard { .. });
    let records = driver.session_records().into_iter().filter(|record| guard(record));
    records
        .filter_map(|record| if let SessionRecord::ContextGuard { action, .. } = record { Some(action) } else { None })
        .collect()
}

fn results(driver: &TestDriver) -> Vec<String> {
    let tool = |message: &Message| matches!(message, Message::Tool { .. });
    driver.session.history().iter().filter(|message| tool(message)).map(|message| message.text().to_owned()).collect()
}

#[test]
fn a_question_that_fits_is_asked_without_a_count_and_limits_its_answer() {
    let wide = TestDriver::begin(windows(&[("a", 100_000)]));
    assert_eq!(wide.asked().2.max_tokens, 4_096);
    let driver = TestDriver::begin(windows(&[("a", base() * 2)]));
    assert_eq!(driver.due(), ["turn-1/ask/1"]);
    assert_eq!(driver.asked().2.max_tokens, base(), "the rest is for the answer");
    assert_eq!(driver.asked().2.messages, wide.asked().2.messages);
}

#[test]
fn a_question_that_may_be_too_long_is_counted_first() {
    let mut driver = TestDriver::begin(windows(&[("a", narrow())]));
    assert_eq!(driver.due(), ["turn-1/count/1"]);
    count(&mut driver, Some(u64::from(narrow() / 2)));
    assert_eq!(driver.due(), ["turn-1/ask/1"]);
    assert_eq!(driver.asked().2.max_tokens, narrow() - narrow() / 2);
}

#[test]
fn the_token_count_of_a_provider_improves_the_next_estimate() {
    let mut driver = TestDriver::begin(windows(&[("a", narrow())]));
    count(&mut driver, Some(100));
    let mut answer = calling(&[("shop__look_up", "{}")]);
    answer.usage = Usage::reported(110, 5);
    driver.answer(answer);
    driver.reply_all(r#"{"state": "sent"}"#);
    assert_eq!(driver.due(), ["turn-2/ask/1"], "110 tokens and a little more: no count is needed");
    let estimate = driver.session.question_size().expect("the window is known").tokens;
    assert!((111..190).contains(&estimate), "{estimate}");
}

#[test]
fn a_target_with_too_small_a_window_is_skipped_without_an_attempt() {
    let mut driver = TestDriver::begin(windows(&[("small", narrow()), ("large", 100_000)]));
    count(&mut driver, Some(u64::from(base())));
    assert_eq!(driver.asked().1, "large");
    assert_eq!(actions(&driver), [ContextAction::Skipped("small".into())]);
    driver.answer(reporting("done"));
    assert_eq!(driver.attempt_lines(), ["1.1 large final_report"]);
}

#[test]
fn a_target_without_a_tokenizer_is_not_counted_again() {
    let mut driver = TestDriver::begin(windows(&[("a", narrow()), ("b", 100_000)]));
    count(&mut driver, None);
    assert_eq!(driver.asked().1, "b");
    driver.good_turn();
    assert_eq!(driver.asked().1, "b", "without a count the conservative estimate is used");
}

#[test]
fn a_long_result_is_stored_and_can_be_read_and_searched() {
    let mut driver = TestDriver::new();
    assert!(!driver.shown().contains(&READ_TOOL.to_owned()), "no result is stored yet");
    driver.answer(calling(&[("shop__look_up", "{}")]));
    let items = (0..3_000).map(|number| format!(r#"{{"id": {number}}}"#)).collect::<Vec<_>>().join(", ");
    let whole = crate::driver::json(&format!("[{items}]")).to_string();
    driver.reply_all(&whole);
    let shown = results(&driver).remove(0);
    assert!(shown.starts_with(&format!("(stored as `result-1`, {} bytes; read or search it", whole.len())), "{shown}");
    assert!(shown.len() < 3_000);
    assert!(driver.shown().contains(&READ_TOOL.to_owned()));
    driver.answer(calling(&[
        (READ_TOOL, r#"{"result": "result-1", "search": "2718"}"#),
        (READ_TOOL, r#"{"result": "result-1", "from": 100, "bytes": 40}"#),
        (READ_TOOL, r#"{"result": "result-9"}"#),
        ("shop__look_up", "{}"),
    ]));
    assert_eq!(driver.due(), ["turn-2/call-4/call/1"], "reading a stored result needs no effect");
    driver.reply_all("{}");
    let results = results(&driver);
    assert!(results[1].starts_with("1 place:\nat "), "{}", results[1]);
    assert_eq!(
        results[2],
        format!("(bytes 100 to 140 of {}; go on with `from: 140`)\n{}", whole.len(), &whole[100..140])
    );
    assert!(results[3].contains("there is no `result-9`"), "{}", results[3]);
    assert_eq!(driver.session.spent().tool_calls, 2, "reading is not charged");
}

#[test]
fn older_results_are_compacted_before_the_final_turn_is_forced() {
    let mut driver = TestDriver::begin(windows(&[("a", 5_000)]));
    long_turn(&mut driver, 3_000);
    assert_eq!(driver.session.view().turn, 2);
    let mut answer = calling(&[("shop__look_up", "{}")]);
    answer.usage = Usage::reported(3_700, 5);
    driver.answer(answer);
    driver.reply_all(&format!("\"{}\"", "w".repeat(900)));
    count(&mut driver, None);
    assert_eq!(actions(&driver), [ContextAction::Compacted { results: 1 }]);
    let results = results(&driver);
    assert!(results[0].starts_with("(stored as `result-2`, 3000 bytes"), "{}", results[0]);
    assert!(results[1].starts_with("(stored as `result-1`"), "the new result is stored too: {}", results[1]);
    assert_eq!(driver.session.view().forced_final_reason, None);
    driver.answer(reporting("done"));
    assert_eq!(driver.report().exit, SessionExit::FinalAnswer);
}

#[test]
fn a_conversation_that_cannot_be_compacted_forces_the_final_turn() {
    let mut started = windows(&[("a", base() * 2)]);
    started.input = "x".repeat(300);
    let mut driver = TestDriver::begin(started);
    let mut turns = 0;
    while driver.session.view().forced_final_reason.is_none() && turns < 8 {
        while driver.due()[0].contains("/count/") {
            count(&mut driver, None);
        }
        if driver.session.view().forced_final_reason.is_none() {
            long_turn(&mut driver, 500);
            turns += 1;
        }
    }
    assert_eq!(driver.session.view().forced_final_reason, Some(FinalTurnReason::Context));
    while driver.due()[0].contains("/count/") {
        count(&mut driver, None);
    }
    assert_eq!(driver.shown(), ["agent__final_report"]);
    assert!(driver.notices()[0].contains("context window limit"), "{:?}", driver.notices());
    driver.answer(reporting("done"));
    assert_eq!(driver.report().exit, SessionExit::TokenLimit);
}

#[test]
fn a_question_too_long_for_every_target_ends_with_a_synthetic_report() {
    let mut started = windows(&[("a", 500), ("b", 700)]);
    started.input = "x".repeat(20_000);
    let mut driver = TestDriver::begin(started);
    while driver.session.report().is_none() {
        count(&mut driver, None);
    }
    let report = driver.report();
    assert_eq!((report.exit, report.synthetic_reason), (SessionExit::TokenLimit, Some(SyntheticReason::ContextLimit)));
    assert!(driver.attempts().is_empty());
}

#[test]
fn a_rejection_as_too_long_lowers_the_known_window_of_the_target() {
    let mut driver = TestDriver::begin(windows(&[]));
    driver = TestDriver::begin(SessionStarted { targets: vec!["a".into()], ..driver.session.started().clone() });
    long_turn(&mut driver, 9_000);
    driver.fail(ModelFailure::new(reknit_model_api::ErrorClass::ContextLength, "too long"));
    while driver.due()[0].contains("/count/") {
        count(&mut driver, None);
    }
    assert_eq!(actions(&driver), [ContextAction::Compacted { results: 1 }]);
    driver.answer(saying("words"));
    driver.answer(reporting("done"));
    assert_eq!(
        driver.attempt_lines(),
        ["1.1 a tool_calls", "2.1 a context_length", "2.2 a text_only", "2.3 a final_report"]
    );
}
