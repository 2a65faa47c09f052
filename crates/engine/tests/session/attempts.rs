//! Attempts: who is asked, how often, after which wait.

use reknit_dialogue::{ErrorClass, OnAuthError};
use reknit_engine::{
    Action, AttemptStatus, Exit, ForcedReason, Policy, Record, ReportSource, SyntheticReason, WaitEnd,
};
use std::sync::Arc;

use crate::world::{Play, calling, limited, reporting, saying, started, with_rules};

#[test]
fn a_turn_never_has_more_attempts_than_allowed_and_the_next_one_is_the_last() {
    let mut play = Play::new();
    for _ in 0..3 {
        play.fail_with(ErrorClass::NetworkError);
    }
    assert_eq!(play.session.view().turn, 2);
    assert_eq!(play.session.view().forced_final_reason, Some(ForcedReason::RetryExhaustion));
    assert_eq!(play.shown(), ["agent__final_report"]);
    for _ in 0..3 {
        play.fail_with(ErrorClass::NetworkError);
    }
    assert_eq!(play.report().exit, Exit::MaxRetries);
    assert_eq!(play.attempts().len(), 6);
}

#[test]
fn targets_are_asked_in_turn_and_each_turn_begins_with_the_first() {
    let mut play = Play::new();
    play.fail_with(ErrorClass::Timeout);
    play.fail_with(ErrorClass::ModelError);
    play.good_turn();
    play.answer(saying("words"));
    play.answer(reporting("done"));
    assert_eq!(
        play.ledger(),
        ["1.1 a timeout", "1.2 b model_error", "1.3 a tool_calls", "2.1 a text_only", "2.2 b final_report"]
    );
}

#[test]
fn there_is_a_wait_only_when_every_target_is_at_its_limit() {
    let mut play = Play::new();
    play.fail(limited(None));
    assert_eq!(play.asked().1, "b", "one path is left");
    play.fail_with(ErrorClass::NetworkError);
    assert_eq!(play.asked().1, "a", "the other one had another fault");
    play.fail(limited(None));
    assert_eq!(play.session.view().turn, 2, "the attempts are spent: no wait without an attempt behind it");
}

#[test]
fn the_wait_is_the_longest_that_anybody_asked_for_and_kept_between_one_and_sixty_seconds() {
    for (first, second, waited) in [
        (Some(7_000), Some(2_000), 7_000),
        (None, None, 2_000),
        (Some(1), Some(2), 1_000),
        (Some(300_000), Some(2_000), 60_000),
    ] {
        let mut play = Play::new();
        play.fail(limited(first));
        play.fail(limited(second));
        assert_eq!(play.due(), ["turn-1/ask-wait/2"]);
        assert_eq!(play.wake(), waited);
        assert_eq!(play.asked().0, "turn-1/ask/3");
        let waits: Vec<&Record> =
            play.session.records().iter().filter(|record| matches!(record, Record::Waited { .. })).collect();
        let ms = u64::try_from(waited).expect("it is not negative");
        assert_eq!(waits, [&Record::Waited { turn: 1, ms, end: WaitEnd::Completed }]);
    }
}

#[test]
fn rotations_at_their_limit_wait_again_and_again_and_start_to_count_afresh() {
    let mut play = Play::begin(with_rules(|rules| rules.max_retries = 6));
    let mut waits = Vec::new();
    for round in 0..2 {
        play.fail(limited(None));
        assert_eq!(play.due(), [format!("turn-1/ask/{}", round * 2 + 2)], "half a rotation does not wait");
        play.fail(limited(Some(if round == 0 { 9_000 } else { 0 })));
        waits.push(play.wake());
    }
    assert_eq!(waits, [9_000, 3_000], "what was asked for in the first rotation is not asked for in the second");
    play.good_turn();
    play.fail(limited(None));
    assert_eq!(play.due(), ["turn-2/ask/2"], "a success clears the count");
}

#[test]
fn a_target_that_answers_badly_is_not_counted_as_limited() {
    let mut play = Play::begin(with_rules(|rules| rules.max_retries = 4));
    play.fail(limited(None));
    play.answer(saying("words"));
    play.fail(limited(None));
    assert_eq!(play.due(), ["turn-1/ask/4"]);
}

#[test]
fn a_refused_key_and_an_empty_account_end_the_session_with_a_report_and_no_further_question() {
    for (class, exit, reason) in [
        (ErrorClass::AuthError, Exit::AuthFailure, SyntheticReason::AuthError),
        (ErrorClass::QuotaExceeded, Exit::QuotaExceeded, SyntheticReason::QuotaExceeded),
    ] {
        let mut play = Play::new();
        play.good_turn();
        play.fail_with(class);
        let report = play.report();
        assert_eq!((report.exit, report.synthetic_reason), (exit, Some(reason)));
        assert_eq!(report.source, ReportSource::Synthetic);
        assert_eq!(report.metadata.get("turns_completed").map(ToString::to_string), Some("1".to_owned()));
        assert_eq!(play.attempts().len(), 2);
        let directive = play.attempts()[1].directive.clone().expect("a failure has one");
        assert_eq!(directive.action, Action::Abort);
    }
}

