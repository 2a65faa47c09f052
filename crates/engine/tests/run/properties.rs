//! Properties of every run, whatever the plan, the world and the order of events. The invariants are in
//! `random_worlds/invariant_checker.rs`; `random_worlds.rs` checks that every run ends and can be restored from a snapshot.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;
use reknit_engine::{CallEnd, Decision, Event, Machine, RecordKind, Run, RunRecord, StepState, StepView};
use reknit_expressions::{MappingStatus, Provenance, ResolvedBy};
use reknit_mend::{MendEffect, Rung};
use reknit_protocol::{EffectKind, SideEffect, StepId};

use crate::corrections::corrected;
use crate::random_worlds::{ChoiceTape, RestoreTwin, drive, drive_with_confirmations, drive_with_loops, snapshot};
use crate::resolution_rung::mapped;
use crate::world::{Play, effect_id, plan, policy, started, step};

/// The length of a tape. It starts over after that.
const TAPE_LENGTH: usize = 600;

fn tape() -> impl Strategy<Value = ChoiceTape> {
    prop::collection::vec(any::<u8>(), 1..TAPE_LENGTH).prop_map(ChoiceTape::new)
}

/// Checks as many worlds as the environment asks for: `REKNIT_RANDOM_RUNS=1000000 cargo test --release -p reknit-engine --test run random_worlds`.
#[test]
fn the_invariants_hold_in_many_random_worlds() {
    let count = std::env::var("REKNIT_RANDOM_RUNS").map_or(300, |count| count.parse().expect("a number of runs"));
    let from = std::env::var("REKNIT_RANDOM_FROM").map_or(0, |from| from.parse().expect("the number of a run"));
    let (mut events, mut tool_calls, mut model_calls) = (0, 0, 0);
    let mut mends_by_rung: BTreeMap<Rung, u32> = BTreeMap::new();
    let mut mapped_by_capability: BTreeMap<String, u32> = BTreeMap::new();
    for seed in from..from + count {
        let ended = std::panic::catch_unwind(|| {
            let driven = drive(&mut ChoiceTape::from_seed(seed, TAPE_LENGTH), RestoreTwin::Sometimes);
            (driven.events.len(), driven.run.spent(), driven.run.steps())
        });
        let Ok((length, spent, steps)) = ended else { panic!("run {seed} violates an invariant") };
        events += length;
        tool_calls += spent.tool_calls;
        model_calls += spent.model_calls;
        let by_mapping = |origin: &Provenance| match origin {
            Provenance::Resolved { by, .. } => matches!(by, ResolvedBy::Learned | ResolvedBy::Accepted),
            _ => false,
        };
        for step in steps.iter().filter(|step| step.provenance.iter().any(|(_, origin)| by_mapping(origin))) {
            *mapped_by_capability.entry(step.capability.to_string()).or_default() += 1;
        }
        let mends = steps.iter().flat_map(|step| &step.mends);
        for mend in mends.filter(|mend| mend.effect == MendEffect::Applied) {
            *mends_by_rung.entry(mend.rung).or_default() += 1;
        }
    }
    println!(
        "{count} runs, {events} events, {tool_calls} tool calls, {model_calls} model calls, mends: {mends_by_rung:?}, \
         steps with mapped values: {mapped_by_capability:?}"
    );
    // The invariants would also hold in worlds in which no rung is ever used.
    if (from, count) == (0, 300) {
        for (rung, least) in [
            (Rung::Schema, 3),
            (Rung::Facts, 4),
            (Rung::Resend, 50),
            (Rung::Resolution, 10),
            (Rung::Feedback, 10),
            (Rung::Context, 20),
        ] {
            let times = mends_by_rung.get(&rung).copied().unwrap_or_default();
            assert!(times >= least, "{rung:?} is hardly used: {mends_by_rung:?}");
        }
        let times: u32 = ["order", "pay"].iter().filter_map(|name| mapped_by_capability.get(*name)).sum();
        assert!(times >= 4, "mappings are hardly used for calls with side effects: {mapped_by_capability:?}");
    }
}

