//! Targets whose breaker is open.

use super::*;

#[test]
fn a_target_with_an_open_breaker_is_skipped_without_an_attempt() {
    for policy in [RotationPolicy::Advance, RotationPolicy::PreferPrimary] {
        let mut rotation = rotation(&["a", "b"], RotationRules { policy, ..RotationRules::default() });
        assert_eq!(rotation.breaker_open(5_000, BlockedBy::OpenBreaker, 0), Next::Ask, "{policy:?}");
        assert_eq!((current(&rotation), rotation.attempts()), ("b", 0), "{policy:?}");
    }
}

#[test]
fn when_all_breakers_are_open_prefer_primary_waits_for_the_first_that_half_opens() {
    let mut rotation = prefer(&["a", "b", "c"]);
    assert_eq!(rotation.breaker_open(9_000, BlockedBy::OpenBreaker, 0), Next::Ask);
    assert_eq!(rotation.breaker_open(4_000, BlockedBy::OpenBreaker, 0), Next::Ask);
    let next = rotation.breaker_open(4_000, BlockedBy::OpenBreaker, 0);
    assert_eq!((next, current(&rotation)), (Next::Wait { ms: 4_000 }, "b"));
}

#[test]
fn advance_waits_for_the_longest_of_open_breakers_and_rate_limits() {
    let mut rotation = rotation(&["a", "b"], RotationRules::default());
    assert_eq!(rotation.failed(&limited(Some(7_000)), 0), Next::Ask);
    let next = rotation.breaker_open(3_000, BlockedBy::OpenBreaker, 0);
    assert_eq!((next, current(&rotation)), (Next::Wait { ms: 7_000 }, "a"));
}

#[test]
fn the_number_of_waits_for_open_breakers_is_limited() {
    for policy in [RotationPolicy::Advance, RotationPolicy::PreferPrimary] {
        let mut rotation = rotation(&["a"], RotationRules { policy, ..RotationRules::default() });
        for _ in 0..3 {
            assert_eq!(
                rotation.breaker_open(2_000, BlockedBy::OpenBreaker, 1_000),
                Next::Wait { ms: 1_000 },
                "{policy:?}"
            );
        }
        assert_eq!(
            rotation.breaker_open(2_000, BlockedBy::OpenBreaker, 1_000),
            Next::GiveUp(GiveUpReason::BreakersOpen),
            "{policy:?}"
        );
        assert_eq!((rotation.target(), rotation.attempts()), (None, 0), "{policy:?}");
    }
}

#[test]
fn a_wait_for_an_open_breaker_is_at_least_one_millisecond_and_ends_before_the_limits() {
    for (case, until_ms, deadline_ms, expected) in [
        ("the longest wait", 900_000, u64::MAX, Next::Wait { ms: 60_000 }),
        ("half-open meanwhile, but the rotation must end", 1, u64::MAX, Next::Wait { ms: 1 }),
        ("past the deadline", 8_000, 8_000, Next::GiveUp(GiveUpReason::Deadline)),
    ] {
        for policy in [RotationPolicy::Advance, RotationPolicy::PreferPrimary] {
            let rules = RotationRules { policy, ..RotationRules::default() };
            let mut rotation = with_deadline(rotation(&["a"], rules), deadline_ms);
            assert_eq!(
                rotation.breaker_open(until_ms, BlockedBy::OpenBreaker, 5_000),
                expected,
                "case: {case}, {policy:?}"
            );
        }
    }
}

#[test]
fn a_second_attempt_that_finds_the_breaker_open_goes_on_to_the_next_target() {
    let mut rotation = prefer(&["a", "b"]);
    assert_eq!(failed(&mut rotation, &failure(ErrorClass::NetworkError), 0), (Next::Ask, "a"));
    assert_eq!(rotation.breaker_open(5_000, BlockedBy::OpenBreaker, 0), Next::Ask);
    assert_eq!((current(&rotation), rotation.attempts()), ("b", 1));
}

