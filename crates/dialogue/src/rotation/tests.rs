mod closed;
mod prefer;

use proptest::prelude::*;

use super::*;

fn rotation(targets: &[&str], rules: Rules) -> Rotation {
    Rotation::new(targets.iter().map(|&target| target.into()).collect(), rules)
}

fn asked(rotation: &Rotation) -> &str {
    rotation.target().map_or("-", TargetName::as_str)
}

fn failure(class: ErrorClass) -> Failure {
    Failure::new(class, "broken")
}

fn limited(ms: Option<u64>) -> Failure {
    Failure { retry_after_ms: ms, ..failure(ErrorClass::RateLimit) }
}

fn many() -> Rules {
    Rules { attempts: 100, ..Rules::default() }
}

#[test]
fn each_failure_moves_on_to_the_next_target_and_wraps() {
    let mut rotation = rotation(&["a", "b"], Rules::default());
    let mut seen = vec![asked(&rotation).to_owned()];
    for _ in 0..2 {
        assert_eq!(rotation.failed(&failure(ErrorClass::NetworkError), 0), Next::Ask);
        seen.push(asked(&rotation).to_owned());
    }
    assert_eq!(seen, ["a", "b", "a"]);
    let spent = GiveUp::AttemptsSpent { attempts: 3 };
    assert_eq!(rotation.failed(&failure(ErrorClass::NetworkError), 0), Next::GiveUp(spent.clone()));
    assert_eq!(rotation.target(), None);
    assert_eq!(rotation.gave_up(), Some(&spent));
}

#[test]
fn only_a_full_round_of_rate_limits_waits_and_for_the_longest_wait_due() {
    let mut rotation = rotation(&["a", "b", "c"], many());
    assert_eq!(rotation.failed(&limited(Some(5_000)), 0), Next::Ask);
    assert_eq!(rotation.failed(&limited(Some(9_000)), 0), Next::Ask);
    assert_eq!(rotation.failed(&limited(Some(7_000)), 0), Next::Wait { ms: 9_000 });
    // The round starts anew: nobody waits again before all have been asked again.
    assert_eq!(asked(&rotation), "a");
    assert_eq!(rotation.failed(&limited(Some(2_000)), 0), Next::Ask);
}

#[test]
fn a_target_that_refuses_a_question_is_left_out_while_another_is_left() {
    let refused = [
        failure(ErrorClass::ModelError).with_status(404),
        failure(ErrorClass::ContextLength),
        failure(ErrorClass::ContentFilter),
    ];
    for refused in refused {
        let mut rotation = rotation(&["a", "b", "c"], many());
        let mut seen = Vec::new();
        for failure in [&refused, &failure(ErrorClass::NetworkError), &failure(ErrorClass::Timeout), &refused] {
            seen.push(asked(&rotation).to_owned());
            assert_eq!(rotation.failed(failure, 0), Next::Ask, "{refused}");
        }
        assert_eq!(seen, ["a", "b", "c", "b"], "{refused}");
        assert_eq!(asked(&rotation), "c", "{refused}");
        assert_eq!(rotation.failed(&limited(Some(4_000)), 0), Next::Wait { ms: 4_000 }, "nobody else is in question");
        assert_eq!(rotation.failed(&refused, 0), Next::Ask, "{refused}");
        assert_eq!(asked(&rotation), "a", "when all are left out, all come into question again");
        rotation.restart();
        assert_eq!(asked(&rotation), "a");
    }
}

#[test]
fn who_is_left_out_beforehand_has_made_no_attempt() {
    for policy in [Policy::Advance, Policy::PreferPrimary] {
        let mut rotation = rotation(&["a", "b"], Rules { policy, ..Rules::default() });
        assert_eq!(rotation.leave_out(0), Some(Next::Ask), "{policy:?}");
        assert_eq!((asked(&rotation), rotation.attempts()), ("b", 0), "{policy:?}");
        assert_eq!(rotation.leave_out(0), None, "{policy:?}");
        rotation.readmit();
        assert_eq!(rotation.attempts(), 0);
        assert!(rotation.target().is_some());
    }
}

#[test]
fn leaving_one_out_may_leave_only_those_that_are_at_their_limit() {
    let mut rotation = rotation(&["a", "b"], many());
    assert_eq!(rotation.failed(&limited(Some(6_000)), 0), Next::Ask);
    assert_eq!(rotation.leave_out(0), Some(Next::Wait { ms: 6_000 }));
    assert_eq!(asked(&rotation), "a");
}

