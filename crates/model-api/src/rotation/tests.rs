mod breaker_open;
mod prefer_primary;

use proptest::prelude::*;

use super::*;

fn rotation(targets: &[&str], rules: RotationRules) -> Rotation {
    Rotation::new(targets.iter().map(|&target| target.into()).collect(), rules)
}

fn prefer(targets: &[&str]) -> Rotation {
    rotation(targets, RotationRules::prefer_primary())
}

fn with_deadline(mut rotation: Rotation, deadline_ms: u64) -> Rotation {
    rotation.set_deadline_ms(deadline_ms);
    rotation
}

fn current(rotation: &Rotation) -> &str {
    rotation.target().map_or("-", TargetName::as_str)
}

/// Reports a failure. Returns the decision, and the target that is asked next.
fn failed<'r>(rotation: &'r mut Rotation, failure: &ModelFailure, now_ms: u64) -> (Next, &'r str) {
    (rotation.failed(failure, now_ms), current(rotation))
}

fn failure(class: ErrorClass) -> ModelFailure {
    ModelFailure::new(class, "broken")
}

fn limited(ms: Option<u64>) -> ModelFailure {
    ModelFailure { retry_after_ms: ms, ..failure(ErrorClass::RateLimit) }
}

fn many_attempts() -> RotationRules {
    RotationRules { max_attempts: 100, ..RotationRules::default() }
}

#[test]
fn each_failure_moves_on_to_the_next_target_and_wraps() {
    let mut rotation = rotation(&["a", "b"], RotationRules::default());
    let mut seen = vec![current(&rotation).to_owned()];
    for _ in 0..2 {
        assert_eq!(rotation.failed(&failure(ErrorClass::NetworkError), 0), Next::Ask);
        seen.push(current(&rotation).to_owned());
    }
    assert_eq!(seen, ["a", "b", "a"]);
    let reason = GiveUpReason::AttemptsSpent { attempts: 3 };
    assert_eq!(rotation.failed(&failure(ErrorClass::NetworkError), 0), Next::GiveUp(reason.clone()));
    assert_eq!(rotation.target(), None);
    assert_eq!(rotation.gave_up(), Some(&reason));
}

#[test]
fn only_a_full_round_of_rate_limits_causes_a_wait_for_the_longest_retry_after() {
    let mut rotation = rotation(&["a", "b", "c"], many_attempts());
    assert_eq!(rotation.failed(&limited(Some(5_000)), 0), Next::Ask);
    assert_eq!(rotation.failed(&limited(Some(9_000)), 0), Next::Ask);
    assert_eq!(rotation.failed(&limited(Some(7_000)), 0), Next::Wait { ms: 9_000 });
    // A new round: there is no wait before all targets have been asked again.
    assert_eq!(current(&rotation), "a");
    assert_eq!(rotation.failed(&limited(Some(2_000)), 0), Next::Ask);
}

#[test]
fn the_next_request_skips_a_target_whose_provider_refused_one() {
    let missing = failure(ErrorClass::ModelError).with_status(404);
    for (after_refusal, expected) in [(AfterRefusal::Skip, ["b", "c", "b"]), (AfterRefusal::AskAgain, ["a", "b", "c"])]
    {
        let mut rotation = rotation(&["a", "b", "c"], RotationRules { after_refusal, ..many_attempts() });
        rotation.failed(&missing, 0);
        rotation.restart();
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.push(current(&rotation).to_owned());
            rotation.failed(&failure(ErrorClass::NetworkError), 0);
        }
        assert_eq!(seen, expected, "{after_refusal:?}");
    }
}

#[test]
fn the_next_request_asks_all_targets_again_if_every_provider_refused_one() {
    let mut rotation = rotation(&["a", "b"], RotationRules { max_attempts: 2, ..RotationRules::default() });
    for _ in 0..2 {
        rotation.failed(&failure(ErrorClass::ContentFilter).with_status(400), 0);
    }
    rotation.restart();
    assert_eq!(current(&rotation), "a");
}

