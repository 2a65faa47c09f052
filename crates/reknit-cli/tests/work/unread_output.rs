//! Readers that do not read, and a journal that another process locks.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{CallBarrier, Reply, ScriptedTool};
use reknit_protocol::SideEffect;
use rusqlite::Connection;

use crate::world::{World, plan};

/// Waits for a process that should end by itself, and kills one that hangs.
async fn wait(mut child: Child) -> ExitStatus {
    let start = Instant::now();
    while start.elapsed() < Duration::from_mins(5) {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            return status;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    child.kill().expect("it can be killed");
    panic!("the process hangs");
}

async fn shop(reply: Reply) -> RunningTool {
    let shop = ScriptedTool::new("shop").capability("price", SideEffect::Unsafe).on("price", CallMatcher::any(), reply);
    shop.start().await.expect("the tool starts")
}

/// A plan of the capability `price` whose progress takes more than the 64 kB that a pipe holds.
fn long_plan() -> String {
    let step = |n: usize| {
        let id = format!("{n}-{}", "x".repeat(300));
        format!(
            r#"{{"step_id": "{id}", "agent_name": "shop", "instruction": "", "metadata": {{"capability": "price", "parameters": {{}}}}}}"#
        )
    };
    let steps: Vec<String> = (0..250).map(step).collect();
    format!(r#"{{"plan_id": "p", "original_request": "shopping", "steps": [{}]}}"#, steps.join(", "))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_ends_although_nobody_reads_its_standard_error() {
    let shop = shop(Reply::data("done")).await;
    let limits = "[limits]\ntool-calls = 1000\n[log]\nlevel = \"debug\"\n";
    let world = World::new().configured(&[&shop], limits).file("plan.json", &long_plan());
    let mut command = world.command(&["run", "--answer", "template", "plan.json"]);
    let mut child = command.stdout(Stdio::null()).spawn().expect("the command can be run");
    let _unread = child.stderr.take();
    assert_eq!(wait(child).await.code(), Some(0));
    assert_eq!(shop.call_count(), 250);
    assert!(world.reknit(&["runs", "list"]).contains("complete"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_waits_for_a_journal_that_another_process_locks_for_seconds() {
    let barrier = CallBarrier::new();
    let shop = shop(Reply::data("done").wait_at(&barrier)).await;
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(&[("price", "{}")]));
    let mut child = world.spawn(&["run", "--answer", "template", "plan.json", "--journal", "j.db"]);
    barrier.wait_for_arrivals(1).await;
    let locker = Connection::open(world.path().join("j.db")).expect("the journal is there");
    locker.execute_batch("BEGIN EXCLUSIVE").expect("it can be locked");
    barrier.release_all();
    // Longer than the five seconds that any other write waits.
    tokio::time::sleep(Duration::from_secs(8)).await;
    let mut said = BufReader::new(child.stderr.take().expect("it is piped")).lines().map_while(Result::ok);
    let note = "waiting: another process locks the journal";
    let before: Vec<String> = said.by_ref().take_while(|line| !line.contains(note)).collect();
    assert!(child.try_wait().expect("it can be asked").is_none(), "it does not wait: {before:?}");
    locker.execute_batch("ROLLBACK").expect("it can be unlocked");
    let rest: Vec<String> = said.collect();
    assert!(child.wait_with_output().expect("it ends").status.success(), "{before:?} {rest:?}");
    assert_eq!(shop.call_count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_ends_although_the_collector_accepts_and_never_answers() {
    let collector = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let endpoint = format!("http://{}", collector.local_addr().expect("it is bound"));
    let accepting = std::thread::spawn(move || collector.incoming().take(2).collect::<Vec<_>>());
    let shop = shop(Reply::data("done")).await;
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(&[("price", "{}")]));
    let mut command = world.command(&["run", "--answer", "template", "plan.json"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint).env("OTEL_EXPORTER_OTLP_TIMEOUT", "500");
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command can be run");
    assert_eq!(wait(child).await.code(), Some(0));
    assert!(world.reknit(&["runs", "list"]).contains("complete"));
    drop(accepting);
}