#[test]
fn another_failure_within_the_round_means_that_nobody_waits() {
    let mut rotation = rotation(&["a", "b"], many());
    assert_eq!(rotation.failed(&limited(None), 0), Next::Ask);
    assert_eq!(rotation.failed(&failure(ErrorClass::ModelError), 0), Next::Ask);
    assert_eq!(rotation.failed(&limited(None), 0), Next::Ask);
    // `a` and `b` in a row, though not in one aligned round: now both are at their limit.
    assert_eq!(rotation.failed(&limited(None), 0), Next::Wait { ms: 4_000 });
}

#[test]
fn without_a_wait_of_its_own_a_target_is_due_a_second_for_each_attempt() {
    let mut rotation = rotation(&["a"], many());
    for expected in [1_000, 2_000, 3_000] {
        assert_eq!(rotation.failed(&limited(None), 0), Next::Wait { ms: expected });
    }
}

#[test]
fn waits_are_kept_within_their_bounds() {
    for (asks, expected) in [(0, 1_000), (999, 1_000), (1_001, 1_001), (60_001, 60_000), (u64::MAX, 60_000)] {
        assert_eq!(rotation(&["a"], many()).failed(&limited(Some(asks)), 0), Next::Wait { ms: expected }, "{asks}");
    }
    let crossed = Rules { min_wait_ms: 5_000, max_wait_ms: 2_000, ..many() };
    assert_eq!(rotation(&["a"], crossed).failed(&limited(Some(1)), 0), Next::Wait { ms: 2_000 });
}

#[test]
fn nobody_waits_for_anything_but_a_rate_limit_while_there_is_another() {
    for class in ErrorClass::ALL.into_iter().filter(|class| !class.fatal() && *class != ErrorClass::RateLimit) {
        let failure = failure(class).with_retry_after_ms(30_000);
        let mut rotation = rotation(&["a", "b"], many());
        for _ in 0..6 {
            assert_eq!(rotation.failed(&failure, 0), Next::Ask, "{class}");
        }
    }
}

#[test]
fn a_lone_target_whose_server_is_broken_gets_time_to_mend() {
    let mut lone = rotation(&["a", "a"], Rules::default());
    assert_eq!(lone.failed(&failure(ErrorClass::NetworkError).with_status(503), 0), Next::Ask, "it stands there twice");
    let mut lone = rotation(&["a"], many());
    for expected in [1_000, 2_000, 3_000] {
        assert_eq!(lone.failed(&failure(ErrorClass::NetworkError), 0), Next::Wait { ms: expected });
    }
    let asked = failure(ErrorClass::NetworkError).with_retry_after_ms(7_000);
    assert_eq!(lone.failed(&asked, 0), Next::Wait { ms: 7_000 });
    for class in [ErrorClass::Timeout, ErrorClass::InvalidResponse, ErrorClass::ModelError] {
        assert_eq!(lone.failed(&failure(class), 0), Next::Ask, "{class}: time was spent, or changes nothing");
    }
}

#[test]
fn nobody_waits_after_the_last_attempt() {
    let mut rotation = rotation(&["a"], Rules { attempts: 2, ..Rules::default() });
    assert_eq!(rotation.failed(&limited(None), 0), Next::Wait { ms: 1_000 });
    assert_eq!(rotation.failed(&limited(None), 0), Next::GiveUp(GiveUp::AttemptsSpent { attempts: 2 }));
}

#[test]
fn a_refused_key_or_account_ends_it_at_once() {
    for class in [ErrorClass::AuthError, ErrorClass::QuotaExceeded] {
        let mut rotation = rotation(&["a", "b"], Rules::default());
        assert_eq!(rotation.failed(&failure(class), 0), Next::GiveUp(GiveUp::Fatal(class)));
        assert_eq!(rotation.target(), None);
    }
}

#[test]
fn a_refused_key_may_be_skipped_while_others_remain() {
    let rules = Rules { on_auth_error: OnAuthError::Skip, ..many() };
    let mut rotation = rotation(&["a", "b", "a", "c"], rules);
    rotation.failed(&failure(ErrorClass::NetworkError), 0);
    rotation.failed(&failure(ErrorClass::NetworkError), 0);
    // The second `a`: both its places in the round are gone, and `c` is next.
    assert_eq!(rotation.failed(&failure(ErrorClass::AuthError), 0), Next::Ask);
    assert_eq!(asked(&rotation), "c");
    assert_eq!(rotation.failed(&failure(ErrorClass::QuotaExceeded), 0), Next::Ask);
    assert_eq!(asked(&rotation), "b");
    let fatal = Next::GiveUp(GiveUp::Fatal(ErrorClass::AuthError));
    assert_eq!(rotation.failed(&failure(ErrorClass::AuthError), 0), fatal);
    // A new question does not bring a refused key back, but the last one may be tried again: it is all there is.
    rotation.restart();
    assert_eq!(asked(&rotation), "b");
}

