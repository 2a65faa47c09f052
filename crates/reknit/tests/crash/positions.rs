//! Killed at every position of the journal.

use std::collections::HashSet;

use reknit_protocol::Effect;

use crate::world::{STEPS, World, kill, outcome};

/// Kills the run after so many answers, resumes it, and compares it with one that nobody killed.
async fn killed_after(answers: usize, driver: &str) {
    let case = format!("{driver} driver, {answers} answers");
    let whole = World::new().await;
    whole.gate.open();
    let expected = outcome(&whole.start(driver).wait_with_output().expect("it ends"));

    let world = World::new().await;
    let child = world.start(driver);
    for _ in 0..answers {
        world.gate.arrived(1).await;
        world.gate.release_one();
    }
    // The next call is under way: it is claimed, if its class asks for that, and nobody has its answer.
    world.tool.called(answers + 1).await;
    let before = world.wait_for_events(answers + 1).await;
    kill(child);
    world.gate.open();

    let (in_doubt, class) = STEPS[answers];
    let mut resumed = world.resume(driver);
    if class == Effect::Unsafe {
        assert_eq!(resumed.status.code(), Some(6), "{case}: it must wait for a person");
        assert_eq!(world.tool.calls_of(in_doubt).len(), 1, "{case}: it must not be sent again on its own");
        let approved = world.finish(&["runs", "approve", "last"]);
        assert!(approved.status.success(), "{case}: {}", String::from_utf8_lossy(&approved.stderr));
        resumed = world.resume(driver);
    }
    assert_eq!(resumed.status.code(), Some(0), "{case}: {}", String::from_utf8_lossy(&resumed.stderr));
    assert_eq!(outcome(&resumed), expected, "{case}");

    let after = world.events().await;
    assert!(after.starts_with(&before), "{case}: what was committed has changed");
    for (index, (name, class)) in STEPS.iter().enumerate() {
        let calls = world.tool.calls_of(name);
        let expected = if index == answers { 2 } else { 1 };
        assert_eq!(calls.len(), expected, "{case}: `{name}`");
        let keys: HashSet<_> = calls.iter().map(|call| call.idempotency_key.clone()).collect();
        assert_eq!(keys.len(), 1, "{case}: `{name}` went under {keys:?}");
        assert_eq!(keys.contains(&None), *class == Effect::Read, "{case}: `{name}`");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_killed_anywhere_comes_to_the_same_end() {
    for answers in 0..STEPS.len() {
        killed_after(answers, "steady").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_driven_in_segments_and_killed_anywhere_comes_to_the_same_end() {
    for answers in 0..STEPS.len() {
        killed_after(answers, "segments").await;
    }
}
