//! Runs killed at random times, and again while they are resumed.

use std::collections::HashSet;
use std::process::Child;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use reknit_journal::StoredEvent;
use reknit_protocol::{SideEffect, Value};

use crate::world::{STEPS, World, done, kill, outcome, stderr};

const CASES: u64 = 20;

/// The longest time between the start of a process and its kill, if no call is awaited first.
const MAX_KILL_DELAY_MS: u64 = 150;

/// A deterministic random number generator.
struct SeededRandom(AtomicU64);

impl SeededRandom {
    fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// A number below the limit, by splitmix64.
    fn below(&self, limit: u64) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut number = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (number ^ (number >> 31)) % limit
    }

    fn pick(&self, count: usize) -> usize {
        usize::try_from(self.below(count as u64)).expect("it is below a count")
    }
}

/// The number of steps whose answers are in the journal. Steps run in sequence, so these are the first ones.
fn answered(events: &[StoredEvent]) -> usize {
    let effects: HashSet<String> = events
        .iter()
        .filter(|event| event.kind == "tool_answered")
        .map(|event| {
            let body = Value::parse(&event.body).expect("an event is JSON");
            let answered = body.get("kind").and_then(|kind| kind.get("tool_answered")).expect("a tool answered");
            answered.get("effect").and_then(Value::as_str).expect("the id of the effect").to_owned()
        })
        .collect();
    effects.len()
}

/// Waits for a random time after the start of a process or after one of its calls. The start takes long on a busy machine, so
/// that a time after the start alone would mostly hit the start itself.
async fn wait_for_random_time(world: &World, child: &mut Child, random: &SeededRandom) {
    let pause = if random.below(4) == 0 {
        random.below(MAX_KILL_DELAY_MS)
    } else {
        let calls = world.tool.call_count() + 1 + random.pick(STEPS.len());
        while world.tool.call_count() < calls && child.try_wait().expect("it can be asked").is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // A little longer than an answer and its commit take.
        random.below(25)
    };
    tokio::time::sleep(Duration::from_millis(pause)).await;
}

/// Kills a run at random times and resumes it. Returns whether it was killed before its end.
async fn killed_at_random(seed: u64, expected: &(Value, Vec<(Value, Value)>)) -> bool {
    let random = SeededRandom::new(seed);
    let world = World::answering(|name| done(name).delay(Duration::from_millis(5 + random.below(16)))).await;
    let mut kept: Vec<StoredEvent> = Vec::new();
    let mut settled: Vec<usize> = Vec::new();
    let kills = 1 + random.below(2);
    for attempt in 0..kills {
        let mut child = match attempt {
            0 => world.start(),
            _ => world.spawn(&["runs", "resume", "last", "--json"]),
        };
        wait_for_random_time(&world, &mut child, &random).await;
        kill(child);
        let events = world.events().await;
        let case = format!("seed {seed}, kill {attempt}, {} events", events.len());
        assert!(events.starts_with(&kept), "{case}: committed events have changed");
        for (index, calls) in settled.iter().enumerate() {
            assert_eq!(world.tool.calls_of(STEPS[index].0).len(), *calls, "{case}: the call was answered already");
        }
        settled = STEPS.iter().take(answered(&events)).map(|(name, _)| world.tool.calls_of(name).len()).collect();
        kept = events;
    }

    let case = format!("seed {seed}, {kills} kills, {} events", kept.len());
    let Some(_) = kept.first() else {
        assert_eq!(world.tool.call_count(), 0, "{case}: a call was sent before it was committed");
        return false;
    };
    let (approvals, mut end) = world.resume_to_the_end();
    let had_ended = stderr(&end).contains("has ended (complete)");
    if had_ended {
        end = world.finish(&["runs", "show", "last", "--json"]);
    }
    assert_eq!(end.status.code(), Some(0), "{case}: {}", stderr(&end));
    assert_eq!(&outcome(&end), expected, "{case}");
    assert!(world.events().await.starts_with(&kept), "{case}: committed events have changed");
    for (index, (name, class)) in STEPS.iter().enumerate() {
        let calls = world.tool.calls_of(name);
        match settled.get(index) {
            Some(before) => assert_eq!(calls.len(), *before, "{case}: `{name}` was answered already"),
            None if *class == SideEffect::Unsafe => assert!(calls.len() <= 1 + approvals, "{case}: `{name}`"),
            None => assert!(calls.len() <= 1 + usize::try_from(kills).unwrap_or(usize::MAX), "{case}: `{name}`"),
        }
        let keys: HashSet<_> = calls.iter().map(|call| call.idempotency_key.clone()).collect();
        assert_eq!(keys.len(), 1, "{case}: `{name}` has the keys {keys:?}");
        assert_eq!(keys.contains(&None), *class == SideEffect::Read, "{case}: `{name}`");
    }
    !had_ended
}

async fn every_seed() {
    let whole = World::answering(done).await;
    let expected = outcome(&whole.start().wait_with_output().expect("it ends"));
    let mut killed_before_end = 0;
    for seed in 0..CASES {
        killed_before_end += u32::from(killed_at_random(seed, &expected).await);
    }
    assert!(killed_before_end > 0, "every run was killed too early or too late to test anything");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_killed_at_any_time_has_the_same_result() {
    every_seed().await;
}
