//! `reknit runs retry` in processes of their own.

use std::process::Output;

use reknit_fakes::Reply;

use crate::world::{World, outcome, stderr};

fn start(world: &World) -> Output {
    let plan = world.path("plan.json");
    world.finish(&["run", &plan.to_string_lossy(), "--answer", "template", "--json"])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_failed_and_skipped_steps_of_a_run_are_tried_again_and_done_ones_are_not() {
    let world = World::failing_once("note", Reply::status(403)).await;
    let first = start(&world);
    assert_eq!(first.status.code(), Some(3), "{}", stderr(&first));
    let retried = world.finish(&["runs", "retry", "last", "--answer", "template", "--json"]);
    assert_eq!(retried.status.code(), Some(0), "{}", stderr(&retried));
    assert_eq!(outcome(&retried).0, "complete".into());
    let calls: Vec<usize> =
        ["look", "order", "note", "pay", "check"].iter().map(|name| world.tool.calls_of(name).len()).collect();
    assert_eq!(calls, [1, 1, 2, 1, 1]);
    let shown = world.finish(&["runs", "show", "last"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("\nretried  1 time\n"), "{shown:?}");
    let again = world.finish(&["runs", "retry", "last"]);
    assert_eq!(again.status.code(), Some(2), "{}", stderr(&again));
    assert!(stderr(&again).contains("cannot be retried: only a run that is partial"), "{}", stderr(&again));
}