#[test]
fn a_content_filter_is_not_avoided_by_the_next_request_if_the_primary_is_preferred() {
    let mut rotation = prefer(&["a", "b"]);
    rotation.failed(&failure(ErrorClass::ContentFilter).with_status(400), 0);
    rotation.restart();
    assert_eq!(current(&rotation), "a");
}

#[test]
fn a_request_that_has_changed_may_go_to_a_target_that_refused_the_one_before() {
    let mut rotation = prefer(&["a", "b"]);
    rotation.failed(&failure(ErrorClass::ModelError).with_status(400), 0);
    rotation.readmit();
    rotation.restart();
    assert_eq!(current(&rotation), "a");
}

#[test]
fn a_target_that_refuses_a_request_is_excluded_while_another_is_eligible() {
    let refused = [
        failure(ErrorClass::ModelError).with_status(404),
        failure(ErrorClass::ContextLength),
        failure(ErrorClass::ContentFilter),
    ];
    for refused in refused {
        let mut rotation = rotation(&["a", "b", "c"], many_attempts());
        let mut seen = Vec::new();
        for failure in [&refused, &failure(ErrorClass::NetworkError), &failure(ErrorClass::Timeout), &refused] {
            seen.push(current(&rotation).to_owned());
            assert_eq!(rotation.failed(failure, 0), Next::Ask, "{refused}");
        }
        assert_eq!(seen, ["a", "b", "c", "b"], "{refused}");
        assert_eq!(current(&rotation), "c", "{refused}");
        assert_eq!(rotation.failed(&limited(Some(4_000)), 0), Next::Wait { ms: 4_000 }, "the only eligible target");
        assert_eq!(
            failed(&mut rotation, &refused, 0),
            (Next::Ask, "a"),
            "when all are excluded, all become eligible again"
        );
        rotation.restart();
        assert_eq!(current(&rotation), "a");
    }
}

#[test]
fn excluding_a_target_beforehand_is_not_an_attempt() {
    for policy in [RotationPolicy::Advance, RotationPolicy::PreferPrimary] {
        let mut rotation = rotation(&["a", "b"], RotationRules { policy, ..RotationRules::default() });
        assert_eq!(rotation.exclude_target(0), Some(Next::Ask), "{policy:?}");
        assert_eq!((current(&rotation), rotation.attempts()), ("b", 0), "{policy:?}");
        assert_eq!(rotation.exclude_target(0), None, "{policy:?}");
        rotation.readmit();
        assert_eq!(rotation.attempts(), 0);
        assert!(rotation.target().is_some());
    }
}

#[test]
fn excluding_a_target_waits_if_all_others_are_rate_limited() {
    let mut rotation = rotation(&["a", "b"], many_attempts());
    assert_eq!(rotation.failed(&limited(Some(6_000)), 0), Next::Ask);
    assert_eq!(rotation.exclude_target(0), Some(Next::Wait { ms: 6_000 }));
    assert_eq!(current(&rotation), "a");
}

#[test]
fn a_failure_of_another_class_within_the_round_prevents_the_wait() {
    let mut rotation = rotation(&["a", "b"], many_attempts());
    assert_eq!(rotation.failed(&limited(None), 0), Next::Ask);
    assert_eq!(rotation.failed(&failure(ErrorClass::ModelError), 0), Next::Ask);
    assert_eq!(rotation.failed(&limited(None), 0), Next::Ask);
    // `a` and `b` in a row, though not in one aligned round: now both are rate limited.
    assert_eq!(rotation.failed(&limited(None), 0), Next::Wait { ms: 4_000 });
}

#[test]
fn without_a_retry_after_the_wait_is_a_second_for_each_attempt() {
    let mut rotation = rotation(&["a"], many_attempts());
    for expected in [1_000, 2_000, 3_000] {
        assert_eq!(rotation.failed(&limited(None), 0), Next::Wait { ms: expected });
    }
}

