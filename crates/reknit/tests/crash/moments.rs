//! Killed at random moments, and again while it is resumed.

use std::collections::HashSet;
use std::process::Child;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use reknit_journal::Record;
use reknit_protocol::{Effect, Value};

use crate::world::{STEPS, World, done, kill, outcome, stderr};

const CASES: u64 = 20;

/// Kills after the start come within this time.
const LATEST_MS: u64 = 150;

/// Numbers that look random and are the same each time.
struct Dice(AtomicU64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// The generator that is known as splitmix64.
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

/// How many steps have their answers in the journal. They run one after the other, so these are the first ones.
fn answered(events: &[Record]) -> usize {
    let effects: HashSet<String> = events
        .iter()
        .filter(|event| event.kind == "tool_answered")
        .map(|event| {
            let body = Value::parse(&event.body).expect("an event is JSON");
            let what = body.get("what").and_then(|what| what.get("tool_answered")).expect("what happened");
            what.get("effect").and_then(Value::as_str).expect("which effect").to_owned()
        })
        .collect();
    effects.len()
}

/// Waits for a moment of a process: some time after its start, or after one of its calls. How long a process takes to
/// start depends on how busy the machine is, so that time alone would mostly hit that.
async fn moment(world: &World, child: &mut Child, dice: &Dice) {
    let pause = if dice.below(4) == 0 {
        dice.below(LATEST_MS)
    } else {
        let calls = world.tool.count() + 1 + dice.pick(STEPS.len());
        while world.tool.count() < calls && child.try_wait().expect("it can be asked").is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // As long as an answer and its commit take, and a little longer.
        dice.below(25)
    };
    tokio::time::sleep(Duration::from_millis(pause)).await;
}

/// Whether the run was killed in its midst.
async fn killed_at_random(seed: u64, driver: &str, expected: &(Value, Vec<(Value, Value)>)) -> bool {
    let dice = Dice::new(seed);
    let world = World::answering(|name| done(name).delay(Duration::from_millis(5 + dice.below(16)))).await;
    let mut kept: Vec<Record> = Vec::new();
    let mut settled: Vec<usize> = Vec::new();
    let kills = 1 + dice.below(2);
    for attempt in 0..kills {
        let mut child = match attempt {
            0 => world.start(driver),
            _ => world.spawn(&["runs", "resume", "last", "--driver", driver, "--json"]),
        };
        moment(&world, &mut child, &dice).await;
        kill(child);
        let events = world.events().await;
        let case = format!("{driver} driver, seed {seed}, kill {attempt}, {} events", events.len());
        assert!(events.starts_with(&kept), "{case}: what was committed has changed");
        for (index, calls) in settled.iter().enumerate() {
            assert_eq!(world.tool.calls_of(STEPS[index].0).len(), *calls, "{case}: an answer was there already");
        }
        settled = STEPS.iter().take(answered(&events)).map(|(name, _)| world.tool.calls_of(name).len()).collect();
        kept = events;
    }

    let case = format!("{driver} driver, seed {seed}, {kills} kills, {} events", kept.len());
    let Some(_) = kept.first() else {
        assert_eq!(world.tool.count(), 0, "{case}: something was called before it was written down");
        return false;
    };
    let (approvals, mut end) = world.resume_to_the_end(driver);
    let was_over = stderr(&end).contains("has ended (complete)");
    if was_over {
        end = world.finish(&["runs", "show", "last", "--json"]);
    }
    assert_eq!(end.status.code(), Some(0), "{case}: {}", stderr(&end));
    assert_eq!(&outcome(&end), expected, "{case}");
    assert!(world.events().await.starts_with(&kept), "{case}: what was committed has changed");
    for (index, (name, class)) in STEPS.iter().enumerate() {
        let calls = world.tool.calls_of(name);
        match settled.get(index) {
            Some(before) => assert_eq!(calls.len(), *before, "{case}: `{name}` was answered already"),
            None if *class == Effect::Unsafe => assert!(calls.len() <= 1 + approvals, "{case}: `{name}`"),
            None => assert!(calls.len() <= 1 + usize::try_from(kills).unwrap_or(usize::MAX), "{case}: `{name}`"),
        }
        let keys: HashSet<_> = calls.iter().map(|call| call.idempotency_key.clone()).collect();
        assert_eq!(keys.len(), 1, "{case}: `{name}` went under {keys:?}");
        assert_eq!(keys.contains(&None), *class == Effect::Read, "{case}: `{name}`");
    }
    !was_over
}

async fn every_seed(driver: &str) {
    let whole = World::answering(done).await;
    let expected = outcome(&whole.start(driver).wait_with_output().expect("it ends"));
    let mut in_its_midst = 0;
    for seed in 0..CASES {
        in_its_midst += u32::from(killed_at_random(seed, driver, &expected).await);
    }
    assert!(in_its_midst > 0, "all were killed too early or too late: nothing was tried");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_killed_at_any_moment_comes_to_the_same_end() {
    every_seed("steady").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_driven_in_segments_and_killed_at_any_moment_comes_to_the_same_end() {
    every_seed("segments").await;
}
