use proptest::prelude::*;

use super::*;
use crate::{Answer, ErrorClass, Failure, Usage};

fn service() -> Gate {
    Gate::new(GateRules::service())
}

fn model() -> Gate {
    Gate::new(GateRules::model())
}

/// Makes a call that goes so, if it may be made.
fn call(gate: &mut Gate, outcome: CallOutcome, now_ms: u64) -> bool {
    match gate.enter(now_ms) {
        Entry::Open(pass) => {
            gate.leave(pass, outcome, now_ms);
            true
        }
        Entry::Closed { .. } | Entry::Probing => false,
    }
}

fn pass(gate: &mut Gate, now_ms: u64) -> Pass {
    match gate.enter(now_ms) {
        Entry::Open(pass) => pass,
        other => panic!("{other:?}"),
    }
}

/// A service that rests until 30 000.
fn broken() -> Gate {
    let mut gate = service();
    for _ in 0..10 {
        assert!(call(&mut gate, CallOutcome::Failed, 0));
    }
    assert_eq!(gate.enter(0), Entry::Closed { until_ms: 30_000 });
    gate
}

#[test]
fn it_closes_when_half_of_at_least_ten_recent_calls_fail() {
    for (case, failed, answered, closed) in [
        ("nine are too few", 9, 0, false),
        ("ten are enough", 10, 0, true),
        ("half is enough", 5, 5, true),
        ("less than half is not", 9, 10, false),
    ] {
        let mut gate = service();
        for _ in 0..answered {
            assert!(call(&mut gate, CallOutcome::Answered, 0), "case: {case}");
        }
        for _ in 0..failed {
            assert!(call(&mut gate, CallOutcome::Failed, 0), "case: {case}");
        }
        assert_eq!(gate.closed_until_ms(0).is_some(), closed, "case: {case}");
    }
}

#[test]
fn failures_of_more_than_a_minute_ago_do_not_count() {
    for (later_ms, closed) in [(59_000, true), (61_001, false)] {
        let mut gate = service();
        for _ in 0..9 {
            call(&mut gate, CallOutcome::Failed, 0);
        }
        call(&mut gate, CallOutcome::Failed, later_ms);
        assert_eq!(gate.closed_until_ms(later_ms).is_some(), closed, "after {later_ms} ms");
    }
}

#[test]
fn a_refused_call_is_an_answer_and_never_closes_it() {
    let mut gate = model();
    for status in [400, 401, 403, 404, 405, 408, 409, 413, 422, 499] {
        for class in ErrorClass::ALL.into_iter().filter(|class| *class != ErrorClass::RateLimit) {
            let failure = Failure::new(class, "no").with_status(status);
            assert_eq!(CallOutcome::of_model(&Err(failure)), CallOutcome::Answered, "{status} {class}");
        }
        assert_eq!(CallOutcome::of_status(status, None), CallOutcome::Answered, "{status}");
        assert!(call(&mut gate, CallOutcome::of_status(status, None), 0), "{status}");
    }
    assert_eq!(gate.closed_until_ms(0), None);
}

#[test]
fn what_breaks_takes_too_long_or_is_no_answer_has_failed() {
    for failure in [
        Failure::new(ErrorClass::NetworkError, "reset"),
        Failure::new(ErrorClass::NetworkError, "bad gateway").with_status(502),
        Failure::new(ErrorClass::Timeout, "silent"),
        Failure::new(ErrorClass::InvalidResponse, "cut"),
    ] {
        assert_eq!(CallOutcome::of_model(&Err(failure.clone())), CallOutcome::Failed, "{failure}");
    }
    let answer = Answer::complete("yes", "m", Usage::reported(1, 1));
    assert_eq!(CallOutcome::of_model(&Ok(answer)), CallOutcome::Answered);
    assert_eq!(CallOutcome::of_status(503, Some(5)), CallOutcome::Failed);
    assert_eq!(CallOutcome::of_status(429, Some(5)), CallOutcome::Limited { asked_ms: Some(5) });
}

#[test]
fn after_its_rest_one_probe_goes_and_the_others_wait_for_it() {
    let mut gate = broken();
    assert_eq!(gate.enter(29_999), Entry::Closed { until_ms: 30_000 });
    let probe = pass(&mut gate, 30_000);
    assert_eq!(gate.enter(30_000), Entry::Probing);
    gate.leave(probe, CallOutcome::Answered, 30_100);
    assert!(call(&mut gate, CallOutcome::Failed, 30_100), "it is well, and one failure does not change that");
    assert!(call(&mut gate, CallOutcome::Answered, 30_100));
}

#[test]
fn a_probe_that_fails_is_followed_by_another_rest() {
    let mut gate = broken();
    assert!(call(&mut gate, CallOutcome::Failed, 30_000));
    assert_eq!(gate.enter(59_999), Entry::Closed { until_ms: 60_000 });
    assert!(call(&mut gate, CallOutcome::Answered, 60_000));
    assert_eq!(gate.closed_until_ms(60_000), None);
}

#[test]
fn a_probe_that_was_given_up_lets_another_go_at_once() {
    let mut gate = broken();
    let probe = pass(&mut gate, 30_000);
    gate.leave(probe, CallOutcome::Unknown, 30_500);
    assert!(call(&mut gate, CallOutcome::Answered, 30_500));
}