/// As above, with loops.
#[test]
fn the_invariants_hold_in_many_random_worlds_with_loops() {
    let count = std::env::var("REKNIT_RANDOM_RUNS").map_or(300, |count| count.parse().expect("a number of runs"));
    let (mut done, mut failed, mut skipped) = (0, 0, 0);
    for seed in 0..count {
        let ended = std::panic::catch_unwind(|| {
            drive_with_loops(&mut ChoiceTape::from_seed(seed, TAPE_LENGTH), RestoreTwin::Sometimes).run.steps()
        });
        let Ok(steps) = ended else { panic!("run {seed} violates an invariant") };
        for item in steps.iter().filter(|step| step.item_of.is_some()) {
            match item.state {
                StepState::Done => done += 1,
                StepState::Failed { .. } => failed += 1,
                _ => skipped += 1,
            }
        }
    }
    println!("{count} runs; items: {done} done, {failed} failed, {skipped} skipped");
    assert!(done >= 150 && failed >= 50 && skipped >= 20, "hardly any items: {done} {failed} {skipped}");
}

/// A call that succeeded is not made again: not to confirm it, and not after a retry.
#[test]
fn no_call_with_a_side_effect_succeeds_twice_in_worlds_with_confirmations() {
    let (mut unconfirmed, mut verified, mut polled) = (0, 0, 0);
    for seed in 0..200 {
        let driven = drive_with_confirmations(&mut ChoiceTape::from_seed(seed, TAPE_LENGTH), RestoreTwin::Sometimes);
        let mut succeeded: HashSet<StepId> = HashSet::new();
        for record in driven.records.iter().flatten() {
            let RecordKind::Run(RunRecord::CallEnded { call, end: CallEnd::Replied { .. }, fault: None }) =
                &record.kind
            else {
                continue;
            };
            verified += u32::from(call.id.kind() == EffectKind::Verify);
            if call.side_effect == SideEffect::Read {
                polled += u32::from(call.id.ordinal() > 1);
                continue;
            }
            assert!(succeeded.insert(call.step.clone()), "{} succeeds twice in run {seed}", call.step);
        }
        let is_unconfirmed = |step: &&StepView| matches!(step.state, StepState::Unconfirmed { .. });
        unconfirmed += driven.run.steps().iter().filter(is_unconfirmed).count();
    }
    println!("{unconfirmed} unconfirmed steps, {verified} verifications, {polled} polls");
    assert!(unconfirmed >= 30 && verified >= 30 && polled >= 30, "{unconfirmed} {verified} {polled}");
}

/// In this world, only a step that runs in parallel returns the numbers that would support a model's correction.
#[test]
fn the_result_of_a_parallel_step_is_no_evidence_for_a_correction() {
    drive(&mut ChoiceTape::from_seed(4369, TAPE_LENGTH), RestoreTwin::Sometimes);
}

/// In these worlds an error says "must be one of", and a model corrects a number to 1.
#[test]
fn the_word_one_in_an_error_is_no_evidence_for_the_number() {
    for seed in [6_702, 17_741] {
        drive(&mut ChoiceTape::from_seed(seed, TAPE_LENGTH), RestoreTwin::Sometimes);
    }
}

/// In this world an error names the parameter `Amount` as `amount`, and a model changes another parameter.
#[test]
fn an_error_that_names_a_parameter_in_another_case_refers_to_it() {
    drive(&mut ChoiceTape::from_seed(22_224, TAPE_LENGTH), RestoreTwin::Sometimes);
}

/// In this world the plan of a person has an input whose value a model puts into a call.
#[test]
fn an_input_of_a_persons_plan_supports_a_correction() {
    drive(&mut ChoiceTape::from_seed(24_056, TAPE_LENGTH), RestoreTwin::Sometimes);
}

