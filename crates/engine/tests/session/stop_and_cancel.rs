//! Stopped, cancelled and resumed sessions, and the time limit.

use reknit_engine::{
    Effect, EventKind, FinalTurnReason, ReportSource, SessionExit, SessionRecord, SyntheticReason, WaitEnd,
};
use reknit_model_api::{ErrorClass, ModelFailure};

use crate::driver::{TestDriver, calling, effect_id, rate_limited, reporting, saying, with_rules};

fn waits(driver: &TestDriver) -> Vec<WaitEnd> {
    let end =
        |record: &SessionRecord| if let SessionRecord::WaitEnded { end, .. } = record { Some(*end) } else { None };
    driver.session_records().iter().filter_map(end).collect()
}

#[test]
fn a_stopped_session_gets_a_final_turn_for_its_report() {
    let mut driver = TestDriver::new();
    driver.good_turn();
    driver.apply(EventKind::Stopped);
    assert_eq!(driver.asked().0, "turn-3/ask/1", "the pending question is abandoned");
    assert_eq!(driver.shown(), ["agent__final_report"]);
    assert!(driver.notices()[0].contains("wants you to stop"));
    driver.apply(EventKind::Stopped);
    assert_eq!(driver.asked().0, "turn-3/ask/1", "a second stop changes nothing");
    driver.answer(reporting("So far: sent."));
    assert_eq!((driver.report().exit, driver.report().source), (SessionExit::UserStop, ReportSource::ToolCall));
    assert_eq!(driver.report().forced_final_reason, Some(FinalTurnReason::UserStop));
}

#[test]
fn a_stopped_session_no_longer_waits_for_rate_limits() {
    let mut driver = TestDriver::new();
    driver.fail(rate_limited(None));
    driver.fail(rate_limited(None));
    driver.apply(EventKind::Stopped);
    assert_eq!(waits(&driver), [WaitEnd::AbortedStop]);
    assert_eq!(driver.asked().0, "turn-2/ask/1");
    driver.fail(rate_limited(None));
    driver.fail(rate_limited(None));
    assert_eq!(driver.report().synthetic_reason, Some(SyntheticReason::UserStop), "a stopped session does not wait");
}

#[test]
fn a_wait_that_is_ended_early_reports_the_time_that_passed() {
    let mut driver = TestDriver::new();
    driver.fail(rate_limited(Some(30_000)));
    driver.fail(rate_limited(Some(30_000)));
    driver.now_ms += 4_000;
    driver.apply(EventKind::Stopped);
    let waited =
        |record: &SessionRecord| if let SessionRecord::WaitEnded { ms, .. } = record { Some(*ms) } else { None };
    assert_eq!(driver.session_records().iter().filter_map(waited).collect::<Vec<_>>(), [4_000]);
    driver.answer(reporting("So far: nothing."));
    assert_eq!(driver.report().totals.backoff_ms, 4_000);
}

#[test]
fn notices_about_answers_of_an_interrupted_turn_do_not_reach_the_final_one() {
    let mut driver = TestDriver::new();
    driver.answer(saying("words"));
    driver.apply(EventKind::Stopped);
    let notices = driver.notices();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains("wants you to stop"), "{notices:?}");
}

#[test]
fn a_stopped_session_ends_after_one_timeout() {
    let mut driver = TestDriver::new();
    driver.good_turn();
    driver.apply(EventKind::Stopped);
    driver.fail(ModelFailure::new(ErrorClass::NetworkError, "broken"));
    assert_eq!(driver.asked().0, "turn-3/ask/2", "a quick failure may be retried on another target");
    driver.fail(ModelFailure::new(ErrorClass::Timeout, "no answer"));
    assert_eq!(driver.report().synthetic_reason, Some(SyntheticReason::UserStop));
}

