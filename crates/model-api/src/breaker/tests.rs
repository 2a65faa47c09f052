use proptest::prelude::*;

use super::*;
use crate::{ErrorClass, ModelAnswer, ModelFailure, Usage};

fn service_breaker() -> Breaker {
    Breaker::new(BreakerRules::for_service())
}

fn model_breaker() -> Breaker {
    Breaker::new(BreakerRules::for_model_with_fallback())
}

/// Makes a call with this outcome, if the breaker admits it.
fn call(breaker: &mut Breaker, outcome: CallOutcome, now_ms: u64) -> bool {
    match breaker.admit(now_ms) {
        Admission::Allowed(permit) => {
            breaker.record(permit, outcome, now_ms);
            true
        }
        Admission::Rejected { .. } | Admission::ProbeInFlight => false,
    }
}

fn permit(breaker: &mut Breaker, now_ms: u64) -> CallPermit {
    match breaker.admit(now_ms) {
        Admission::Allowed(permit) => permit,
        other => panic!("{other:?}"),
    }
}

/// A service whose breaker is open until 30 000.
fn open_breaker() -> Breaker {
    let mut breaker = service_breaker();
    for _ in 0..10 {
        assert!(call(&mut breaker, CallOutcome::Failed, 0));
    }
    assert_eq!(breaker.admit(0), Admission::Rejected { until_ms: 30_000 });
    breaker
}

#[test]
fn the_status_says_what_the_breaker_does_without_changing_it() {
    let mut breaker = service_breaker();
    assert!(call(&mut breaker, CallOutcome::Failed, 0));
    assert_eq!(breaker.status(0), BreakerStatus::Closed { failures: 1 });
    assert!(call(&mut breaker, CallOutcome::RateLimited { retry_after_ms: Some(5_000) }, 0));
    assert_eq!(breaker.status(4_999), BreakerStatus::CoolingDown { until_ms: 5_000 });
    assert_eq!(breaker.status(5_000), BreakerStatus::Closed { failures: 0 });
    let mut breaker = open_breaker();
    assert_eq!(breaker.status(29_999), BreakerStatus::Open { until_ms: 30_000 });
    assert_eq!(breaker.status(30_000), BreakerStatus::HalfOpen);
    let probe = permit(&mut breaker, 30_000);
    assert_eq!(breaker.status(30_000), BreakerStatus::HalfOpen);
    breaker.record(probe, CallOutcome::Answered, 30_001);
    assert_eq!(breaker.status(30_001), BreakerStatus::Closed { failures: 0 });
}

#[test]
fn the_breaker_opens_when_half_of_at_least_ten_recent_calls_fail() {
    for (case, failed, answered, opens) in [
        ("nine are too few", 9, 0, false),
        ("ten are enough", 10, 0, true),
        ("half is enough", 5, 5, true),
        ("less than half is not", 9, 10, false),
    ] {
        let mut breaker = service_breaker();
        for _ in 0..answered {
            assert!(call(&mut breaker, CallOutcome::Answered, 0), "case: {case}");
        }
        for _ in 0..failed {
            assert!(call(&mut breaker, CallOutcome::Failed, 0), "case: {case}");
        }
        assert_eq!(breaker.open_until_ms(0).is_some(), opens, "case: {case}");
    }
}

#[test]
fn failures_of_more_than_a_minute_ago_do_not_count() {
    for (later_ms, opens) in [(59_000, true), (61_001, false)] {
        let mut breaker = service_breaker();
        for _ in 0..9 {
            call(&mut breaker, CallOutcome::Failed, 0);
        }
        call(&mut breaker, CallOutcome::Failed, later_ms);
        assert_eq!(breaker.open_until_ms(later_ms).is_some(), opens, "after {later_ms} ms");
    }
}

#[test]
fn a_refused_call_is_an_answer_and_never_opens_the_breaker() {
    let mut breaker = model_breaker();
    for status in [400, 401, 403, 404, 405, 408, 409, 413, 422, 499] {
        for class in ErrorClass::ALL.iter().copied().filter(|class| *class != ErrorClass::RateLimit) {
            let failure = ModelFailure::new(class, "no").with_status(status);
            assert_eq!(CallOutcome::from_model_result::<()>(&Err(failure)), CallOutcome::Answered, "{status} {class}");
        }
        assert_eq!(CallOutcome::from_status(status, None), CallOutcome::Answered, "{status}");
        assert!(call(&mut breaker, CallOutcome::from_status(status, None), 0), "{status}");
    }
    assert_eq!(breaker.open_until_ms(0), None);
}

