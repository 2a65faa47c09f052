//! The preferred target first, and again where that can help.

use super::*;
use crate::Usage;

fn prefer(targets: &[&str]) -> Rotation {
    rotation(targets, Rules::prefer_primary())
}

fn broken() -> Failure {
    failure(ErrorClass::NetworkError)
}

/// What is done about the first and the second failure of the first of two targets, and who is asked then.
#[test]
fn each_kind_of_failure_has_its_row() {
    use ErrorClass::*;
    let filtered = || Next::GiveUp(GiveUp::Fatal(ContentFilter));
    let cut = || broken().with_usage(Usage::reported(10, 40));
    let ask = |target| (Next::Ask, target);
    let wait = |ms, target| (Next::Wait { ms }, target);
    for (case, failure, first, second) in [
        ("500", broken().with_status(500), ask("a"), Some(ask("b"))),
        ("503, short wait", broken().with_retry_after_ms(2_000), wait(2_000, "a"), Some(ask("b"))),
        ("503, long wait", broken().with_retry_after_ms(5_001), ask("b"), None),
        ("reset before anything came", broken().with_usage(Usage::reported(10, 0)), ask("a"), Some(ask("b"))),
        ("cut in the middle", cut(), ask("b"), None),
        ("rate limit without a wait", limited(None), wait(1_000, "a"), Some(ask("b"))),
        ("rate limit, short", limited(Some(2_000)), wait(2_000, "a"), Some(ask("b"))),
        ("rate limit, shorter than the least", limited(Some(10)), wait(1_000, "a"), Some(ask("b"))),
        ("rate limit, long", limited(Some(5_001)), ask("b"), None),
        ("silence", failure(Timeout), ask("b"), None),
        ("no answer in the answer", failure(InvalidResponse), ask("b"), None),
        ("refused request", failure(ModelError), ask("b"), None),
        ("too long", failure(ContextLength), ask("b"), None),
        ("refused content", failure(ContentFilter), (filtered(), "-"), None),
        ("refused key", failure(AuthError), (Next::GiveUp(GiveUp::Fatal(AuthError)), "-"), None),
        ("empty account", failure(QuotaExceeded), (Next::GiveUp(GiveUp::Fatal(QuotaExceeded)), "-"), None),
    ] {
        let mut rotation = prefer(&["a", "b"]);
        let next = rotation.failed(&failure, 0);
        assert_eq!((next, asked(&rotation)), first, "case: {case}");
        if let Some(second) = second {
            let next = rotation.failed(&failure, 0);
            assert_eq!((next, asked(&rotation)), second, "case: {case}, again");
        }
    }
}

#[test]
fn a_refused_key_may_be_skipped_and_is_not_asked_again() {
    let mut rotation = rotation(&["a", "b"], Rules { on_auth_error: OnAuthError::Skip, ..Rules::prefer_primary() });
    assert_eq!(rotation.failed(&failure(ErrorClass::AuthError), 0), Next::Ask);
    assert_eq!(asked(&rotation), "b");
    rotation.succeeded();
    assert_eq!(asked(&rotation), "b");
    let fatal = Next::GiveUp(GiveUp::Fatal(ErrorClass::QuotaExceeded));
    assert_eq!(rotation.failed(&failure(ErrorClass::QuotaExceeded), 0), fatal);
}

#[test]
fn a_question_that_is_too_long_goes_on_to_a_larger_window() {
    let windows = [("small", 8), ("same", 8), ("tiny", 4), ("large", 32)];
    let windows = windows.into_iter().map(|(name, tokens)| (name.into(), tokens * 1_000)).collect();
    let rules = Rules { windows, ..Rules::prefer_primary() };
    let mut rotation = rotation(&["small", "tiny", "same", "unknown", "large"], rules);
    let too_long = failure(ErrorClass::ContextLength);
    assert_eq!(rotation.failed(&too_long, 0), Next::Ask);
    assert_eq!(asked(&rotation), "unknown", "it may be large");
    assert_eq!(rotation.failed(&too_long, 0), Next::Ask);
    assert_eq!(asked(&rotation), "large");
    let over = Next::GiveUp(GiveUp::Fatal(ErrorClass::ContextLength));
    assert_eq!(rotation.failed(&too_long, 0), over);
    // Another question may be shorter.
    rotation.restart();
    assert_eq!(asked(&rotation), "small");
}

#[test]
fn a_target_that_refused_the_request_is_not_asked_that_question_again() {
    let mut rotation = prefer(&["a", "b"]);
    assert_eq!(rotation.failed(&failure(ErrorClass::ModelError), 0), Next::Ask);
    assert_eq!(asked(&rotation), "b");
    assert_eq!(rotation.failed(&failure(ErrorClass::Timeout), 0), Next::Wait { ms: 2_000 });
    assert_eq!(asked(&rotation), "b", "there is nobody else for this question");
}

#[test]
fn when_all_have_failed_a_new_round_begins_at_the_first_after_a_wait() {
    let mut rotation = prefer(&["a", "b"]);
    for expected in ["a", "b", "b"] {
        assert_eq!(rotation.failed(&broken(), 0), Next::Ask);
        assert_eq!(asked(&rotation), expected);
    }
    assert_eq!(rotation.failed(&broken(), 0), Next::Wait { ms: 4_000 });
    assert_eq!(asked(&rotation), "a");
}

#[test]
fn the_new_round_begins_with_whoever_is_ready_first() {
    let mut rotation = prefer(&["a", "b"]);
    assert_eq!(rotation.failed(&limited(Some(50_000)), 0), Next::Ask);
    assert_eq!(rotation.failed(&limited(Some(20_000)), 0), Next::Wait { ms: 20_000 });
    assert_eq!(asked(&rotation), "b");
    assert_eq!(rotation.failed(&failure(ErrorClass::Timeout), 20_000), Next::Wait { ms: 3_000 });
    assert_eq!(asked(&rotation), "b", "`a` still wants to be left alone");
}

#[test]
fn nobody_gets_a_second_try_that_would_cost_another_its_first() {
    for (attempts, expected) in [(2, vec!["a", "b"]), (3, vec!["a", "a", "b"]), (4, vec!["a", "a", "b", "b"])] {
        let mut rotation = rotation(&["a", "b"], Rules { attempts, ..Rules::prefer_primary() });
        let mut seen = Vec::new();
        while let Some(target) = rotation.target() {
            seen.push(target.as_str().to_owned());
            rotation.failed(&broken(), 0);
        }
        assert_eq!(seen, expected);
        assert_eq!(rotation.gave_up(), Some(&GiveUp::AttemptsSpent { attempts }));
    }
}

#[test]
fn with_one_target_alone_it_is_asked_until_the_attempts_are_spent() {
    let mut rotation = prefer(&["a"]);
    let waits: Vec<Next> = (0..6).map(|_| rotation.failed(&broken(), 0)).collect();
    let wait = |ms| Next::Wait { ms };
    let spent = Next::GiveUp(GiveUp::AttemptsSpent { attempts: 6 });
    assert_eq!(waits, [Next::Ask, wait(2_000), Next::Ask, wait(4_000), Next::Ask, spent]);
}
