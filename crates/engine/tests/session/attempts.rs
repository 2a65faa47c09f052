//! Attempts: targets, limits and waits.

use reknit_engine::{
    Action, AttemptStatus, FinalTurnReason, ModelWaitReason, Policy, ReportSource, SessionExit, SessionRecord,
    SyntheticReason, WaitEnd, WaitSource,
};
use reknit_model_api::{ErrorClass, FinishReason, ModelAnswer, ModelFailure, OnAuthError};
use std::sync::Arc;

use crate::driver::{TestDriver, calling, rate_limited, reporting, saying, started, with_rules};

#[test]
fn a_turn_that_uses_up_its_attempts_forces_the_final_turn() {
    let mut driver = TestDriver::new();
    for _ in 0..3 {
        driver.fail_with(ErrorClass::NetworkError);
    }
    assert_eq!(driver.session.view().turn, 2);
    assert_eq!(driver.session.view().forced_final_reason, Some(FinalTurnReason::RetryExhaustion));
    assert_eq!(driver.shown(), ["agent__final_report"]);
    for _ in 0..3 {
        driver.fail_with(ErrorClass::NetworkError);
    }
    assert_eq!(driver.report().exit, SessionExit::MaxRetries);
    assert_eq!(driver.attempts().len(), 6);
}

#[test]
fn a_truncated_answer_raises_the_limit_for_its_retry_only() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.max_output_tokens = 100));
    let truncated = || ModelAnswer { finish: FinishReason::Length, ..saying("Well,") };
    driver.answer(truncated());
    assert_eq!(driver.asked().2.max_tokens, 200);
    driver.answer(truncated());
    assert_eq!(driver.asked().2.max_tokens, 200, "a second truncated answer must become shorter");
    driver.good_turn();
    assert_eq!(driver.asked().2.max_tokens, 100);
    driver.answer(truncated());
    driver.answer(saying("words"));
    assert_eq!(driver.asked().2.max_tokens, 100, "only a truncated answer needs a larger limit");
}

#[test]
fn a_refused_output_limit_is_learned_for_its_target() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.max_output_tokens = 200));
    let message = "max_tokens: 200 > 150, which is the maximum allowed number of output tokens";
    driver.fail(ModelFailure::new(ErrorClass::ModelError, message).with_status(400));
    assert_eq!(driver.asked().2.max_tokens, 200, "the other target may accept it");
    driver.fail_with(ErrorClass::Timeout);
    assert_eq!((driver.asked().1.as_str(), driver.asked().2.max_tokens), ("b", 200), "`a` is excluded in this turn");
    driver.good_turn();
    assert_eq!((driver.asked().1.as_str(), driver.asked().2.max_tokens), ("a", 150));
}

#[test]
fn notices_about_failed_answers_do_not_reach_the_next_turn() {
    let mut driver = TestDriver::new();
    for _ in 0..3 {
        driver.answer(saying("words"));
    }
    let notices = driver.notices();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].contains("the last turn brought no usable answer"), "{notices:?}");
}

#[test]
fn the_time_limit_of_an_attempt_may_be_shorter_or_longer_than_the_default() {
    for ms in [30_000, 3_600_000] {
        let driver = TestDriver::begin(with_rules(|rules| rules.llm_timeout_ms = ms));
        assert_eq!(driver.asked().2.timeout_ms, Some(ms));
    }
}

#[test]
fn every_turn_starts_with_the_first_target_and_rotates_after_a_failure() {
    let mut driver = TestDriver::new();
    driver.fail_with(ErrorClass::Timeout);
    driver.fail_with(ErrorClass::ModelError);
    driver.good_turn();
    driver.answer(saying("words"));
    driver.answer(reporting("done"));
    assert_eq!(
        driver.attempt_lines(),
        ["1.1 a timeout", "1.2 b model_error", "1.3 a tool_calls", "2.1 a text_only", "2.2 b final_report"]
    );

    let mut driver = TestDriver::new();
    driver.fail_with(ErrorClass::Timeout);
    driver.good_turn();
    driver.answer(reporting("done"));
    assert_eq!(driver.attempt_lines(), ["1.1 a timeout", "1.2 b tool_calls", "2.1 a final_report"]);
}

#[test]
fn a_model_that_does_not_exist_is_not_asked_again_in_later_turns() {
    let mut driver = TestDriver::new();
    driver.fail(ModelFailure::new(ErrorClass::ModelError, "The model does not exist").with_status(404));
    driver.good_turn();
    driver.answer(saying("words"));
    driver.answer(reporting("done"));
    assert_eq!(
        driver.attempt_lines(),
        ["1.1 a model_error", "1.2 b tool_calls", "2.1 b text_only", "2.2 b final_report"]
    );
}