#[test]
fn network_errors_timeouts_and_invalid_responses_count_as_failed() {
    for failure in [
        ModelFailure::new(ErrorClass::NetworkError, "reset"),
        ModelFailure::new(ErrorClass::NetworkError, "bad gateway").with_status(502),
        ModelFailure::new(ErrorClass::Timeout, "silent"),
        ModelFailure::new(ErrorClass::InvalidResponse, "cut"),
    ] {
        assert_eq!(CallOutcome::from_model_result::<()>(&Err(failure.clone())), CallOutcome::Failed, "{failure}");
    }
    let answer = ModelAnswer::complete("yes", "m", Usage::reported(1, 1));
    assert_eq!(CallOutcome::from_model_result(&Ok(answer)), CallOutcome::Answered);
    assert_eq!(CallOutcome::from_status(503, Some(5)), CallOutcome::Failed);
    assert_eq!(CallOutcome::from_status(429, Some(5)), CallOutcome::RateLimited { retry_after_ms: Some(5) });
}

#[test]
fn a_half_open_breaker_admits_one_probe_and_the_other_calls_wait_for_it() {
    let mut breaker = open_breaker();
    assert_eq!(breaker.admit(29_999), Admission::Rejected { until_ms: 30_000 });
    let probe = permit(&mut breaker, 30_000);
    assert_eq!(breaker.admit(30_000), Admission::ProbeInFlight);
    breaker.record(probe, CallOutcome::Answered, 30_100);
    assert!(call(&mut breaker, CallOutcome::Failed, 30_100), "one failure does not open a closed breaker");
    assert!(call(&mut breaker, CallOutcome::Answered, 30_100));
}

#[test]
fn a_failed_probe_opens_the_breaker_again() {
    let mut breaker = open_breaker();
    assert!(call(&mut breaker, CallOutcome::Failed, 30_000));
    assert_eq!(breaker.admit(59_999), Admission::Rejected { until_ms: 60_000 });
    assert!(call(&mut breaker, CallOutcome::Answered, 60_000));
    assert_eq!(breaker.open_until_ms(60_000), None);
}

#[test]
fn a_cancelled_probe_lets_the_next_call_probe_at_once() {
    let mut breaker = open_breaker();
    let probe = permit(&mut breaker, 30_000);
    breaker.record(probe, CallOutcome::Cancelled, 30_500);
    assert!(call(&mut breaker, CallOutcome::Answered, 30_500));
}

#[test]
fn a_rate_limited_probe_closes_the_breaker_and_starts_a_cool_down() {
    let mut breaker = open_breaker();
    assert!(call(&mut breaker, CallOutcome::RateLimited { retry_after_ms: Some(700) }, 30_000));
    assert_eq!(breaker.open_until_ms(30_000), Some(30_700), "a cool-down, not an open period");
    assert!(call(&mut breaker, CallOutcome::Answered, 30_700));
}

#[test]
fn calls_that_began_before_the_breaker_opened_do_not_count_after_it_closed() {
    let mut breaker = model_breaker();
    let late: Vec<CallPermit> = (0..20).map(|_| permit(&mut breaker, 0)).collect();
    call(&mut breaker, CallOutcome::Failed, 10);
    call(&mut breaker, CallOutcome::Failed, 10);
    assert!(call(&mut breaker, CallOutcome::Answered, 5_010));
    for permit in late {
        breaker.record(permit, CallOutcome::Failed, 5_020);
    }
    assert_eq!(breaker.open_until_ms(5_020), None);
}

#[test]
fn two_failures_in_a_row_open_a_models_breaker_and_each_failed_probe_keeps_it_open_longer() {
    let mut breaker = model_breaker();
    assert!(call(&mut breaker, CallOutcome::Failed, 0));
    assert!(call(&mut breaker, CallOutcome::Answered, 0));
    assert!(call(&mut breaker, CallOutcome::Failed, 0));
    assert_eq!(breaker.open_until_ms(0), None, "an answer came between the failures");
    assert!(call(&mut breaker, CallOutcome::Failed, 0));
    let mut now_ms = 0;
    for open_ms in [5_000, 10_000, 20_000, 30_000, 30_000] {
        assert_eq!(breaker.admit(now_ms), Admission::Rejected { until_ms: now_ms + open_ms });
        now_ms += open_ms;
        assert!(call(&mut breaker, CallOutcome::Failed, now_ms));
    }
}