#[test]
fn waits_stay_within_their_bounds() {
    for (asks, expected) in [(0, 1_000), (999, 1_000), (1_001, 1_001), (60_001, 60_000), (u64::MAX, 60_000)] {
        assert_eq!(
            rotation(&["a"], many_attempts()).failed(&limited(Some(asks)), 0),
            Next::Wait { ms: expected },
            "{asks}"
        );
    }
    let crossed = RotationRules { min_wait_ms: 5_000, max_wait_ms: 2_000, ..many_attempts() };
    assert_eq!(rotation(&["a"], crossed).failed(&limited(Some(1)), 0), Next::Wait { ms: 2_000 });
}

#[test]
fn only_a_target_that_is_limited_or_unavailable_causes_a_wait_while_there_is_another_one() {
    let waits = |class: ErrorClass| matches!(class, ErrorClass::RateLimit | ErrorClass::NetworkError);
    for class in ErrorClass::ALL.iter().copied().filter(|class| !class.is_fatal() && !waits(*class)) {
        let failure = failure(class).with_retry_after_ms(30_000);
        let mut rotation = rotation(&["a", "b"], many_attempts());
        for _ in 0..6 {
            assert_eq!(rotation.failed(&failure, 0), Next::Ask, "{class}");
        }
    }
}

#[test]
fn targets_that_are_unavailable_and_say_for_how_long_are_waited_for() {
    let unavailable = |ms| failure(ErrorClass::NetworkError).with_status(503).with_retry_after_ms(ms);
    let mut rotation = rotation(&["a", "b"], many_attempts());
    assert_eq!(rotation.failed(&unavailable(5_000), 0), Next::Ask, "the other target is asked first");
    assert_eq!(rotation.failed(&unavailable(8_000), 0), Next::Wait { ms: 8_000 });
    assert_eq!(rotation.wait_cause().reason, ModelWaitReason::Failure);
    assert_eq!(rotation.failed(&unavailable(5_000), 0), Next::Ask);
    assert_eq!(rotation.failed(&failure(ErrorClass::NetworkError), 0), Next::Ask, "this one says nothing");
}

#[test]
fn a_single_target_waits_after_a_network_error() {
    let mut single = rotation(&["a", "a"], RotationRules::default());
    assert_eq!(single.failed(&failure(ErrorClass::NetworkError).with_status(503), 0), Next::Ask, "it is listed twice");
    let mut single = rotation(&["a"], many_attempts());
    for expected in [1_000, 2_000, 3_000] {
        assert_eq!(single.failed(&failure(ErrorClass::NetworkError), 0), Next::Wait { ms: expected });
    }
    let with_wait = failure(ErrorClass::NetworkError).with_retry_after_ms(7_000);
    assert_eq!(single.failed(&with_wait, 0), Next::Wait { ms: 7_000 });
    for class in [ErrorClass::Timeout, ErrorClass::InvalidResponse, ErrorClass::ModelError] {
        assert_eq!(single.failed(&failure(class), 0), Next::Ask, "{class}: a wait would not help");
    }
}

#[test]
fn there_is_no_wait_after_the_last_attempt() {
    let mut rotation = rotation(&["a"], RotationRules { max_attempts: 2, ..RotationRules::default() });
    assert_eq!(rotation.failed(&limited(None), 0), Next::Wait { ms: 1_000 });
    assert_eq!(rotation.failed(&limited(None), 0), Next::GiveUp(GiveUpReason::AttemptsSpent { attempts: 2 }));
}

#[test]
fn a_refused_key_or_an_exceeded_quota_gives_up_at_once() {
    for class in [ErrorClass::AuthError, ErrorClass::QuotaExceeded] {
        let mut rotation = rotation(&["a", "b"], RotationRules::default());
        assert_eq!(rotation.failed(&failure(class), 0), Next::GiveUp(GiveUpReason::Fatal(class)));
        assert_eq!(rotation.target(), None);
    }
}