#[test]
fn a_stopped_session_waits_for_the_outcomes_of_its_calls() {
    let mut driver = TestDriver::new();
    driver.answer(calling(&[("shop__order", "{}"), ("shop__look_up", "{}")]));
    driver.apply(EventKind::Stopped);
    let aborts = driver.session.pending().iter().filter(|effect| matches!(effect, Effect::Abort { .. })).count();
    assert_eq!(aborts, 2);
    driver.reply("turn-1/call-1/call/1", 200, r#"{"order": 9}"#);
    driver.apply(EventKind::Interrupted { effect: "turn-1/call-2/call/1".parse().unwrap() });
    assert_eq!(driver.asked().0, "turn-2/ask/1");
    let shown: Vec<String> = driver.session.history().iter().skip(3).map(|message| message.text().to_owned()).collect();
    assert_eq!(shown[0], r#"{"order":9}"#);
    assert!(shown[1].starts_with("(tool failed: "), "{shown:?}");
    driver.answer(reporting("Ordered."));
    assert_eq!(driver.report().exit, SessionExit::UserStop);
}

#[test]
fn a_cancelled_session_ends_at_once_with_a_synthetic_report() {
    let mut driver = TestDriver::new();
    driver.good_turn();
    driver.apply(EventKind::Cancelled);
    let report = driver.report();
    assert_eq!((report.exit, report.synthetic_reason), (SessionExit::SignalReceived, Some(SyntheticReason::Cancelled)));
    assert_eq!(report.spent.model_calls, 2);

    let mut waiting = TestDriver::new();
    waiting.fail(rate_limited(None));
    waiting.fail(rate_limited(None));
    waiting.apply(EventKind::Cancelled);
    assert_eq!(waits(&waiting), [WaitEnd::AbortedCancel]);
    assert!(waiting.session.report().is_some());
}

#[test]
fn a_cancelled_session_waits_for_calls_in_progress() {
    let mut driver = TestDriver::new();
    driver.answer(calling(&[("shop__order", "{}")]));
    driver.apply(EventKind::Cancelled);
    assert!(driver.session.report().is_none(), "a sent call may still be answered");
    driver.reply("turn-1/call-1/call/1", 200, r#"{"order": 9}"#);
    assert_eq!(driver.report().exit, SessionExit::SignalReceived);
    assert!(format!("{:?}", driver.session.history()).contains("order"), "the history has the result");
}

#[test]
fn the_time_limit_forces_the_final_turn_and_then_ends_the_session() {
    let limited = || TestDriver::begin(with_rules(|rules| rules.max_time_ms = Some(60_000)));
    let mut driver = limited();
    driver.deadline();
    assert_eq!(driver.now_ms, 46_000, "a quarter of the time is reserved for the final turn");
    assert_eq!(driver.session.view().forced_final_reason, Some(FinalTurnReason::TimeLimit));
    assert_eq!(driver.shown(), ["agent__final_report"]);
    assert!(driver.notices()[0].contains("the time limit"), "{:?}", driver.notices());
    driver.deadline();
    assert_eq!((driver.now_ms, driver.report().exit), (61_000, SessionExit::TimeLimit));
    let mut driver = limited();
    driver.answer(saying(r#"{"report_format": "markdown", "report_content": "Sent."}"#));
    driver.deadline();
    driver.deadline();
    assert_eq!((driver.report().source, driver.report().content.as_str()), (ReportSource::TextFallback, "Sent."));
}

#[test]
fn calls_in_progress_at_the_time_limit_leave_time_for_the_final_turn() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.max_time_ms = Some(4_000)));
    driver.answer(calling(&[("shop__look_up", "{}")]));
    driver.deadline();
    assert_eq!(driver.now_ms, 4_000);
    driver.now_ms += 500;
    driver.apply(EventKind::Interrupted { effect: effect_id("turn-1/call-1/call/1") });
    assert_eq!(driver.asked().0, "turn-2/ask/1");
    driver.answer(reporting("It is not known."));
    assert_eq!(driver.report().exit, SessionExit::TimeLimit);
    assert_eq!(driver.report().source, ReportSource::ToolCall);
}

#[test]
fn a_wait_that_would_exceed_the_time_limit_does_not_begin() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.max_time_ms = Some(20_000)));
    driver.fail(rate_limited(Some(30_000)));
    driver.fail(rate_limited(Some(30_000)));
    assert_eq!(driver.session.view().forced_final_reason, Some(FinalTurnReason::TimeLimit));
    assert_eq!(driver.asked().0, "turn-2/ask/1");
    driver.fail(rate_limited(Some(30_000)));
    driver.fail(rate_limited(Some(30_000)));
    assert_eq!(driver.report().exit, SessionExit::TimeLimit);
}

#[test]
fn a_session_without_a_time_limit_has_no_deadline() {
    let driver = TestDriver::new();
    assert!(driver.session.pending().iter().all(|effect| !matches!(effect, Effect::Sleep { .. })));
}

#[test]
fn a_pending_report_is_accepted_when_no_model_can_be_asked() {
    for class in [ErrorClass::AuthError, ErrorClass::QuotaExceeded] {
        let mut driver = TestDriver::new();
        driver.answer(saying(r#"agent__final_report({"report_content": "Sent.", "status": "success"})"#));
        driver.fail_with(class);
        assert_eq!((driver.report().source, driver.report().content.as_str()), (ReportSource::TextFallback, "Sent."));
    }
}

#[test]
fn a_resumed_session_repeats_its_question_and_is_charged_again() {
    let mut driver = TestDriver::new();
    driver.fail_with(ErrorClass::Timeout);
    let asked = driver.asked();
    driver.apply(EventKind::Resumed);
    assert_eq!(driver.asked(), asked);
    assert_eq!(driver.session.spent().model_calls, 3);
    driver.answer(reporting("x"));
    assert_eq!(driver.attempts().len(), 2, "it is the same attempt");
}

#[test]
fn events_after_the_end_do_not_change_the_report() {
    let mut driver = TestDriver::new();
    driver.answer(reporting("x"));
    let report = driver.report().clone();
    for kind in [EventKind::Cancelled, EventKind::Stopped, EventKind::Resumed] {
        driver.apply(kind);
        assert_eq!(driver.report(), &report);
    }
}