#[test]
fn a_rate_limit_starts_a_cool_down_of_the_requested_length_within_bounds() {
    for (retry_after_ms, until_ms) in [(Some(2_500), 2_500), (Some(900_000), 60_000), (None, 1_000)] {
        let mut breaker = model_breaker();
        assert!(call(&mut breaker, CallOutcome::RateLimited { retry_after_ms }, 0));
        assert_eq!(breaker.admit(0), Admission::Rejected { until_ms }, "{retry_after_ms:?}");
        assert!(call(&mut breaker, CallOutcome::Answered, until_ms), "{retry_after_ms:?}");
    }
}

#[test]
fn without_a_retry_after_each_cool_down_is_a_second_longer_until_an_answer() {
    let mut breaker = model_breaker();
    let mut now_ms = 0;
    for wait_ms in [1_000, 2_000, 3_000] {
        assert!(call(&mut breaker, CallOutcome::RateLimited { retry_after_ms: None }, now_ms));
        assert_eq!(breaker.open_until_ms(now_ms), Some(now_ms + wait_ms));
        now_ms += wait_ms;
    }
    assert!(call(&mut breaker, CallOutcome::Answered, now_ms));
    assert!(call(&mut breaker, CallOutcome::RateLimited { retry_after_ms: None }, now_ms));
    assert_eq!(breaker.open_until_ms(now_ms), Some(now_ms + 1_000));
}

#[test]
fn a_service_without_a_retry_after_has_no_cool_down() {
    let mut breaker = service_breaker();
    assert!(call(&mut breaker, CallOutcome::RateLimited { retry_after_ms: None }, 0));
    assert!(call(&mut breaker, CallOutcome::Answered, 0));
}

fn any_outcome() -> impl Strategy<Value = CallOutcome> {
    prop_oneof![
        Just(CallOutcome::Answered),
        Just(CallOutcome::Failed),
        Just(CallOutcome::Cancelled),
        prop::option::of(0..100_000_u64).prop_map(|retry_after_ms| CallOutcome::RateLimited { retry_after_ms }),
    ]
}

proptest! {
    #[test]
    fn any_breaker_admits_calls_again_within_a_minute_and_survives_serialization(
        rules in prop::sample::select(vec![BreakerRules::for_service(), BreakerRules::for_model_with_fallback(), BreakerRules::for_model()]),
        steps in prop::collection::vec((0..20_000_u64, any_outcome(), prop::bool::ANY), 60),
    ) {
        let mut breaker = Breaker::new(rules);
        let mut now_ms = 0;
        let mut in_flight = Vec::new();
        for (passed_ms, outcome, at_once) in steps {
            now_ms += passed_ms;
            breaker = serde_json::from_str(&serde_json::to_string(&breaker).unwrap()).unwrap();
            let is_closed_to_calls =
                matches!(breaker.status(now_ms), BreakerStatus::Open { .. } | BreakerStatus::CoolingDown { .. });
            prop_assert_eq!(is_closed_to_calls, breaker.open_until_ms(now_ms).is_some());
            match breaker.admit(now_ms) {
                Admission::Allowed(permit) if at_once => breaker.record(permit, outcome, now_ms),
                Admission::Allowed(permit) => in_flight.push((permit, outcome)),
                Admission::Rejected { until_ms } => {
                    prop_assert!(until_ms > now_ms && until_ms <= now_ms + 60_000);
                    prop_assert_eq!(breaker.open_until_ms(until_ms), None);
                }
                // There is always a probe in flight to wait for.
                Admission::ProbeInFlight => {
                    prop_assert!(in_flight.iter().any(|(permit, _)| permit.kind == PermitKind::Probe));
                    for (permit, outcome) in in_flight.drain(..) {
                        breaker.record(permit, outcome, now_ms);
                    }
                }
            }
            prop_assert!(in_flight.iter().filter(|(permit, _)| permit.kind == PermitKind::Probe).count() <= 1);
        }
    }

    #[test]
    fn answers_alone_never_open_the_breaker(times in prop::collection::vec(0..5_000_u64, 100)) {
        let mut breaker = model_breaker();
        let mut now_ms = 0;
        for passed_ms in times {
            now_ms += passed_ms;
            prop_assert!(call(&mut breaker, CallOutcome::Answered, now_ms));
        }
    }
}
