//! Other processes look at a run, or end it, while it is driven.

use reknit_protocol::Value;

use crate::world::{World, kill, stderr};

fn status(world: &World) -> String {
    let listed = world.finish(&["runs", "list", "--json"]);
    assert_eq!(listed.status.code(), Some(0), "{}", stderr(&listed));
    let line = Value::parse(&String::from_utf8_lossy(&listed.stdout)).expect("one run, as JSON");
    line.get("status").and_then(Value::as_str).expect("a status").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_listed_and_shown_while_it_runs() {
    let world = World::new().await;
    let child = world.start("steady");
    world.tool.called(1).await;
    assert_eq!(status(&world), "running");
    let shown = world.finish(&["runs", "show", "last"]);
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(text.contains("> look   look   running"), "{text}");
    world.gate.open();
    let ended = child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(0), "{}", stderr(&ended));
    assert_eq!(status(&world), "complete");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_driven_ends_when_another_process_cancels_it() {
    for driver in ["steady", "segments"] {
        let world = World::new().await;
        let child = world.start(driver);
        world.tool.called(1).await;
        let told = world.finish(&["runs", "cancel", "last"]);
        assert_eq!(told.status.code(), Some(0), "{driver}: {}", stderr(&told));
        let words = format!("process {} on ", child.id());
        assert!(
            stderr(&told).starts_with(&words) && stderr(&told).contains(" was told to end run "),
            "{}",
            stderr(&told)
        );
        let ended = child.wait_with_output().expect("it ends");
        assert_eq!(ended.status.code(), Some(130), "{driver}: {}", stderr(&ended));
        assert_eq!(status(&world), "cancelled", "{driver}");
        assert_eq!(world.tool.count(), 1, "{driver}: nothing more was called");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_nobody_drives_is_cancelled_on_the_spot() {
    for driver in ["steady", "segments"] {
        let world = World::new().await;
        let child = world.start(driver);
        world.tool.called(1).await;
        kill(child);
        assert_eq!(status(&world), "stopped", "{driver}");
        let cancelled = world.finish(&["runs", "cancel", "last", "--driver", driver]);
        assert_eq!(cancelled.status.code(), Some(0), "{driver}: {}", stderr(&cancelled));
        assert_eq!(status(&world), "cancelled", "{driver}");
        assert_eq!(world.tool.count(), 1, "{driver}: nothing more was called");
    }
}
