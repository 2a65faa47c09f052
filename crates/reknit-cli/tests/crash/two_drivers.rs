//! Two processes try to drive the same run.

use std::process::Child;
use std::time::Duration;

use crate::world::{STEPS, TIMEOUT, World, kill, stderr, stdout};

/// Waits until one of two processes has ended, and returns it first.
async fn first_to_end(mut one: Child, mut other: Child) -> (Child, Child) {
    let began = std::time::Instant::now();
    loop {
        if one.try_wait().expect("it can be asked").is_some() {
            return (one, other);
        }
        if other.try_wait().expect("it can be asked").is_some() {
            return (other, one);
        }
        assert!(began.elapsed() < TIMEOUT, "both drive the run");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn contested() {
    let world = World::new().await;
    let child = world.start();
    world.barrier.wait_for_arrivals(1).await;
    world.barrier.release_one();
    world.tool.wait_for_calls(2).await;
    kill(child);

    let resume = ["runs", "resume", "last", "--json"];
    let (one, other) = (world.spawn(&resume), world.spawn(&resume));
    let (loser, winner) = first_to_end(one, other).await;
    let driven_by = format!("is driven by process {} on ", winner.id());
    let loser = loser.wait_with_output().expect("it has ended");
    assert_eq!(loser.status.code(), Some(1), "{}", stderr(&loser));
    assert!(stdout(&loser).contains(&driven_by), "{}", stdout(&loser));

    world.barrier.release_all();
    let winner = winner.wait_with_output().expect("it ends");
    assert_eq!(winner.status.code(), Some(0), "{}", stderr(&winner));
    for (index, (name, _)) in STEPS.iter().enumerate() {
        // The second call was in progress when its process was killed.
        let expected = if index == 1 { 2 } else { 1 };
        assert_eq!(world.tool.calls_of(name).len(), expected, "`{name}`");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exactly_one_of_two_processes_drives_a_run() {
    for _ in 0..3 {
        contested().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_driven_run_cannot_be_resumed_elsewhere() {
    let world = World::new().await;
    let child = world.start();
    world.tool.wait_for_calls(1).await;
    let refused = world.resume();
    assert_eq!(refused.status.code(), Some(1));
    let masked = stdout(&refused).replace(&child.id().to_string(), "PID");
    assert!(masked.starts_with(r#"{"error":{"message":"run `"#), "{masked}");
    assert!(masked.contains("` is driven by process PID on "), "{masked}");
    assert!(masked.contains(r#""hint":"follow it with `reknit runs show "#), "{masked}");
    world.barrier.release_all();
    assert_eq!(child.wait_with_output().expect("it ends").status.code(), Some(0));
    assert_eq!(world.tool.call_count(), STEPS.len());
}
