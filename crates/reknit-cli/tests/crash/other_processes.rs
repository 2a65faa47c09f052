//! Other processes read or cancel a run while it is driven.

use reknit_protocol::Value;

use crate::world::{World, kill, stderr};

fn status(world: &World) -> String {
    let listed = world.finish(&["runs", "list", "--json"]);
    assert_eq!(listed.status.code(), Some(0), "{}", stderr(&listed));
    let line = Value::parse(&String::from_utf8_lossy(&listed.stdout)).expect("one run, as JSON");
    line.get("status").and_then(Value::as_str).expect("a status").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_run_is_listed_and_shown() {
    let world = World::new().await;
    let child = world.start();
    world.tool.wait_for_calls(1).await;
    assert_eq!(status(&world), "running");
    let shown = world.finish(&["runs", "show", "last"]);
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(text.contains("> look   look   running"), "{text}");
    world.barrier.release_all();
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(0), "{}", stderr(&ended));
    assert_eq!(status(&world), "complete");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_process_can_cancel_a_driven_run() {
    let world = World::new().await;
    let child = world.start();
    world.tool.wait_for_calls(1).await;
    let cancelled = world.finish(&["runs", "cancel", "last"]);
    assert_eq!(cancelled.status.code(), Some(0), "{}", stderr(&cancelled));
    let message = stderr(&cancelled);
    assert!(message.starts_with(&format!("asked process {} on ", child.id())), "{message}");
    assert!(message.contains(" to cancel run "), "{message}");
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(130), "{}", stderr(&ended));
    assert_eq!(status(&world), "cancelled");
    assert_eq!(world.tool.call_count(), 1, "nothing more was called");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_without_a_driver_is_cancelled_at_once() {
    let world = World::new().await;
    let child = world.start();
    world.tool.wait_for_calls(1).await;
    kill(child);
    assert_eq!(status(&world), "stopped");
    let cancelled = world.finish(&["runs", "cancel", "last"]);
    assert_eq!(cancelled.status.code(), Some(0), "{}", stderr(&cancelled));
    assert_eq!(status(&world), "cancelled");
    assert_eq!(world.tool.call_count(), 1, "nothing more was called");
}
