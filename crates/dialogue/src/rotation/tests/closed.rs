//! A target that rests is not asked.

use super::*;

fn prefer(targets: &[&str]) -> Rotation {
    rotation(targets, Rules::prefer_primary())
}

#[test]
fn a_target_that_rests_is_passed_over_and_that_is_no_attempt() {
    for policy in [Policy::Advance, Policy::PreferPrimary] {
        let mut rotation = rotation(&["a", "b"], Rules { policy, ..Rules::default() });
        assert_eq!(rotation.closed(5_000, 0), Next::Ask, "{policy:?}");
        assert_eq!((asked(&rotation), rotation.attempts()), ("b", 0), "{policy:?}");
    }
}

#[test]
fn when_all_rest_the_preferred_one_that_wakes_first_is_waited_for() {
    let mut rotation = prefer(&["a", "b", "c"]);
    assert_eq!(rotation.closed(9_000, 0), Next::Ask);
    assert_eq!(rotation.closed(4_000, 0), Next::Ask);
    assert_eq!(rotation.closed(4_000, 0), Next::Wait { ms: 4_000 });
    assert_eq!(asked(&rotation), "b");
}

#[test]
fn in_turn_the_longest_of_rests_and_limits_is_waited_for() {
    let mut rotation = rotation(&["a", "b"], Rules::default());
    assert_eq!(rotation.failed(&limited(Some(7_000)), 0), Next::Ask);
    assert_eq!(rotation.closed(3_000, 0), Next::Wait { ms: 7_000 });
    assert_eq!(asked(&rotation), "a");
}

#[test]
fn nobody_waits_for_ever_for_targets_that_rest() {
    for policy in [Policy::Advance, Policy::PreferPrimary] {
        let mut rotation = rotation(&["a"], Rules { policy, ..Rules::default() });
        for _ in 0..3 {
            assert_eq!(rotation.closed(2_000, 1_000), Next::Wait { ms: 1_000 }, "{policy:?}");
        }
        assert_eq!(rotation.closed(2_000, 1_000), Next::GiveUp(GiveUp::Resting), "{policy:?}");
        assert_eq!((rotation.target(), rotation.attempts()), (None, 0), "{policy:?}");
    }
}

#[test]
fn a_rest_is_waited_for_no_longer_than_the_longest_wait() {
    for policy in [Policy::Advance, Policy::PreferPrimary] {
        let mut rotation = rotation(&["a"], Rules { policy, ..Rules::default() });
        assert_eq!(rotation.closed(900_000, 0), Next::Wait { ms: 60_000 }, "{policy:?}");
    }
}

#[test]
fn a_rest_that_is_over_when_it_is_heard_of_is_still_a_wait_so_that_it_ends() {
    for policy in [Policy::Advance, Policy::PreferPrimary] {
        let mut rotation = rotation(&["a"], Rules { policy, ..Rules::default() });
        assert_eq!(rotation.closed(1, 5_000), Next::Wait { ms: 1 }, "{policy:?}");
    }
}

#[test]
fn a_rest_past_the_deadline_is_the_end() {
    for policy in [Policy::Advance, Policy::PreferPrimary] {
        let mut rotation = rotation(&["a"], Rules { policy, ..Rules::default() }).with_deadline_ms(3_000);
        assert_eq!(rotation.closed(3_000, 1_000), Next::GiveUp(GiveUp::Deadline), "{policy:?}");
    }
}

#[test]
fn a_second_try_that_finds_the_target_resting_goes_on_to_the_next() {
    let mut rotation = prefer(&["a", "b"]);
    assert_eq!(rotation.failed(&failure(ErrorClass::NetworkError), 0), Next::Ask);
    assert_eq!(asked(&rotation), "a");
    assert_eq!(rotation.closed(5_000, 0), Next::Ask);
    assert_eq!((asked(&rotation), rotation.attempts()), ("b", 1));
}