#[test]
fn a_target_with_a_refused_key_may_be_skipped_while_others_remain() {
    let rules = RotationRules { on_auth_error: OnAuthError::Skip, ..many_attempts() };
    let mut rotation = rotation(&["a", "b", "a", "c"], rules);
    rotation.failed(&failure(ErrorClass::NetworkError), 0);
    rotation.failed(&failure(ErrorClass::NetworkError), 0);
    // The second `a`: both its slots are gone, and `c` is next.
    assert_eq!(failed(&mut rotation, &failure(ErrorClass::AuthError), 0), (Next::Ask, "c"));
    assert_eq!(failed(&mut rotation, &failure(ErrorClass::QuotaExceeded), 0), (Next::Ask, "b"));
    let fatal = Next::GiveUp(GiveUpReason::Fatal(ErrorClass::AuthError));
    assert_eq!(rotation.failed(&failure(ErrorClass::AuthError), 0), fatal);
    // A restart does not bring a dropped target back, but the last one may be tried again.
    rotation.restart();
    assert_eq!(current(&rotation), "b");
}

#[test]
fn a_skipped_target_does_not_hide_that_the_others_are_rate_limited() {
    let rules = RotationRules { on_auth_error: OnAuthError::Skip, ..many_attempts() };
    let mut rotation = rotation(&["a", "b"], rules);
    assert_eq!(rotation.failed(&limited(Some(3_000)), 0), Next::Ask);
    assert_eq!(rotation.failed(&failure(ErrorClass::AuthError), 0), Next::Wait { ms: 3_000 });
}

#[test]
fn a_wait_past_the_deadline_gives_up_and_a_shorter_one_does_not() {
    for (deadline, expected) in [(10_999, Next::GiveUp(GiveUpReason::Deadline)), (11_001, Next::Wait { ms: 1_000 })] {
        let mut rotation = with_deadline(rotation(&["a"], many_attempts()), deadline);
        assert_eq!(rotation.failed(&limited(None), 10_000), expected);
    }
    let mut late = with_deadline(rotation(&["a", "b"], many_attempts()), 10_000);
    assert_eq!(late.failed(&failure(ErrorClass::Timeout), 10_000), Next::GiveUp(GiveUpReason::Deadline));
}

#[test]
fn a_rotation_without_targets_or_attempts_has_given_up() {
    assert_eq!(rotation(&[], RotationRules::default()).gave_up(), Some(&GiveUpReason::NoTargets));
    let mut never = rotation(&["a"], RotationRules { max_attempts: 0, ..RotationRules::default() });
    assert_eq!(never.target(), None);
    let reason = Next::GiveUp(GiveUpReason::AttemptsSpent { attempts: 0 });
    assert_eq!(never.failed(&failure(ErrorClass::Timeout), 0), reason);
}

#[test]
fn every_give_up_reason_has_its_message() {
    for (reason, expected) in [
        (GiveUpReason::AttemptsSpent { attempts: 1 }, "no answer after 1 attempt"),
        (GiveUpReason::AttemptsSpent { attempts: 3 }, "no answer after 3 attempts"),
        (GiveUpReason::Fatal(ErrorClass::AuthError), "no further attempt after auth_error"),
        (GiveUpReason::Deadline, "the next attempt would begin after the deadline"),
        (GiveUpReason::BreakersOpen, "the circuit breaker of every model is open"),
        (GiveUpReason::NoTargets, "there is no model to ask"),
    ] {
        assert_eq!(reason.to_string(), expected);
    }
}

fn any_failure() -> impl Strategy<Value = ModelFailure> {
    (prop::sample::select(ErrorClass::ALL), prop::option::of(0..200_000_u64))
        .prop_map(|(class, ms)| ModelFailure { retry_after_ms: ms, ..failure(class) })
}