#[test]
fn a_refused_key_is_skipped_if_that_is_the_rule_and_another_target_is_left() {
    let mut policy = Policy::default();
    policy.rotation.on_auth_error = OnAuthError::Skip;
    let mut play = Play::begin(reknit_engine::SessionStarted { policy: Arc::new(policy), ..started() });
    play.fail_with(ErrorClass::AuthError);
    assert_eq!(play.asked().1, "b");
    assert_eq!(play.attempts()[0].directive.clone().expect("a failure has one").action, Action::SkipProvider);
    play.good_turn();
    assert_eq!(play.asked().1, "b", "it stays out");
}

#[test]
fn every_error_has_its_row() {
    for (class, next, action) in [
        (ErrorClass::RateLimit, "b", Action::Retry),
        (ErrorClass::ModelError, "b", Action::Retry),
        (ErrorClass::NetworkError, "b", Action::Retry),
        (ErrorClass::Timeout, "b", Action::Retry),
        (ErrorClass::InvalidResponse, "b", Action::Retry),
        (ErrorClass::ContextLength, "b", Action::SkipProvider),
        (ErrorClass::ContentFilter, "b", Action::SkipProvider),
    ] {
        let mut play = Play::new();
        play.fail_with(class);
        let attempt = play.attempts()[0].clone();
        assert_eq!(play.asked().1, next, "{class}");
        assert_eq!(attempt.status, AttemptStatus::Failed(class));
        let directive = attempt.directive.expect("a failure has one");
        assert_eq!((directive.action, directive.backoff_ms), (action, None), "{class}");
        assert!(play.notices().is_empty(), "a provider's fault is none of the model's business: {class}");
    }
}

#[test]
fn an_attempt_that_failed_does_not_hurt_the_next_one() {
    let mut play = Play::new();
    play.answer(calling(&[("agent__final_report", r#"{"report_content": ""}"#)]));
    play.answer(calling(&[("shop__look_up", "{}")]));
    play.reply_all("{}");
    assert_eq!(play.session.view().turn, 2, "the calls count, whatever the attempt before was");
}

#[test]
fn a_failed_attempt_leaves_no_trace_in_the_history() {
    let mut play = Play::new();
    play.good_turn();
    let before = serde_json::to_string(play.session.history()).expect("it can be written");
    play.answer(saying("words"));
    play.fail_with(ErrorClass::NetworkError);
    assert_eq!(serde_json::to_string(play.session.history()).expect("it can be written"), before);
    assert!(!before.contains("System notice"));
}

#[test]
fn without_a_model_there_is_a_report_that_says_so() {
    let play = Play::begin(reknit_engine::SessionStarted { targets: Vec::new(), ..started() });
    assert_eq!(play.report().exit, Exit::NoProviders);
    assert_eq!(play.report().turn, 1);
}

#[test]
fn the_budget_of_questions_keeps_one_for_the_report() {
    let mut policy = Policy::default();
    policy.limits.model_calls = 3;
    let mut play = Play::begin(reknit_engine::SessionStarted { policy: Arc::new(policy), ..started() });
    play.good_turn();
    play.good_turn();
    assert_eq!(play.session.view().forced_final_reason, Some(ForcedReason::Budget));
    assert_eq!(play.shown(), ["agent__final_report"]);
    let mut other = play.clone();
    play.answer(reporting("all there is"));
    assert_eq!((play.report().exit, play.report().spent.model_calls), (Exit::FinalAnswer, 3));
    other.answer(saying("hm"));
    assert_eq!(other.report().exit, Exit::FinalAnswer, "words in the last turn are better than nothing");
    assert_eq!(other.report().source, ReportSource::TextFallback);
}

#[test]
fn a_model_that_rests_is_passed_over_and_that_is_no_attempt() {
    let mut play = Play::new();
    let (id, ..) = play.asked();
    play.happen(reknit_engine::What::GateClosed { effect: id.as_str().parse().unwrap(), until_ms: 9_000 });
    assert_eq!((play.asked().0.as_str(), play.asked().1.as_str()), ("turn-1/ask/2", "b"));
    assert_eq!((play.session.spent().model_calls, play.attempts().len()), (1, 0));
    let (id, ..) = play.asked();
    play.happen(reknit_engine::What::GateClosed { effect: id.as_str().parse().unwrap(), until_ms: 5_000 });
    assert_eq!(play.wake(), 8_000, "all rest: there is a wait until all can be asked");
    play.good_turn();
    assert_eq!(play.ledger(), ["1.1 a tool_calls"]);
}
