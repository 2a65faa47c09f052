//! A run is driven on only where everything is that it needs.

use std::process::Child;

use reknit_protocol::{Effect, Value};
use reknit_testing::tool::{RunningTool, When};
use reknit_testing::{Reply, ScriptedTool};

use crate::world::{World, plan};

async fn shop(reply: Reply) -> RunningTool {
    let shop = ScriptedTool::new("shop").capability("price", Effect::Read).on("price", When::any(), reply);
    shop.start().await.expect("the tool starts")
}

/// A run whose process was killed while its only call was under way, and whose tool is gone too.
async fn left_behind() -> World {
    let shop = shop(Reply::silence()).await;
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(&[("price", "{}")]));
    let child = world.spawn(&["run", "--answer", "template", "plan.json"]);
    shop.called(1).await;
    kill(child);
    world
}

fn kill(mut child: Child) {
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_not_failed_because_its_tool_is_not_started_yet() {
    let world = left_behind().await;
    insta::assert_snapshot!(world.reknit(&["runs", "resume", "last"]), @"
    exit status 2
    --- stderr
    warning: tool `shop` at http://127.0.0.1:PORT/: nobody answers there; is it running?
    error: run `RUN` needs what is not there: `price` of tool `shop`

    hint: start it, or say where it is (`--tool NAME=URL`, `--model-url URL`, reknit.toml), and resume again; nothing is lost
    ");
    insta::assert_snapshot!(world.reknit(&["runs", "list"]), @"
    exit status 0
    --- stdout
    RUN  AGE  stopped           shopping
    ");

    let again = shop(Reply::data(Value::from(12))).await;
    let tool = format!("shop={}", again.base_url());
    insta::assert_snapshot!(world.reknit(&["runs", "resume", "last", "--tool", &tool]), @"
    exit status 0
    --- stdout
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
    insta::assert_snapshot!(world.reknit(&["runs", "cancel", "last"]), @r#"
    exit status 0
    --- stdout
    The run was cancelled.

    Missing:
    - price (price): failed: the process that made the call ended before the answer came; the run was cancelled
    --- stderr
    warning: tool `shop` at http://127.0.0.1:PORT/: nobody answers there; is it running?
    > price  price  running
    ✗ price  price  failed: the process that made the call ended before the answer came; the run was cancelled


    cancelled (the run was cancelled): 0 of 1 step done, 1 tool call, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    insta::assert_snapshot!(world.reknit(&["runs", "list"]), @"
    exit status 0
    --- stdout
    RUN  AGE  cancelled         shopping
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_is_typed_takes_the_place_of_the_one_in_the_file() {
    let (stale, fresh) = (shop(Reply::status(500)).await, shop(Reply::data(Value::from(12))).await);
    let world = World::with_tools(&[&stale]).file("plan.json", &plan(&[("price", "{}")]));
    let tool = format!("shop={}", fresh.base_url());
    let output = world.output(&["run", "--answer", "template", "--tool", &tool, "plan.json"]);
    assert_eq!((output.status.code(), stale.count(), fresh.count()), (Some(0), 0, 1));
}
