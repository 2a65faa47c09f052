//! A run is resumed only if its tools and models are available.

use std::process::Child;

use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedTool};
use reknit_protocol::{SideEffect, Value};

use crate::world::{World, plan};

async fn shop(reply: Reply) -> RunningTool {
    let shop = ScriptedTool::new("shop").capability("price", SideEffect::Read).on("price", CallMatcher::any(), reply);
    shop.start().await.expect("the tool starts")
}

/// A run whose process was killed during its only call, and whose tool has stopped.
async fn left_behind() -> World {
    let shop = shop(Reply::silence()).await;
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(&[("price", "{}")]));
    let child = world.spawn(&["run", "--answer", "template", "plan.json"]);
    shop.wait_for_calls(1).await;
    kill(child);
    world
}

fn kill(mut child: Child) {
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_not_resumed_while_its_tool_is_missing() {
    let world = left_behind().await;
    insta::assert_snapshot!(world.reknit(&["runs", "resume", "last"]), @"
    exit status 2 --- stderr
    warning: tool `shop` at http://127.0.0.1:PORT/: connection refused; is the tool running? (its last known capabilities are used)
    error: `price` of tool `shop` is not configured here; go on with run `RUN` where it is

    hint: start or configure what is missing (`--tool NAME=URL`, `--model-url URL`, reknit.toml) and go on again; the run is saved
    ");
    insta::assert_snapshot!(world.reknit(&["runs", "list"]), @"
    exit status 0 --- stdout
    RUN                                      STARTED  STATUS   REQUEST
    RUN  AGE  stopped  shopping
    ");

    let again = shop(Reply::data(Value::from(12))).await;
    let tool = format!("shop={}", again.base_url());
    insta::assert_snapshot!(world.reknit(&["runs", "resume", "last", "--tool", &tool]), @"
    exit status 0 --- stdout
    Everything was done.

    Done:
    - price (price): 12
    --- stderr
    > price  price  running
    ✓ price  price  done


    complete: 1 of 1 step done, 2 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_can_be_cancelled_without_its_tools() {
    let world = left_behind().await;
    insta::assert_snapshot!(world.reknit(&["runs", "cancel", "last"]), @"
    exit status 0 --- stdout
    The run was cancelled.

    Missing:
    - price (price): failed: the process that made the call ended before the answer came; the run was cancelled
    --- stderr
    warning: tool `shop` at http://127.0.0.1:PORT/: connection refused; is the tool running? (its last known capabilities are used)
    > price  price  running
    ✗ price  price  failed: the process that made the call ended before the answer came; the run was cancelled


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
async fn a_tool_argument_overrides_the_tool_in_the_file() {
    let (stale, fresh) = (shop(Reply::status(500)).await, shop(Reply::data(Value::from(12))).await);
    let world = World::with_tools(&[&stale]).file("plan.json", &plan(&[("price", "{}")]));
    let tool = format!("shop={}", fresh.base_url());
    let output = world.output(&["run", "--answer", "template", "--tool", &tool, "plan.json"]);
    assert_eq!((output.status.code(), stale.call_count(), fresh.call_count()), (Some(0), 0, 1));
}