#[test]
fn a_probe_that_is_refused_or_limited_found_somebody_there() {
    let mut gate = broken();
    assert!(call(&mut gate, CallOutcome::Limited { asked_ms: Some(700) }, 30_000));
    assert_eq!(gate.closed_until_ms(30_000), Some(30_700), "it cools down, but it does not rest");
    assert!(call(&mut gate, CallOutcome::Answered, 30_700));
}

#[test]
fn calls_that_began_before_the_rest_say_nothing_about_the_time_behind_it() {
    let mut gate = model();
    let late: Vec<Pass> = (0..20).map(|_| pass(&mut gate, 0)).collect();
    call(&mut gate, CallOutcome::Failed, 10);
    call(&mut gate, CallOutcome::Failed, 10);
    assert!(call(&mut gate, CallOutcome::Answered, 5_010));
    for pass in late {
        gate.leave(pass, CallOutcome::Failed, 5_020);
    }
    assert_eq!(gate.closed_until_ms(5_020), None);
}

#[test]
fn a_model_rests_after_two_failures_in_a_row_and_longer_after_each_failed_probe() {
    let mut gate = model();
    assert!(call(&mut gate, CallOutcome::Failed, 0));
    assert!(call(&mut gate, CallOutcome::Answered, 0));
    assert!(call(&mut gate, CallOutcome::Failed, 0));
    assert_eq!(gate.closed_until_ms(0), None, "an answer stood between them");
    assert!(call(&mut gate, CallOutcome::Failed, 0));
    let mut now_ms = 0;
    for rest_ms in [5_000, 10_000, 20_000, 30_000, 30_000] {
        assert_eq!(gate.enter(now_ms), Entry::Closed { until_ms: now_ms + rest_ms });
        now_ms += rest_ms;
        assert!(call(&mut gate, CallOutcome::Failed, now_ms));
    }
}

#[test]
fn a_rate_limit_cools_it_down_for_as_long_as_it_asks_within_bounds() {
    for (asked_ms, until_ms) in [(Some(2_500), 2_500), (Some(900_000), 60_000), (None, 1_000)] {
        let mut gate = model();
        assert!(call(&mut gate, CallOutcome::Limited { asked_ms }, 0));
        assert_eq!(gate.enter(0), Entry::Closed { until_ms }, "{asked_ms:?}");
        assert!(call(&mut gate, CallOutcome::Answered, until_ms), "{asked_ms:?}");
    }
}

#[test]
fn without_a_wait_of_its_own_it_cools_down_a_second_longer_each_time_until_it_answers() {
    let mut gate = model();
    let mut now_ms = 0;
    for wait_ms in [1_000, 2_000, 3_000] {
        assert!(call(&mut gate, CallOutcome::Limited { asked_ms: None }, now_ms));
        assert_eq!(gate.closed_until_ms(now_ms), Some(now_ms + wait_ms));
        now_ms += wait_ms;
    }
    assert!(call(&mut gate, CallOutcome::Answered, now_ms));
    assert!(call(&mut gate, CallOutcome::Limited { asked_ms: None }, now_ms));
    assert_eq!(gate.closed_until_ms(now_ms), Some(now_ms + 1_000));
}

#[test]
fn a_service_that_does_not_say_how_long_is_not_made_to_cool_down() {
    let mut gate = service();
    assert!(call(&mut gate, CallOutcome::Limited { asked_ms: None }, 0));
    assert!(call(&mut gate, CallOutcome::Answered, 0));
}

fn any_outcome() -> impl Strategy<Value = CallOutcome> {
    prop_oneof![
        Just(CallOutcome::Answered),
        Just(CallOutcome::Failed),
        Just(CallOutcome::Unknown),
        prop::option::of(0..100_000_u64).prop_map(|asked_ms| CallOutcome::Limited { asked_ms }),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_it_opens_again_within_a_minute_and_survives_being_written_down(
        rules in prop::sample::select(vec![GateRules::service(), GateRules::model(), GateRules::model_in_turn()]),
        steps in prop::collection::vec((0..20_000_u64, any_outcome(), prop::bool::ANY), 60),
    ) {
        let mut gate = Gate::new(rules);
        let mut now_ms = 0;
        let mut under_way = Vec::new();
        for (passed_ms, outcome, at_once) in steps {
            now_ms += passed_ms;
            gate = serde_json::from_str(&serde_json::to_string(&gate).unwrap()).unwrap();
            match gate.enter(now_ms) {
                Entry::Open(pass) if at_once => gate.leave(pass, outcome, now_ms),
                Entry::Open(pass) => under_way.push((pass, outcome)),
                Entry::Closed { until_ms } => {
                    prop_assert!(until_ms > now_ms && until_ms <= now_ms + 60_000);
                    prop_assert_eq!(gate.closed_until_ms(until_ms), None);
                }
                // Nobody waits for a probe that is not under way.
                Entry::Probing => {
                    prop_assert!(under_way.iter().any(|(pass, _)| pass.kind == Kind::Probe));
                    for (pass, outcome) in under_way.drain(..) {
                        gate.leave(pass, outcome, now_ms);
                    }
                }
            }
            prop_assert!(under_way.iter().filter(|(pass, _)| pass.kind == Kind::Probe).count() <= 1);
        }
    }

    #[test]
    fn answers_alone_never_close_it(times in prop::collection::vec(0..5_000_u64, 100)) {
        let mut gate = model();
        let mut now_ms = 0;
        for passed_ms in times {
            now_ms += passed_ms;
            prop_assert!(call(&mut gate, CallOutcome::Answered, now_ms));
        }
    }
}
