//! Ctrl-C, SIGTERM and SIGHUP.

use std::process::Child;

use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedTool};
use reknit_protocol::SideEffect;
use rustix::process::{Pid, Signal, kill_process, test_kill_process_group};

use crate::world::{World, plan};

/// A shop that never answers.
async fn slow_shop() -> RunningTool {
    let shop = ScriptedTool::new("shop")
        .capability("price", SideEffect::Read)
        .capability("pay", SideEffect::Unsafe)
        .on("price", CallMatcher::any(), Reply::silence())
        .on("pay", CallMatcher::any(), Reply::silence());
    shop.start().await.expect("the tool starts")
}

pub(crate) fn interrupt(child: &Child) {
    send(child, Signal::INT);
}

fn send(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process id");
    kill_process(pid, signal).expect("the process is there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_interrupt_cancels_the_run_and_exits_with_130() {
    let shop = slow_shop().await;
    let world = World::new()
        .configured(&[&shop], "[limits]\ndrain-time = \"50ms\"\n")
        .file("plan.json", &plan(&[("price", "{}")]));
    let child = world.spawn(&["run", "--answer", "template", "plan.json"]);
    shop.wait_for_calls(1).await;
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    insta::assert_snapshot!(world.show(&output), @"
    exit status 130 --- stdout
    The run was cancelled.

    Missing:
    - price (price): failed: given up: no answer came within 50 ms after the run was told to end; the run was cancelled
    --- stderr
    > price  price  running
    cancelling: calls in progress may still complete; press Ctrl-C again to exit now
    ✗ price  price  failed: given up: no answer came within 50 ms after the run was told to end; the run was cancelled


    cancelled (the run was cancelled): 0 of 1 step done, 1 tool call, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    insta::assert_snapshot!(world.reknit(&["runs", "list"]), @"
    exit status 0 --- stdout
    RUN                                      STARTED  STATUS     REQUEST
    RUN  AGE  cancelled  shopping
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_interrupts_exit_and_resume_cancels_the_run() {
    let shop = slow_shop().await;
    let world =
        World::new().configured(&[&shop], "[limits]\ndrain-time = \"1h\"\n").file("plan.json", &plan(&[("pay", "{}")]));
    let child = world.spawn(&["run", "--answer", "template", "plan.json"]);
    shop.wait_for_calls(1).await;
    interrupt(&child);
    // Wait for the effect of the first signal: the system merges two pending signals into one.
    while !world.reknit(&["runs", "show", "last", "--events"]).contains("cancelled") {
        tokio::task::yield_now().await;
    }
    interrupt(&child);
    let output = child.wait_with_output().expect("it ends");
    insta::assert_snapshot!(world.show(&output), @"
    exit status 130 --- stderr
    > pay  pay  running
    cancelling: calls in progress may still complete; press Ctrl-C again to exit now
    ");
    insta::assert_snapshot!(world.reknit(&["runs", "list"]), @"
    exit status 0 --- stdout
    RUN                                      STARTED  STATUS   REQUEST
    RUN  AGE  stopped  shopping
    ");
    insta::assert_snapshot!(world.reknit(&["runs", "resume", "last"]), @"
    exit status 130 --- stdout
    The run was cancelled.

    Missing:
    - pay (pay): failed (the call may have taken effect): the process that made the call ended before the answer came; the run was cancelled
    --- stderr
    > pay  pay  running
    ✗ pay  pay  failed: the process that made the call ended before the answer came; the run was cancelled


    cancelled (the run was cancelled): 0 of 1 step done, 1 tool call, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    assert_eq!(shop.call_count(), 1, "what may have happened is not sent again on the way out");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_to_terminate_or_to_hang_up_cancels_the_run_like_an_interrupt() {
    for signal in [Signal::TERM, Signal::HUP] {
        let shop = slow_shop().await;
        let world = World::new()
            .configured(&[&shop], "[limits]\ndrain-time = \"50ms\"\n")
            .file("plan.json", &plan(&[("price", "{}")]));
        let child = world.spawn(&["run", "--answer", "template", "plan.json"]);
        shop.wait_for_calls(1).await;
        send(&child, signal);
        let output = child.wait_with_output().expect("it ends");
        let shown = world.show(&output);
        assert!(shown.starts_with("exit status 130 --- stdout\nThe run was cancelled.\n"), "{signal:?}: {shown}");
        assert!(world.reknit(&["runs", "list"]).contains("cancelled"), "{signal:?}");
    }
}

#[test]
fn a_signal_ends_the_programs_that_were_started_to_list_tools() {
    for (signal, command) in [
        (Signal::INT, &["tools", "list"][..]),
        (Signal::TERM, &["tools", "check"]),
        (Signal::HUP, &["tools", "call", "hung/x"]),
        (Signal::INT, &["tools", "add", "--", "sh", "-c", "echo $$ > started; sleep 600 & wait"]),
    ] {
        let script = "[[mcp]]\nname = \"hung\"\ncommand = [\"sh\", \"-c\", \"echo $$ > started; sleep 600 & wait\"]\n";
        let world = World::new().file("reknit.toml", script);
        let config = ["--config", "reknit.toml"];
        let (before, behind) = command.split_at(2);
        let child = world.spawn(&[before, &config, behind].concat());
        let started = world.path().join("started");
        let group = loop {
            let text = std::fs::read_to_string(&started).unwrap_or_default();
            if let Some(group) = text.trim().parse().ok().and_then(Pid::from_raw) {
                break group;
            }
            std::thread::yield_now();
        };
        send(&child, signal);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(130), "{command:?}: {}", world.show(&output));
        // The processes are killed; they are gone once the system has noticed.
        while test_kill_process_group(group).is_ok() {
            std::thread::yield_now();
        }
    }
}
