//! `reknit runs prune`, `delete` and `resume --all`.

use std::fs;
use std::process::Output;

use crate::world::{STEPS, World, done, kill, stderr, stdout};

fn start(world: &World, id: &str) -> Output {
    let plan = world.path("plan.json");
    world.finish(&["run", &plan.to_string_lossy(), "--run-id", id, "--answer", "template", "--json"])
}

fn listed(world: &World) -> usize {
    stdout(&world.finish(&["runs", "list", "--all", "--json"])).lines().count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pruned_run_is_not_done_again_and_its_id_says_what_became_of_it() {
    let world = World::answering(done).await;
    for id in ["one", "two"] {
        assert_eq!(start(&world, id).status.code(), Some(0));
    }
    let preview = world.finish(&["runs", "prune", "--keep", "1", "--dry-run"]);
    assert!(stdout(&preview).contains("would prune: 1 of 2 ended runs"), "{}", stdout(&preview));
    assert_eq!(listed(&world), 2);
    let pruned = world.finish(&["runs", "prune", "--keep", "1"]);
    assert!(stdout(&pruned).contains("kept: at most 1 ended runs; and all that have not ended"), "{}", stdout(&pruned));
    assert!(stdout(&pruned).contains("pruned: 1 run, "), "{} {}", stdout(&pruned), stderr(&pruned));
    assert_eq!(listed(&world), 1);

    let again = start(&world, "one");
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    assert!(stderr(&again).contains("note: run `one` was pruned on "), "{}", stderr(&again));
    assert!(stderr(&again).contains("; its status was complete; nothing is done again"), "{}", stderr(&again));
    let other = world.finish(&["run", &world.path("plan.json").to_string_lossy(), "--run-id", "one", "--meta", "a=b"]);
    assert_eq!(other.status.code(), Some(2), "{}", stderr(&other));
    assert_eq!(world.tool.call_count(), 2 * STEPS.len());
    let shown = world.finish(&["runs", "show", "one"]);
    assert!(stderr(&shown).contains("run `one` was pruned on "), "{}", stderr(&shown));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_drives_a_run_prunes_by_the_limits_of_the_configuration() {
    let world = World::answering(done).await;
    let config = fs::read_to_string(world.path("reknit.toml")).expect("it is there");
    fs::write(world.path("reknit.toml"), config + "\n[journal]\nkeep-runs = 3\n").expect("it can be written");
    for number in 0..12 {
        assert_eq!(start(&world, &format!("r{number}")).status.code(), Some(0));
    }
    // The last runs ended after their processes had pruned.
    assert!(listed(&world) <= 5, "{} runs are left", listed(&world));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_deleted_once_it_has_ended_or_by_force_but_never_while_a_process_drives_it() {
    let world = World::new().await;
    let child = world.start();
    world.barrier.wait_for_arrivals(1).await;
    let unconfirmed = world.finish(&["runs", "delete", "last"]);
    assert_eq!(unconfirmed.status.code(), Some(2), "{}", stderr(&unconfirmed));
    let driven = world.finish(&["runs", "delete", "last", "--yes", "--force"]);
    assert!(stderr(&driven).contains(" is driven by process "), "{}", stderr(&driven));
    kill(child);
    let unfinished = world.finish(&["runs", "delete", "last", "--yes"]);
    assert!(stderr(&unfinished).contains(" has not ended"), "{}", stderr(&unfinished));
    let forced = world.finish(&["runs", "delete", "last", "--yes", "--force"]);
    assert_eq!(forced.status.code(), Some(0), "{}", stderr(&forced));
    assert_eq!(listed(&world), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_runs_that_a_restart_interrupted_are_continued_by_one_command() {
    let world = World::new().await;
    let children: Vec<_> = (0..3).map(|_| world.start()).collect();
    world.barrier.wait_for_arrivals(3).await;
    children.into_iter().for_each(kill);
    world.barrier.release_all();
    let resumed = world.finish(&["runs", "resume", "--all"]);
    assert_eq!(resumed.status.code(), Some(0), "{}{}", stdout(&resumed), stderr(&resumed));
    let lines = stdout(&resumed);
    assert_eq!(lines.lines().filter(|line| line.ends_with("  complete")).count(), 3, "{lines}");
    let again = world.finish(&["runs", "resume", "--all"]);
    assert_eq!((again.status.code(), stdout(&again).as_str()), (Some(0), ""), "{}", stderr(&again));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_run_is_continued_with_all_only_once_there_is_a_decision() {
    let world = World::answering(done).await;
    let plan = world.path("plan.json");
    let waiting = world.finish(&["run", &plan.to_string_lossy(), "--ask", "all", "--answer", "template"]);
    assert_eq!(waiting.status.code(), Some(6), "{}", stderr(&waiting));
    let left_alone = world.finish(&["runs", "resume", "--all"]);
    assert_eq!((left_alone.status.code(), stdout(&left_alone).as_str()), (Some(0), ""), "{}", stderr(&left_alone));
    assert!(world.finish(&["runs", "approve", "last"]).status.success());
    let resumed = world.finish(&["runs", "resume", "--all"]);
    assert_eq!(resumed.status.code(), Some(6), "the next call needs approval too: {}", stderr(&resumed));
    assert!(stdout(&resumed).ends_with("  waiting\n"), "{}", stdout(&resumed));
}