#[test]
fn a_skipped_target_does_not_hide_that_the_others_are_at_their_limit() {
    let rules = Rules { on_auth_error: OnAuthError::Skip, ..many() };
    let mut rotation = rotation(&["a", "b"], rules);
    assert_eq!(rotation.failed(&limited(Some(3_000)), 0), Next::Ask);
    assert_eq!(rotation.failed(&failure(ErrorClass::AuthError), 0), Next::Wait { ms: 3_000 });
}

#[test]
fn success_starts_the_counters_again() {
    let mut rotation = rotation(&["a", "b"], Rules::default());
    rotation.failed(&limited(None), 0);
    rotation.failed(&failure(ErrorClass::Timeout), 0);
    rotation.succeeded();
    assert_eq!(rotation, super::tests::rotation(&["a", "b"], Rules::default()));
}

#[test]
fn a_wait_past_the_deadline_is_the_end_and_a_shorter_one_is_not() {
    for (deadline, expected) in [(10_999, Next::GiveUp(GiveUp::Deadline)), (11_001, Next::Wait { ms: 1_000 })] {
        let mut rotation = rotation(&["a"], many()).with_deadline_ms(deadline);
        assert_eq!(rotation.failed(&limited(None), 10_000), expected);
    }
    let mut late = rotation(&["a", "b"], many()).with_deadline_ms(10_000);
    assert_eq!(late.failed(&failure(ErrorClass::Timeout), 10_000), Next::GiveUp(GiveUp::Deadline));
}

#[test]
fn with_nobody_to_ask_or_no_attempts_nobody_is_asked() {
    assert_eq!(rotation(&[], Rules::default()).gave_up(), Some(&GiveUp::NoTargets));
    let mut never = rotation(&["a"], Rules { attempts: 0, ..Rules::default() });
    assert_eq!(never.target(), None);
    let spent = Next::GiveUp(GiveUp::AttemptsSpent { attempts: 0 });
    assert_eq!(never.failed(&failure(ErrorClass::Timeout), 0), spent);
}

#[test]
fn the_reasons_are_sentences() {
    for (reason, expected) in [
        (GiveUp::AttemptsSpent { attempts: 1 }, "no answer after 1 attempt"),
        (GiveUp::AttemptsSpent { attempts: 3 }, "no answer after 3 attempts"),
        (GiveUp::Fatal(ErrorClass::AuthError), "no further attempt after auth_error"),
        (GiveUp::Deadline, "the next attempt would begin after the deadline"),
        (GiveUp::Resting, "every model is resting"),
        (GiveUp::NoTargets, "there is no model to ask"),
    ] {
        assert_eq!(reason.to_string(), expected);
    }
}

fn any_failure() -> impl Strategy<Value = Failure> {
    (prop::sample::select(&ErrorClass::ALL[..]), prop::option::of(0..200_000_u64))
        .prop_map(|(class, ms)| Failure { retry_after_ms: ms, ..failure(class) })
}

fn any_rules() -> impl Strategy<Value = Rules> {
    let policies = prop::sample::select(vec![Policy::Advance, Policy::PreferPrimary]);
    let windows = prop::collection::btree_map((0..5_u8).prop_map(|index| format!("t{index}").into()), 1..4_u32, 0..5);
    (0..8_u32, prop::bool::ANY, policies, windows).prop_map(|(attempts, skip, policy, windows)| Rules {
        policy,
        attempts,
        on_auth_error: if skip { OnAuthError::Skip } else { OnAuthError::End },
        windows,
        ..Rules::default()
    })
}

/// What becomes of an attempt: it fails, or it is not made for the target rests.
fn any_event() -> impl Strategy<Value = Result<Failure, u64>> {
    prop_oneof![3 => any_failure().prop_map(Ok), 1 => (0..100_000_u64).prop_map(Err)]
}

fn happens(rotation: &mut Rotation, event: &Result<Failure, u64>, now_ms: u64) -> Next {
    match event {
        Ok(failure) => rotation.failed(failure, now_ms),
        Err(until_ms) => rotation.closed(now_ms + until_ms, now_ms),
    }
}

/// Names that differ, so that their order can be checked.
fn any_targets() -> impl Strategy<Value = Vec<TargetName>> {
    (0..5_usize).prop_map(|count| (0..count).map(|index| format!("t{index}").into()).collect())
}