#[test]
fn the_session_waits_only_when_every_target_is_rate_limited() {
    let mut driver = TestDriver::new();
    driver.fail(rate_limited(None));
    assert_eq!(driver.asked().1, "b", "one target is left");
    driver.fail_with(ErrorClass::NetworkError);
    assert_eq!(driver.asked().1, "a", "the other target failed for another reason");
    driver.fail(rate_limited(None));
    assert_eq!(driver.session.view().turn, 2, "the attempts are used up: a wait would be useless");
}

#[test]
fn the_wait_is_the_longest_requested_one_clamped_to_one_to_sixty_seconds() {
    for (first, second, waited) in [
        (Some(7_000), Some(2_000), 7_000),
        (None, None, 2_000),
        (Some(1), Some(2), 1_000),
        (Some(300_000), Some(2_000), 60_000),
    ] {
        let mut driver = TestDriver::new();
        driver.fail(rate_limited(first));
        driver.fail(rate_limited(second));
        assert_eq!(driver.due(), ["turn-1/ask-wait/2"]);
        assert_eq!(driver.finish_wait(), waited);
        assert_eq!(driver.asked().0, "turn-1/ask/3");
        let waits: Vec<SessionRecord> = driver
            .session_records()
            .into_iter()
            .filter(|record| matches!(record, SessionRecord::WaitEnded { .. }))
            .collect();
        let ms = u64::try_from(waited).expect("it is not negative");
        let reason = ModelWaitReason::RateLimit;
        let source = Some(match first.max(second) {
            Some(_) => WaitSource::Header("retry-after".to_owned()),
            None => WaitSource::Backoff,
        });
        let ended = WaitEnd::Completed;
        let end = SessionRecord::WaitEnded { turn: 1, ms, end: ended, reason: Some(reason), source: source.clone() };
        assert_eq!(waits, [end]);
        let started = SessionRecord::WaitStarted { turn: 1, ms, reason, source };
        assert!(driver.session_records().contains(&started));
    }
}

#[test]
fn every_fully_rate_limited_rotation_waits_and_resets_the_requested_waits() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.max_retries = 6));
    let mut waits = Vec::new();
    for round in 0..2 {
        driver.fail(rate_limited(None));
        assert_eq!(driver.due(), [format!("turn-1/ask/{}", round * 2 + 2)], "half a rotation does not wait");
        driver.fail(rate_limited(Some(if round == 0 { 9_000 } else { 0 })));
        waits.push(driver.finish_wait());
    }
    assert_eq!(waits, [9_000, 3_000], "waits requested in the first rotation do not affect the second");
    driver.good_turn();
    driver.fail(rate_limited(None));
    assert_eq!(driver.due(), ["turn-2/ask/2"], "a success resets the rotation");
}

#[test]
fn a_target_with_an_unusable_answer_does_not_count_as_rate_limited() {
    let mut driver = TestDriver::begin(with_rules(|rules| rules.max_retries = 4));
    driver.fail(rate_limited(None));
    driver.answer(saying("words"));
    driver.fail(rate_limited(None));
    assert_eq!(driver.due(), ["turn-1/ask/4"]);
}

#[test]
fn a_rejected_key_or_used_up_quota_ends_the_session_without_another_question() {
    for (class, exit, reason) in [
        (ErrorClass::AuthError, SessionExit::AuthFailure, SyntheticReason::AuthError),
        (ErrorClass::QuotaExceeded, SessionExit::QuotaExceeded, SyntheticReason::QuotaExceeded),
    ] {
        let mut driver = TestDriver::new();
        driver.good_turn();
        driver.fail_with(class);
        let report = driver.report();
        assert_eq!((report.exit, report.synthetic_reason), (exit, Some(reason)));
        assert_eq!(report.source, ReportSource::Synthetic);
        assert_eq!(report.metadata.get("turns_completed").map(ToString::to_string), Some("1".to_owned()));
        assert_eq!(driver.attempts().len(), 2);
        let directive = driver.attempts()[1].directive.clone().expect("a failed attempt has a directive");
        assert_eq!(directive.action, Action::Abort);
    }
}

#[test]
fn the_skip_policy_passes_over_a_target_with_a_rejected_key() {
    let mut policy = Policy::default();
    policy.rotation.on_auth_error = OnAuthError::Skip;
    let mut driver = TestDriver::begin(reknit_engine::SessionStarted { policy: Arc::new(policy), ..started() });
    driver.fail_with(ErrorClass::AuthError);
    assert_eq!(driver.asked().1, "b");
    assert_eq!(
        driver.attempts()[0].directive.clone().expect("a failed attempt has a directive").action,
        Action::SkipProvider
    );
    driver.good_turn();
    assert_eq!(driver.asked().1, "b", "the target stays excluded");
}