/// In this world a correction was not sent before the run is retried, and another one follows then.
#[test]
fn the_key_of_a_correction_before_a_retry_is_not_used_again() {
    drive(&mut ChoiceTape::from_seed(8_543, TAPE_LENGTH), RestoreTwin::Sometimes);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn the_invariants_hold_in_every_world(mut tape in tape()) {
        drive(&mut tape, RestoreTwin::AfterEveryEvent);
    }

    #[test]
    fn the_invariants_hold_in_every_world_with_loops(mut tape in tape()) {
        drive_with_loops(&mut tape, RestoreTwin::AfterEveryEvent);
    }

    #[test]
    fn a_run_is_restored_after_every_event_in_every_world_with_confirmations(mut tape in tape()) {
        drive_with_confirmations(&mut tape, RestoreTwin::AfterEveryEvent);
    }

    #[test]
    fn a_replayed_run_returns_the_records_of_the_driven_run(mut tape in tape(), kind in 0_usize..3) {
        let drive = [drive, drive_with_loops, drive_with_confirmations][kind];
        let driven = drive(&mut tape, RestoreTwin::Sometimes);
        let replayed = Machine::replay(&driven.events).expect("the events can be replayed");
        let Some((Machine::Run(run), records)) = replayed else { panic!("the events are those of a run") };
        prop_assert_eq!(records, driven.records);
        prop_assert_eq!(snapshot(&run), snapshot(&driven.run));
    }

    #[test]
    fn a_rejected_call_is_never_repeated_whatever_models_propose(values in prop::collection::vec(0_u8..4, 1..24)) {
        let mut policy = policy();
        (policy.mending.feedback, policy.mending.context) = (8, 8);
        let mut play = Play::begin(started(Some(plan(vec![step("s", "read", r#"{"n": 0}"#)])), policy));
        let (mut sent, mut values) = (Vec::new(), values.into_iter().cycle());
        while play.run.answer().is_none() {
            let due = play.due().swap_remove(0);
            if effect_id(&due).kind() == EffectKind::Call {
                let parameters = play.call(&due).parameters.to_string();
                prop_assert!(!sent.contains(&parameters), "{parameters} was rejected before: {sent:?}");
                sent.push(parameters);
                play.answer_tool(&due, 422, "{}");
            } else {
                let value = values.next().unwrap_or_default();
                let advice = format!(r#"{{"should_retry": true, "suggested_changes": {{"n": {value}}}}}"#);
                play.answer_model(&due, &advice);
            }
        }
    }

    #[test]
    fn no_stored_mapping_reaches_an_unsafe_call_without_approval(
        is_accepted in any::<bool>(), approves in any::<bool>(), value in "[a-z]{1,3}|[0-9]{1,4}", is_number in any::<bool>(),
    ) {
        let status = if is_accepted { MappingStatus::Accepted } else { MappingStatus::Inferred };
        let number = value.trim_start_matches('0').parse::<u32>().ok().filter(|_| is_number);
        let found = number.map_or_else(|| format!("\"{value}\""), |number| number.to_string());
        let mut play = mapped("unsafe", status, policy(), &format!(r#"{{"found": {found}}}"#));
        prop_assert_eq!(&play.due()[0], "s/approval/1");
        let decision = if approves { Decision::Approve } else { Decision::Deny { reason: None } };
        play.decide(decision);
        prop_assert_eq!(play.due().iter().any(|due| due == "s/call/1"), approves);
    }

    #[test]
    fn a_value_that_the_request_has_is_sent_only_for_a_parameter_that_the_error_refers_to(
        class in prop::sample::select(vec!["idempotent", "keyed", "undeclared"]),
        names in prop::sample::subsequence(vec!["amount", "quantity", "memo", "days", "limit"], 2),
        by_value in any::<bool>(), is_referred in any::<bool>(),
    ) {
        let (changed, other) = (names[0], names[1]);
        let (name, value) = if is_referred { (changed, 17) } else { (other, 23) };
        let error = if by_value { format!("'{value}' is not accepted") } else { format!("{name} is wrong") };
        let parameters = format!(r#"{{"{changed}": 17, "{other}": 23}}"#);
        let play = corrected(policy(), class, &parameters, &error, &format!(r#"{{"{changed}": 100}}"#));
        prop_assert_eq!(&play.due()[0], if is_referred { "s/call/2" } else { "s/approval/1" });
    }

    #[test]
    fn an_event_survives_serialization(mut tape in tape()) {
        for event in &drive(&mut tape, RestoreTwin::Sometimes).events {
            let text = serde_json::to_string(event).expect("an event can be serialized");
            let back: Event = serde_json::from_str(&text).expect("an event can be deserialized");
            prop_assert_eq!(&back, event);
        }
    }

    #[test]
    fn a_duplicate_outcome_does_not_change_the_pending_effects(mut tape in tape()) {
        let driven = drive(&mut tape, RestoreTwin::Sometimes);
        let (first, rest) = driven.events.split_first().expect("there is a first event");
        let (mut run, _) = Run::begin(first).expect("the run begins");
        for event in rest {
            run.apply(event).expect("the run applies the event");
            if event.kind.effect().is_some() {
                let mut again = run.clone();
                again.apply(event).expect("the run applies the event");
                prop_assert_eq!(again.pending(), run.pending());
            }
        }
    }
}
