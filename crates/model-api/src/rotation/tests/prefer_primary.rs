//! `RotationPolicy::PreferPrimary`.

use super::*;
use crate::Usage;

fn broken() -> ModelFailure {
    failure(ErrorClass::NetworkError)
}

/// The decisions after the first and the second failure of the first of two targets, and the target that is asked then.
#[test]
fn every_class_of_failure_has_its_decision() {
    use ErrorClass::*;
    let filtered = || Next::GiveUp(GiveUpReason::Fatal(ContentFilter));
    let cut = || broken().with_usage(Usage::reported(10, 40));
    let ask = |target| (Next::Ask, target);
    let wait = |ms, target| (Next::Wait { ms }, target);
    for (case, failure, first, second) in [
        ("500", broken().with_status(500), ask("a"), Some(ask("b"))),
        ("503, short wait", broken().with_retry_after_ms(2_000), wait(2_000, "a"), Some(ask("b"))),
        ("503, long wait", broken().with_retry_after_ms(5_001), ask("b"), None),
        ("reset before the answer began", broken().with_usage(Usage::reported(10, 0)), ask("a"), Some(ask("b"))),
        ("cut in the middle of the answer", cut(), ask("b"), None),
        ("rate limit without a wait", limited(None), wait(1_000, "a"), Some(ask("b"))),
        ("rate limit, short", limited(Some(2_000)), wait(2_000, "a"), Some(ask("b"))),
        ("rate limit, shorter than the least", limited(Some(10)), wait(1_000, "a"), Some(ask("b"))),
        ("rate limit, long", limited(Some(5_001)), ask("b"), None),
        ("timeout", failure(Timeout), ask("b"), None),
        ("invalid response", failure(InvalidResponse), ask("b"), None),
        ("refused request", failure(ModelError), ask("b"), None),
        ("too long", failure(ContextLength), ask("b"), None),
        ("refused content", failure(ContentFilter), (filtered(), "-"), None),
        ("refused key", failure(AuthError), (Next::GiveUp(GiveUpReason::Fatal(AuthError)), "-"), None),
        ("empty account", failure(QuotaExceeded), (Next::GiveUp(GiveUpReason::Fatal(QuotaExceeded)), "-"), None),
    ] {
        let mut rotation = prefer(&["a", "b"]);
        let next = rotation.failed(&failure, 0);
        assert_eq!((next, current(&rotation)), first, "case: {case}");
        if let Some(second) = second {
            let next = rotation.failed(&failure, 0);
            assert_eq!((next, current(&rotation)), second, "case: {case}, again");
        }
    }
}

#[test]
fn a_target_with_a_refused_key_may_be_skipped_and_is_not_asked_again() {
    let mut rotation =
        rotation(&["a", "b"], RotationRules { on_auth_error: OnAuthError::Skip, ..RotationRules::prefer_primary() });
    assert_eq!(failed(&mut rotation, &failure(ErrorClass::AuthError), 0), (Next::Ask, "b"));
    rotation.restart();
    assert_eq!(current(&rotation), "b");
    let fatal = Next::GiveUp(GiveUpReason::Fatal(ErrorClass::QuotaExceeded));
    assert_eq!(rotation.failed(&failure(ErrorClass::QuotaExceeded), 0), fatal);
}

#[test]
fn a_request_that_is_too_long_goes_on_to_a_larger_context_window() {
    let windows = [("small", 8), ("same", 8), ("tiny", 4), ("large", 32)];
    let context_windows = windows.into_iter().map(|(name, tokens)| (name.into(), tokens * 1_000)).collect();
    let rules = RotationRules { context_windows, ..RotationRules::prefer_primary() };
    let mut rotation = rotation(&["small", "tiny", "same", "unknown", "large"], rules);
    let too_long = failure(ErrorClass::ContextLength);
    assert_eq!(failed(&mut rotation, &too_long, 0), (Next::Ask, "unknown"), "it may be large");
    assert_eq!(failed(&mut rotation, &too_long, 0), (Next::Ask, "large"));
    let fatal = Next::GiveUp(GiveUpReason::Fatal(ErrorClass::ContextLength));
    assert_eq!(rotation.failed(&too_long, 0), fatal);
    // The next request may be shorter.
    rotation.restart();
    assert_eq!(current(&rotation), "small");
}

#[test]
fn a_target_that_refused_a_request_is_not_asked_the_same_again() {
    let mut rotation = prefer(&["a", "b"]);
    assert_eq!(failed(&mut rotation, &failure(ErrorClass::ModelError), 0), (Next::Ask, "b"));
    assert_eq!(
        failed(&mut rotation, &failure(ErrorClass::Timeout), 0),
        (Next::Wait { ms: 2_000 }, "b"),
        "the only eligible target"
    );
}

#[test]
fn when_all_targets_have_failed_a_new_round_starts_at_the_first_after_a_wait() {
    let mut rotation = prefer(&["a", "b"]);
    for expected in ["a", "b", "b"] {
        assert_eq!(rotation.failed(&broken(), 0), Next::Ask);
        assert_eq!(current(&rotation), expected);
    }
    assert_eq!(failed(&mut rotation, &broken(), 0), (Next::Wait { ms: 4_000 }, "a"));
}

#[test]
fn the_new_round_starts_with_the_target_that_is_ready_first() {
    let mut rotation = prefer(&["a", "b"]);
    assert_eq!(rotation.failed(&limited(Some(50_000)), 0), Next::Ask);
    assert_eq!(failed(&mut rotation, &limited(Some(20_000)), 0), (Next::Wait { ms: 20_000 }, "b"));
    assert_eq!(
        failed(&mut rotation, &failure(ErrorClass::Timeout), 20_000),
        (Next::Wait { ms: 3_000 }, "b"),
        "`a` is not ready yet"
    );
}

#[test]
fn no_target_gets_a_second_attempt_at_the_cost_of_anothers_first() {
    for (max_attempts, expected) in [(2, vec!["a", "b"]), (3, vec!["a", "a", "b"]), (4, vec!["a", "a", "b", "b"])] {
        let mut rotation = rotation(&["a", "b"], RotationRules { max_attempts, ..RotationRules::prefer_primary() });
        let mut seen = Vec::new();
        while let Some(target) = rotation.target() {
            seen.push(target.as_str().to_owned());
            rotation.failed(&broken(), 0);
        }
        assert_eq!(seen, expected);
        assert_eq!(rotation.gave_up(), Some(&GiveUpReason::AttemptsSpent { attempts: max_attempts }));
    }
}

#[test]
fn a_single_target_is_asked_until_the_attempts_are_spent() {
    let mut rotation = prefer(&["a"]);
    let waits: Vec<Next> = (0..6).map(|_| rotation.failed(&broken(), 0)).collect();
    let wait = |ms| Next::Wait { ms };
    let spent = Next::GiveUp(GiveUpReason::AttemptsSpent { attempts: 6 });
    assert_eq!(waits, [Next::Ask, wait(2_000), Next::Ask, wait(4_000), Next::Ask, spent]);
}
