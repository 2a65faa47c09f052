//! A command with `--run-id` that is run again does nothing twice.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Output};

use crate::world::{STEPS, World, done, kill, outcome, stderr};

/// How often two processes start the same id. `bench/attack` does it more often.
const ROUNDS: usize = 24;

fn plan(world: &World) -> String {
    world.path("plan.json").to_string_lossy().into_owned()
}

fn start(world: &World, id: &str) -> Child {
    world.spawn(&["run", &plan(world), "--run-id", id, "--answer", "template", "--json"])
}

fn end(child: Child) -> Output {
    child.wait_with_output().expect("it ends")
}

fn finish(world: &World, id: &str) -> Output {
    end(start(world, id))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_that_start_the_same_id_at_once_make_each_call_once_and_print_the_same() {
    let world = World::answering(done).await;
    for round in 0..ROUNDS {
        let id = format!("order-{round}");
        let (one, other) = (start(&world, &id), start(&world, &id));
        let (one, other) = (end(one), end(other));
        for output in [&one, &other] {
            assert_eq!(output.status.code(), Some(0), "round {round}: {}", stderr(output));
        }
        assert_eq!(outcome(&one), outcome(&other), "round {round}");
        for (name, _) in STEPS {
            assert_eq!(world.tool.calls_of(name).len(), round + 1, "round {round}: `{name}`");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_outcome_of_an_ended_run_is_printed_again_even_if_its_tool_is_gone() {
    let world = World::answering(done).await;
    let first = finish(&world, "order-7");
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    fs::write(world.path("reknit.toml"), "").expect("it can be written");
    let second = finish(&world, "order-7");
    assert_eq!(second.status.code(), Some(0), "{}", stderr(&second));
    assert_eq!(second.stdout, first.stdout);
    assert!(stderr(&second).starts_with("note: run `order-7` was started on "), "{}", stderr(&second));
    assert!(stderr(&second).contains(": nothing is done again, and this is its outcome\n"), "{}", stderr(&second));
    assert_eq!(world.tool.call_count(), STEPS.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_run_is_continued_by_the_same_command() {
    let world = World::new().await;
    let child = start(&world, "order-7");
    world.barrier.wait_for_arrivals(1).await;
    kill(child);
    world.barrier.release_all();
    let second = finish(&world, "order-7");
    assert_eq!(second.status.code(), Some(0), "{}", stderr(&second));
    assert!(stderr(&second).contains(": it is continued\n"), "{}", stderr(&second));
    for (name, _) in STEPS {
        // The first call, which only reads, was in progress when its process was killed.
        assert_eq!(world.tool.calls_of(name).len(), if name == "look" { 2 } else { 1 }, "`{name}`");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_another_process_drives_is_waited_for() {
    let world = World::new().await;
    let first = start(&world, "order-7");
    world.barrier.wait_for_arrivals(1).await;
    let mut second = start(&world, "order-7");
    let mut said = BufReader::new(second.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
    let note = format!(": process {} on ", first.id());
    let before: Vec<String> = said.by_ref().take_while(|line| !line.contains(&note)).collect();
    assert!(second.try_wait().expect("it can be asked").is_none(), "it does not wait: {before:?}");
    world.barrier.release_all();
    let (first, rest) = (end(first), said.collect::<Vec<_>>());
    let second = end(second);
    assert_eq!(second.status.code(), Some(0), "{before:?} {rest:?}");
    assert_eq!(outcome(&second), outcome(&first));
    assert_eq!(world.tool.call_count(), STEPS.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_id_with_another_request_is_an_error_with_both_digests() {
    let world = World::answering(done).await;
    assert_eq!(finish(&world, "order-7").status.code(), Some(0));
    let other = world.finish(&["run", &plan(&world), "--run-id", "order-7", "--meta", "tenant=acme"]);
    assert_eq!(other.status.code(), Some(2), "{}", stderr(&other));
    let text = stderr(&other);
    let digests: Vec<&str> = text.split([' ', ',', '\n']).filter(|word| word.len() == 32).collect();
    assert!(matches!(digests.as_slice(), [stored, given] if stored != given), "{text}");
    assert!(text.contains("\nhint: choose another `--run-id`"), "{text}");
    assert_eq!(world.tool.call_count(), STEPS.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_that_is_the_beginning_of_another_one_names_its_own_run() {
    let world = World::answering(done).await;
    for id in ["order-1", "order-10"] {
        assert_eq!(finish(&world, id).status.code(), Some(0));
    }
    let shown = world.finish(&["runs", "show", "order-1"]);
    assert!(shown.status.success(), "{}", stderr(&shown));
    let ambiguous = world.finish(&["runs", "show", "order-"]);
    assert!(stderr(&ambiguous).contains("several runs can be meant by `order-`"), "{}", stderr(&ambiguous));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_with_a_blank_is_bad_usage() {
    let world = World::answering(done).await;
    let refused = finish(&world, "order 7");
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("a run id has only ASCII letters"), "{}", stderr(&refused));
}