proptest! {
    #[test]
    fn it_ends_within_its_attempts_and_its_waits_and_no_wait_is_without_an_attempt_behind_it(
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
            if let Next::Wait { ms } = happens(&mut rotation, event, now_ms) {
                prop_assert!(ms >= 1 && ms <= rules.max_wait_ms);
                prop_assert!(rotation.target().is_some(), "a wait without an attempt behind it");
                prop_assert!(attempts < rules.attempts);
                waits += 1;
                now_ms += ms;
            }
        }
        prop_assert!(attempts <= rules.attempts);
        prop_assert!(waits <= 2 * rules.attempts);
        prop_assert_eq!(rotation.target().is_none(), rotation.gave_up().is_some());
        prop_assert!(rotation.gave_up().is_some(), "it does not end");
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
            let Some(asked) = rotation.target().cloned() else { break };
            prop_assert!(!refused.contains(&asked));
            if matches!(event, Ok(failure) if failure.class.fatal()) {
                refused.insert(asked);
            }
            happens(&mut rotation, event, 0);
        }
        // Nor by the next question, as long as there is another to go on with.
        rotation.restart();
        let left = rotation.seats.len();
        prop_assert!(!skips || left <= 1 || rotation.target().is_none_or(|asked| !refused.contains(asked)));
    }

    #[test]
    fn the_next_question_begins_at_the_first_target_that_is_left(
        targets in any_targets(),
        rules in any_rules(),
        events in prop::collection::vec(any_event(), 12),
    ) {
        let mut rotation = Rotation::new(targets, rules.clone());
        for event in &events {
            happens(&mut rotation, event, 0);
        }
        rotation.succeeded();
        let left = rotation.seats.iter().map(|seat| seat.target.clone()).collect();
        prop_assert_eq!(rotation, Rotation::new(left, rules));
    }

    #[test]
    fn targets_are_visited_in_order_and_round_and_round_past_those_that_are_left_out(
        targets in any_targets(),
        failures in prop::collection::vec(any_failure(), 12),
    ) {
        let rules = Rules { attempts: 100, on_auth_error: OnAuthError::Skip, ..Rules::default() };
        let mut rotation = Rotation::new(targets.clone(), rules);
        let mut left = std::collections::VecDeque::from(targets);
        let mut out = std::collections::BTreeSet::new();
        for failure in &failures {
            let Some(asked) = rotation.target().cloned() else { break };
            prop_assert_eq!(Some(&asked), left.front());
            left.rotate_left(1);
            if failure.class.fatal() {
                left.pop_back();
            }
            if failure.is_for_another() {
                out.insert(asked);
            }
            if left.iter().all(|target| out.contains(target)) {
                out.clear();
            }
            while left.front().is_some_and(|target| out.contains(target)) {
                left.rotate_left(1);
            }
            rotation.failed(failure, 0);
        }
    }

    #[test]
    fn a_wait_comes_only_when_all_who_remain_have_said_that_they_are_at_their_limit_or_a_lone_one_is_broken(
        targets in any_targets(),
        failures in prop::collection::vec(any_failure(), 12),
    ) {
        let rules = Rules { attempts: 100, on_auth_error: OnAuthError::Skip, ..Rules::default() };
        let mut rotation = Rotation::new(targets, rules);
        let mut last_said = std::collections::BTreeMap::new();
        for failure in &failures {
            let Some(asked) = rotation.target().cloned() else { break };
            last_said.insert(asked, failure.class);
            last_said.retain(|_, class| !class.fatal());
            if let Next::Wait { .. } = rotation.failed(failure, 0) {
                let asked = rotation.seats.iter().filter(|seat| seat.fit == Fit::Yes);
                let said: Vec<_> = asked.map(|seat| last_said.get(&seat.target)).collect();
                prop_assert!(!said.is_empty());
                let lone = rotation.seats.iter().all(|seat| rotation.target() == Some(&seat.target));
                let rests = |class| class == ErrorClass::RateLimit || (lone && class == ErrorClass::NetworkError);
                prop_assert!(said.iter().all(|class| class.is_some_and(|class| rests(*class))));
                last_said.clear();
            }
        }
    }

    #[test]
    fn written_down_and_read_back_it_goes_on_as_if_nothing_had_happened(
        targets in any_targets(),
        rules in any_rules(),
        events in prop::collection::vec(any_event(), 12),
    ) {
        let mut kept = Rotation::new(targets, rules);
        let mut restored = kept.clone();
        for event in &events {
            restored = serde_json::from_str(&serde_json::to_string(&restored).unwrap()).unwrap();
            prop_assert_eq!(happens(&mut kept, event, 7), happens(&mut restored, event, 7));
        }
        prop_assert_eq!(kept, restored);
    }
}
