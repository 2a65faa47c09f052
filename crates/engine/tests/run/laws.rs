//! What holds for every plan, every world and every order of events. The laws themselves, each with its words, are in
//! `hostile/watch.rs`; that every run ends and can be written down anywhere is in `hostile.rs`.

use std::collections::BTreeMap;

use proptest::prelude::*;
use reknit_engine::{Event, Run};
use reknit_mend::{MendEffect, Rung};

use crate::hostile::{Restored, Tape, drive};
use crate::world::{Play, plan, policy, started, step};

/// How long a tape is before it begins again.
const LENGTH: usize = 600;

fn tape() -> impl Strategy<Value = Tape> {
    prop::collection::vec(any::<u8>(), 1..LENGTH).prop_map(Tape::new)
}

/// As many worlds as the environment asks for: `REKNIT_RANDOM_RUNS=1000000 cargo test --release random_worlds`.
#[test]
fn the_laws_hold_in_so_many_random_worlds() {
    let count = std::env::var("REKNIT_RANDOM_RUNS").map_or(300, |count| count.parse().expect("a number of runs"));
    let from = std::env::var("REKNIT_RANDOM_FROM").map_or(0, |from| from.parse().expect("the number of a run"));
    let (mut events, mut calls, mut questions) = (0, 0, 0);
    let mut mended: BTreeMap<Rung, u32> = BTreeMap::new();
    for seed in from..from + count {
        let ended = std::panic::catch_unwind(|| {
            let drive = drive(&mut Tape::of_seed(seed, LENGTH), Restored::Sometimes);
            (drive.events.len(), drive.run.spent(), drive.run.steps())
        });
        let Ok((length, spent, steps)) = ended else { panic!("run {seed} breaks a law") };
        events += length;
        calls += spent.tool_calls;
        questions += spent.model_calls;
        let mends = steps.iter().flat_map(|step| &step.mends);
        for mend in mends.filter(|mend| mend.effect == MendEffect::Applied) {
            *mended.entry(mend.rung).or_default() += 1;
        }
    }
    println!(
        "{count} runs, {events} events, {calls} calls of tools, {questions} questions to models, mended {mended:?}"
    );
    // The laws would hold in worlds in which nothing is ever mended.
    if (from, count) == (0, 300) {
        for (rung, least) in [
            (Rung::Schema, 5),
            (Rung::Facts, 4),
            (Rung::Resend, 50),
            (Rung::Resolution, 10),
            (Rung::Feedback, 10),
            (Rung::Context, 20),
        ] {
            assert!(mended.get(&rung).is_some_and(|times| *times >= least), "{rung:?} is hardly seen: {mended:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn the_laws_hold_in_every_world(mut tape in tape()) {
        drive(&mut tape, Restored::Always);
    }

    #[test]
    fn whatever_models_propose_what_was_refused_is_not_sent_again(values in prop::collection::vec(0_u8..4, 1..24)) {
        let mut policy = policy();
        (policy.mending.feedback, policy.mending.context) = (8, 8);
        let mut play = Play::begin(started(Some(plan(vec![step("s", "read", r#"{"n": 0}"#)])), policy));
        let (mut sent, mut values) = (Vec::new(), values.into_iter().cycle());
        while play.run.answer().is_none() {
            let due = play.due().swap_remove(0);
            if due.contains("/call/") {
                let parameters = play.call(&due).parameters.to_string();
                prop_assert!(!sent.contains(&parameters), "{parameters} was refused before: {sent:?}");
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
    fn an_event_survives_being_written_down(mut tape in tape()) {
        for event in &drive(&mut tape, Restored::Sometimes).events {
            let text = serde_json::to_string(event).expect("it can be written");
            let back: Event = serde_json::from_str(&text).expect("it can be read");
            prop_assert_eq!(&back, event);
        }
    }

    #[test]
    fn an_outcome_delivered_twice_changes_nothing(mut tape in tape()) {
        let drive = drive(&mut tape, Restored::Sometimes);
        let (first, rest) = drive.events.split_first().expect("there is a first event");
        let mut run = Run::begin(first).expect("it begins");
        for event in rest {
            run.apply(event).expect("the event is taken in");
            if event.what.effect().is_some() {
                let mut again = run.clone();
                again.apply(event).expect("the event is taken in");
                prop_assert_eq!(again.pending(), run.pending());
            }
        }
    }
}
