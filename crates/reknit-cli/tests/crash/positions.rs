//! Runs killed at every position of the journal.

use std::collections::HashSet;

use reknit_protocol::SideEffect;

use crate::world::{STEPS, World, kill, outcome};

/// Kills the run after this number of answers, resumes it, and compares it with a run that was not killed.
async fn killed_after(answers: usize) {
    let case = format!("{answers} answers");
    let whole = World::new().await;
    whole.barrier.release_all();
    let expected = outcome(&whole.start().wait_with_output().expect("it ends"));

    let world = World::new().await;
    let child = world.start();
    for _ in 0..answers {
        world.barrier.wait_for_arrivals(1).await;
        world.barrier.release_one();
    }
    // The next call is in progress: it is claimed, if its class needs that, and has no answer.
    world.tool.wait_for_calls(answers + 1).await;
    let before = world.wait_for_events(answers + 1).await;
    kill(child);
    world.barrier.release_all();

    let (in_doubt, class) = STEPS[answers];
    let mut resumed = world.resume();
    if class == SideEffect::Unsafe {
        assert_eq!(resumed.status.code(), Some(6), "{case}: it must wait for a person");
        assert_eq!(world.tool.calls_of(in_doubt).len(), 1, "{case}: it must not be sent again on its own");
        let approved = world.finish(&["runs", "approve", "last"]);
        assert!(approved.status.success(), "{case}: {}", String::from_utf8_lossy(&approved.stderr));
        resumed = world.resume();
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
        assert_eq!(keys.contains(&None), *class == SideEffect::Read, "{case}: `{name}`");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_killed_at_any_event_has_the_same_result() {
    for answers in 0..STEPS.len() {
        killed_after(answers).await;
    }
}
