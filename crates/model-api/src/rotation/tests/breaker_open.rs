//! Targets whose breaker is open.

use super::*;

#[test]
fn a_target_with_an_open_breaker_is_skipped_without_an_attempt() {
    for policy in [RotationPolicy::Advance, RotationPolicy::PreferPrimary] {
        let mut rotation = rotation(&["a", "b"], RotationRules { policy, ..RotationRules::default() });
        assert_eq!(rotation.breaker_open(5_000, 0), Next::Ask, "{policy:?}");
        assert_eq!((current(&rotation), rotation.attempts()), ("b", 0), "{policy:?}");
    }
}

#[test]
fn when_all_breakers_are_open_prefer_primary_waits_for_the_first_that_half_opens() {
    let mut rotation = prefer(&["a", "b", "c"]);
    assert_eq!(rotation.breaker_open(9_000, 0), Next::Ask);
    assert_eq!(rotation.breaker_open(4_000, 0), Next::Ask);
    let next = rotation.breaker_open(4_000, 0);
    assert_eq!((next, current(&rotation)), (Next::Wait { ms: 4_000 }, "b"));
}

#[test]
fn advance_waits_for_the_longest_of_open_breakers_and_rate_limits() {
    let mut rotation = rotation(&["a", "b"], RotationRules::default());
    assert_eq!(rotation.failed(&limited(Some(7_000)), 0), Next::Ask);
    let next = rotation.breaker_open(3_000, 0);
    assert_eq!((next, current(&rotation)), (Next::Wait { ms: 7_000 }, "a"));
}

#[test]
fn the_number_of_waits_for_open_breakers_is_limited() {
    for policy in [RotationPolicy::Advance, RotationPolicy::PreferPrimary] {
        let mut rotation = rotation(&["a"], RotationRules { policy, ..RotationRules::default() });
        for _ in 0..3 {
            assert_eq!(rotation.breaker_open(2_000, 1_000), Next::Wait { ms: 1_000 }, "{policy:?}");
        }
        assert_eq!(rotation.breaker_open(2_000, 1_000), Next::GiveUp(GiveUpReason::BreakersOpen), "{policy:?}");
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
            assert_eq!(rotation.breaker_open(until_ms, 5_000), expected, "case: {case}, {policy:?}");
        }
    }
}

#[test]
fn a_second_attempt_that_finds_the_breaker_open_goes_on_to_the_next_target() {
    let mut rotation = prefer(&["a", "b"]);
    assert_eq!(failed(&mut rotation, &failure(ErrorClass::NetworkError), 0), (Next::Ask, "a"));
    assert_eq!(rotation.breaker_open(5_000, 0), Next::Ask);
    assert_eq!((current(&rotation), rotation.attempts()), ("b", 1));
}