fn any_rules() -> impl Strategy<Value = RotationRules> {
    let policies = prop::sample::select(vec![RotationPolicy::Advance, RotationPolicy::PreferPrimary]);
    let context_windows =
        prop::collection::btree_map((0..5_u8).prop_map(|index| format!("t{index}").into()), 1..4_u32, 0..5);
    let after_refusal = prop::sample::select(vec![AfterRefusal::AskAgain, AfterRefusal::Skip]);
    (0..8_u32, prop::bool::ANY, policies, context_windows, after_refusal).prop_map(
        |(max_attempts, skip, policy, context_windows, after_refusal)| RotationRules {
            policy,
            max_attempts,
            on_auth_error: if skip { OnAuthError::Skip } else { OnAuthError::End },
            after_refusal,
            context_windows,
            ..RotationRules::default()
        },
    )
}

/// A failed attempt, or the remaining time of an open breaker.
fn any_event() -> impl Strategy<Value = Result<ModelFailure, u64>> {
    prop_oneof![3 => any_failure().prop_map(Ok), 1 => (0..100_000_u64).prop_map(Err)]
}

fn report(rotation: &mut Rotation, event: &Result<ModelFailure, u64>, now_ms: u64) -> Next {
    match event {
        Ok(failure) => rotation.failed(failure, now_ms),
        Err(until_ms) => rotation.breaker_open(now_ms + until_ms, BlockedBy::OpenBreaker, now_ms),
    }
}

/// Distinct names, so that their order can be checked.
fn any_targets() -> impl Strategy<Value = Vec<TargetName>> {
    (0..5_usize).prop_map(|count| (0..count).map(|index| format!("t{index}").into()).collect())
}