#[test]
fn every_error_class_has_its_next_target_and_action() {
    for (class, next, action) in [
        (ErrorClass::RateLimit, "b", Action::Retry),
        (ErrorClass::ModelError, "b", Action::Retry),
        (ErrorClass::NetworkError, "b", Action::Retry),
        (ErrorClass::Timeout, "b", Action::Retry),
        (ErrorClass::InvalidResponse, "b", Action::Retry),
        (ErrorClass::ContextLength, "b", Action::SkipProvider),
        (ErrorClass::ContentFilter, "b", Action::SkipProvider),
    ] {
        let mut driver = TestDriver::new();
        driver.fail_with(class);
        let attempt = driver.attempts()[0].clone();
        assert_eq!(driver.asked().1, next, "{class}");
        assert_eq!(attempt.status, AttemptStatus::Failed(class));
        let directive = attempt.directive.expect("a failed attempt has a directive");
        assert_eq!((directive.action, directive.backoff_ms), (action, None), "{class}");
        assert!(driver.notices().is_empty(), "a provider's fault produces no notice: {class}");
    }
}

#[test]
fn a_failed_attempt_does_not_affect_the_next_one() {
    let mut driver = TestDriver::new();
    driver.answer(calling(&[("agent__final_report", r#"{"report_content": ""}"#)]));
    driver.answer(calling(&[("shop__look_up", "{}")]));
    driver.reply_all("{}");
    assert_eq!(driver.session.view().turn, 2, "the turn ends with the calls");
}

#[test]
fn a_failed_attempt_leaves_the_history_unchanged() {
    let mut driver = TestDriver::new();
    driver.good_turn();
    let before = serde_json::to_string(driver.session.history()).expect("serializable");
    driver.answer(saying("words"));
    driver.fail_with(ErrorClass::NetworkError);
    assert_eq!(serde_json::to_string(driver.session.history()).expect("serializable"), before);
    assert!(!before.contains("System notice"));
}

#[test]
fn a_session_without_models_ends_with_a_synthetic_report() {
    let driver = TestDriver::begin(reknit_engine::SessionStarted { targets: Vec::new(), ..started() });
    assert_eq!(driver.report().exit, SessionExit::NoProviders);
    assert_eq!(driver.report().turn, 1);
}

#[test]
fn the_last_model_call_is_reserved_for_the_report() {
    let mut policy = Policy::default();
    policy.limits.model_calls = 3;
    let mut driver = TestDriver::begin(reknit_engine::SessionStarted { policy: Arc::new(policy), ..started() });
    driver.good_turn();
    driver.good_turn();
    assert_eq!(driver.session.view().forced_final_reason, Some(FinalTurnReason::Budget));
    assert_eq!(driver.shown(), ["agent__final_report"]);
    let mut other = driver.clone();
    driver.answer(reporting("all there is"));
    assert_eq!((driver.report().exit, driver.report().spent.model_calls), (SessionExit::FinalAnswer, 3));
    other.answer(saying("hm"));
    assert_eq!(other.report().exit, SessionExit::FinalAnswer, "text in the final turn is a fallback report");
    assert_eq!(other.report().source, ReportSource::TextFallback);
}

#[test]
fn a_target_with_an_open_breaker_is_skipped_without_an_attempt() {
    let mut driver = TestDriver::new();
    let (id, ..) = driver.asked();
    driver.apply(reknit_engine::EventKind::BreakerOpen {
        effect: id.as_str().parse().unwrap(),
        until_ms: 9_000,
        by: reknit_model_api::BlockedBy::OpenBreaker,
    });
    assert_eq!((driver.asked().0.as_str(), driver.asked().1.as_str()), ("turn-1/ask/2", "b"));
    assert_eq!((driver.session.spent().model_calls, driver.attempts().len()), (1, 0));
    let (id, ..) = driver.asked();
    driver.apply(reknit_engine::EventKind::BreakerOpen {
        effect: id.as_str().parse().unwrap(),
        until_ms: 5_000,
        by: reknit_model_api::BlockedBy::OpenBreaker,
    });
    assert_eq!(driver.finish_wait(), 8_000, "the session waits until every breaker is closed");
    driver.good_turn();
    assert_eq!(driver.attempt_lines(), ["1.1 a tool_calls"]);
}

#[test]
fn a_stated_context_window_shortens_the_answer_that_is_asked_for() {
    let mut begun = started();
    begun.targets.truncate(1);
    let mut driver = TestDriver::begin(begun);
    let message = "This model's maximum context length is 4096 tokens. However, you requested 4402 tokens (306 in the \
                   messages, 4096 in the completion).";
    driver.fail(ModelFailure::new(ErrorClass::ContextLength, message).with_status(400));
    let (_, target, request) = driver.asked();
    assert_eq!(target, "a");
    assert!((1_024..4_096).contains(&request.max_tokens), "{}", request.max_tokens);
    assert_eq!(driver.session.view().forced_final_reason, None);
}
