//! Stopped, cancelled, out of time, taken over by another process.

use reknit_dialogue::{ErrorClass, Failure};
use reknit_engine::{Effect, Exit, ForcedReason, Record, ReportSource, SyntheticReason, WaitEnd, What};

use crate::world::{Play, calling, limited, reporting, saying};

fn waits(play: &Play) -> Vec<WaitEnd> {
    let end = |record: &Record| if let Record::Waited { end, .. } = record { Some(*end) } else { None };
    play.session.records().iter().filter_map(end).collect()
}

#[test]
fn a_stop_leads_to_a_last_turn_with_a_report() {
    let mut play = Play::new();
    play.good_turn();
    play.happen(What::Stopped);
    assert_eq!(play.asked().0, "turn-3/ask/1", "the question that was open is not waited for");
    assert_eq!(play.shown(), ["agent__final_report"]);
    assert!(play.notices()[0].contains("wants you to stop"));
    play.happen(What::Stopped);
    assert_eq!(play.asked().0, "turn-3/ask/1", "twice is as once");
    play.answer(reporting("So far: sent."));
    assert_eq!((play.report().exit, play.report().source), (Exit::UserStop, ReportSource::ToolCall));
    assert_eq!(play.report().forced_final_reason, Some(ForcedReason::UserStop));
}

#[test]
fn a_stop_ends_a_wait_and_there_is_no_other() {
    let mut play = Play::new();
    play.fail(limited(None));
    play.fail(limited(None));
    play.happen(What::Stopped);
    assert_eq!(waits(&play), [WaitEnd::AbortedStop]);
    assert_eq!(play.asked().0, "turn-2/ask/1");
    play.fail(limited(None));
    play.fail(limited(None));
    assert_eq!(
        play.report().synthetic_reason,
        Some(SyntheticReason::UserStop),
        "who wants to stop does not want to wait"
    );
}

#[test]
fn after_a_stop_silence_is_borne_once() {
    let mut play = Play::new();
    play.good_turn();
    play.happen(What::Stopped);
    play.fail(Failure::new(ErrorClass::NetworkError, "broken"));
    assert_eq!(play.asked().0, "turn-3/ask/2", "what fails at once may be tried elsewhere");
    play.fail(Failure::new(ErrorClass::Timeout, "nothing came"));
    assert_eq!(play.report().synthetic_reason, Some(SyntheticReason::UserStop));
}

#[test]
fn a_stop_lets_calls_under_way_drain_and_tells_what_became_of_them() {
    let mut play = Play::new();
    play.answer(calling(&[("shop__order", "{}"), ("shop__look_up", "{}")]));
    play.happen(What::Stopped);
    let aborts = play.session.pending().iter().filter(|effect| matches!(effect, Effect::Abort { .. })).count();
    assert_eq!(aborts, 2);
    play.reply("turn-1/call-1/call/1", 200, r#"{"order": 9}"#);
    play.happen(What::Interrupted { effect: "turn-1/call-2/call/1".parse().unwrap() });
    assert_eq!(play.asked().0, "turn-2/ask/1");
    let told: Vec<String> = play.session.history().iter().skip(3).map(|message| message.text().to_owned()).collect();
    assert_eq!(told[0], r#"{"order":9}"#);
    assert!(told[1].starts_with("(tool failed: "), "{told:?}");
    play.answer(reporting("Ordered."));
    assert_eq!(play.report().exit, Exit::UserStop);
}

#[test]
fn a_cancellation_ends_at_once_with_a_report_that_says_so() {
    let mut play = Play::new();
    play.good_turn();
    play.happen(What::Cancelled);
    let report = play.report();
    assert_eq!((report.exit, report.synthetic_reason), (Exit::SignalReceived, Some(SyntheticReason::Cancelled)));
    assert_eq!(report.spent.model_calls, 2);

    let mut waiting = Play::new();
    waiting.fail(limited(None));
    waiting.fail(limited(None));
    waiting.happen(What::Cancelled);
    assert_eq!(waits(&waiting), [WaitEnd::AbortedCancel]);
    assert!(waiting.session.report().is_some());
}

#[test]
fn a_cancellation_waits_for_calls_that_are_under_way() {
    let mut play = Play::new();
    play.answer(calling(&[("shop__order", "{}")]));
    play.happen(What::Cancelled);
    assert!(play.session.report().is_none(), "what was sent may still be answered");
    play.reply("turn-1/call-1/call/1", 200, r#"{"order": 9}"#);
    assert_eq!(play.report().exit, Exit::SignalReceived);
    assert!(format!("{:?}", play.session.history()).contains("order"), "and its result is kept");
}

#[test]
fn time_that_is_over_ends_it_with_what_there_is() {
    let mut play = Play::new();
    play.deadline();
    assert_eq!(play.report().exit, Exit::TimeLimit);
    let mut play = Play::new();
    play.answer(saying(r#"{"report_format": "markdown", "report_content": "Sent."}"#));
    play.deadline();
    assert_eq!((play.report().source, play.report().content.as_str()), (ReportSource::TextFallback, "Sent."));
}

#[test]
fn another_process_asks_the_same_question_again_and_pays_for_it_again() {
    let mut play = Play::new();
    play.fail_with(ErrorClass::Timeout);
    let asked = play.asked();
    play.happen(What::Resumed);
    assert_eq!(play.asked(), asked);
    assert_eq!(play.session.spent().model_calls, 3);
    play.answer(reporting("x"));
    assert_eq!(play.attempts().len(), 2, "it is the same attempt");
}

#[test]
fn nothing_happens_after_the_end() {
    let mut play = Play::new();
    play.answer(reporting("x"));
    let report = play.report().clone();
    for what in [What::Cancelled, What::Stopped, What::Resumed] {
        play.happen(what);
        assert_eq!(play.report(), &report);
    }
}