proptest! {
    #[test]
    fn a_rotation_ends_within_its_attempts_and_waits_and_an_attempt_follows_every_wait(
        targets in any_targets(),
        rules in any_rules(),
        events in prop::collection::vec(any_event(), 200),
    ) {
        let mut rotation = Rotation::new(targets.clone(), rules.clone());
        let (mut attempts, mut waits, mut now_ms) = (0, 0, 0);
        for event in &events {
            if rotation.target().is_none() {
                break;
            }
            attempts += u32::from(event.is_ok());
            if let Next::Wait { ms } = report(&mut rotation, event, now_ms) {
                prop_assert!(ms >= 1 && ms <= rules.max_wait_ms);
                prop_assert!(rotation.target().is_some(), "no attempt follows the wait");
                prop_assert!(attempts < rules.max_attempts);
                waits += 1;
                now_ms += ms;
            }
        }
        prop_assert!(attempts <= rules.max_attempts);
        prop_assert!(waits <= 2 * rules.max_attempts);
        prop_assert_eq!(rotation.target().is_none(), rotation.gave_up().is_some());
        prop_assert!(rotation.gave_up().is_some(), "the rotation does not end");
    }

    #[test]
    fn a_target_with_a_refused_key_is_never_asked_again(
        targets in any_targets(),
        rules in any_rules(),
        events in prop::collection::vec(any_event(), 60),
    ) {
        let skips = rules.on_auth_error == OnAuthError::Skip;
        let mut rotation = Rotation::new(targets, rules);
        let mut refused = std::collections::BTreeSet::new();
        for event in &events {
            let Some(target) = rotation.target().cloned() else { break };
            prop_assert!(!refused.contains(&target));
            if matches!(event, Ok(failure) if failure.class.is_fatal()) {
                refused.insert(target);
            }
            report(&mut rotation, event, 0);
        }
        // Nor by the next request, as long as another target is left.
        rotation.restart();
        let left = rotation.slots.len();
        prop_assert!(!skips || left <= 1 || rotation.target().is_none_or(|target| !refused.contains(target)));
    }

    #[test]
    fn the_next_request_starts_at_the_first_target_that_is_left(
        targets in any_targets(),
        rules in any_rules(),
        events in prop::collection::vec(any_event(), 12),
    ) {
        let mut rotation = Rotation::new(targets, rules.clone());
        for event in &events {
            report(&mut rotation, event, 0);
        }
        let is_refused: Vec<bool> = rotation.slots.iter().map(|slot| slot.refused).collect();
        rotation.restart();
        let left = rotation.slots.iter().map(|slot| slot.target.clone()).collect();
        if is_refused.contains(&true) {
            prop_assert_eq!(rules.after_refusal, AfterRefusal::Skip);
            let first = is_refused.iter().position(|is_refused| !is_refused).unwrap_or(0);
            prop_assert_eq!(rotation.cursor, first);
        } else {
            prop_assert_eq!(rotation, Rotation::new(left, rules));
        }
    }

    #[test]
    fn targets_are_visited_round_robin_past_excluded_ones(
        targets in any_targets(),
        failures in prop::collection::vec(any_failure(), 12),
    ) {
        let rules = RotationRules { max_attempts: 100, on_auth_error: OnAuthError::Skip, ..RotationRules::default() };
        let mut rotation = Rotation::new(targets.clone(), rules);
        let mut left = std::collections::VecDeque::from(targets);
        let mut excluded = std::collections::BTreeSet::new();
        for failure in &failures {
            let Some(target) = rotation.target().cloned() else { break };
            prop_assert_eq!(Some(&target), left.front());
            left.rotate_left(1);
            if failure.class.is_fatal() {
                left.pop_back();
            }
            if failure.is_target_specific() {
                excluded.insert(target);
            }
            if left.iter().all(|target| excluded.contains(target)) {
                excluded.clear();
            }
            while left.front().is_some_and(|target| excluded.contains(target)) {
                left.rotate_left(1);
            }
            rotation.failed(failure, 0);
        }
    }

    #[test]
    fn a_wait_follows_only_if_all_eligible_targets_are_limited_or_unavailable_or_a_single_one_had_a_network_error(
        targets in any_targets(),
        failures in prop::collection::vec(any_failure(), 12),
    ) {
        let rules = RotationRules { max_attempts: 100, on_auth_error: OnAuthError::Skip, ..RotationRules::default() };
        let mut rotation = Rotation::new(targets, rules);
        let mut last_class = std::collections::BTreeMap::new();
        for failure in &failures {
            let Some(target) = rotation.target().cloned() else { break };
            last_class.insert(target, (failure.class, failure.retry_after_ms.is_some()));
            last_class.retain(|_, (class, _)| !class.is_fatal());
            if let Next::Wait { .. } = rotation.failed(failure, 0) {
                let eligible = rotation.slots.iter().filter(|slot| !slot.excluded);
                let classes: Vec<_> = eligible.map(|slot| last_class.get(&slot.target)).collect();
                prop_assert!(!classes.is_empty());
                let is_single = rotation.slots.iter().all(|slot| rotation.target() == Some(&slot.target));
                let waits = |class, is_stated: bool| {
                    class == ErrorClass::RateLimit || ((is_single || is_stated) && class == ErrorClass::NetworkError)
                };
                let all_wait = classes.iter().all(|last| last.is_some_and(|(class, is_stated)| waits(*class, *is_stated)));
                prop_assert!(all_wait);
                last_class.clear();
            }
        }
    }

    #[test]
    fn a_deserialized_rotation_continues_like_the_original(
        targets in any_targets(),
        rules in any_rules(),
        events in prop::collection::vec(any_event(), 12),
    ) {
        let mut kept = Rotation::new(targets, rules);
        let mut restored = kept.clone();
        for event in &events {
            restored = serde_json::from_str(&serde_json::to_string(&restored).unwrap()).unwrap();
            prop_assert_eq!(report(&mut kept, event, 7), report(&mut restored, event, 7));
        }
        prop_assert_eq!(kept, restored);
    }
}