#[test]
fn the_last_attempt_waits_for_a_target_that_cools_down_if_all_others_failed() {
    let mut rotation = rotation(&["a", "b", "c"], RotationRules { max_attempts: 4, ..RotationRules::default() });
    let broken = failure(ErrorClass::NetworkError);
    assert_eq!(rotation.breaker_open(9_000, BlockedBy::CoolDown, 0), Next::Ask);
    assert_eq!(failed(&mut rotation, &broken, 0), (Next::Ask, "c"));
    assert_eq!(rotation.failed(&limited(Some(4_000)), 0), Next::Ask);
    assert_eq!(rotation.breaker_open(9_000, BlockedBy::CoolDown, 0), Next::Ask, "there is more than one attempt");
    assert_eq!(failed(&mut rotation, &broken, 0), (Next::Ask, "c"));
    assert_eq!(rotation.breaker_open(4_000, BlockedBy::CoolDown, 0), Next::Ask, "`a` may be ready now");
    let next = rotation.breaker_open(9_000, BlockedBy::CoolDown, 0);
    assert_eq!((next, current(&rotation)), (Next::Wait { ms: 4_000 }, "c"), "it is ready first");
    assert_eq!(rotation.wait_cause().reason, ModelWaitReason::RateLimit);
}

#[test]
fn the_last_attempt_is_made_at_once_if_the_wait_would_end_after_the_deadline() {
    let two = RotationRules { max_attempts: 2, ..RotationRules::default() };
    let mut rotation = with_deadline(rotation(&["a", "b"], two), 9_000);
    assert_eq!(rotation.breaker_open(9_000, BlockedBy::CoolDown, 0), Next::Ask);
    assert_eq!(rotation.failed(&failure(ErrorClass::NetworkError), 0), Next::Ask);
    assert_eq!(rotation.breaker_open(9_000, BlockedBy::CoolDown, 0), Next::Ask);
    assert_eq!(current(&rotation), "b");
}

#[test]
fn a_target_is_asked_after_the_longest_wait_although_its_breaker_blocks_it_for_longer() {
    for policy in [RotationPolicy::Advance, RotationPolicy::PreferPrimary] {
        let rules = RotationRules { policy, max_wait_ms: 7_000, ..many_attempts() };
        let mut rotation = rotation(&["a"], rules);
        assert_eq!(rotation.breaker_open(60_000, BlockedBy::CoolDown, 0), Next::Wait { ms: 7_000 }, "{policy:?}");
        assert!(rotation.asks_while_blocked(), "{policy:?}");
        let refused = ModelFailure { cool_down_ms: Some(53_000), ..limited(Some(53_000)) };
        assert_eq!(rotation.failed(&refused, 7_000), Next::Wait { ms: 7_000 }, "{policy:?}");
        assert!(rotation.asks_while_blocked(), "{policy:?}");
        assert_eq!(rotation.breaker_open(16_000, BlockedBy::CoolDown, 14_000), Next::Wait { ms: 2_000 }, "{policy:?}");
        assert!(!rotation.asks_while_blocked(), "it is not blocked any more: {policy:?}");
    }
}

#[test]
fn a_wait_for_a_rate_limit_lasts_as_long_as_the_cool_down_of_the_breaker() {
    let mut rotation = rotation(&["a"], many_attempts());
    let refused = ModelFailure { cool_down_ms: Some(4_000), ..limited(None) };
    assert_eq!(rotation.failed(&refused, 0), Next::Wait { ms: 4_000 });
    assert_eq!(rotation.wait_cause().to_string(), "rate_limit by cool-down");
    let refused = ModelFailure { cool_down_ms: Some(1_000), ..limited(None) };
    assert_eq!(rotation.failed(&refused, 0), Next::Wait { ms: 2_000 });
    assert_eq!(rotation.wait_cause().to_string(), "rate_limit by backoff");
}
