//! Plans whose steps run agents.

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::{CallMatcher, RunningTool, ScriptedTool};
use reknit_fakes::{Reply, ScriptedModel};
use reknit_protocol::{SideEffect, Value};

use crate::world::{World, assert_contains, assert_ended, assert_refused};

const CLERK: &str = "---\ntools: [shop/look_up]\n---\nYou work for a shop.\n";
const PLAN: &str = "\
request: Note where orders are
steps:
  - id: clerk
    foreach: [7, 8]
    at_once: 1
    agent: agents/clerk.md
    with: {task: 'Where is order {{item}}?'}
  - id: note
    tool: shop/note
    with: {text: '{{join(map(clerk, item.report), \" \")}}'}
outputs: {said: 'map(clerk, item.status)'}
";

async fn shop() -> RunningTool {
    let data = |text: &str| Reply::data(Value::parse(text).expect("JSON"));
    let shop = ScriptedTool::new("shop")
        .capability("look_up", SideEffect::Read)
        .on("look_up", CallMatcher::any(), data(r#"{"state": "sent"}"#))
        .capability("note", SideEffect::Keyed)
        .on("note", CallMatcher::any(), data(r#"{"noted": true}"#));
    shop.start().await.expect("the shop opens")
}

/// A model that looks an order up and then reports, for each order.
async fn model() -> ScriptedModel {
    let about = |order: u32| RequestMatcher::any().says(format!("Where is order {order}?"));
    let look_up = |order: u32| Reply::tool_call("shop__look_up", format!(r#"{{"id": {order}}}"#));
    let report = |order: u32| {
        Reply::tool_call("agent__final_report", format!(r#"{{"report_content": "Order {order} was sent."}}"#))
    };
    let script = Script::new()
        .on(about(7).lacks(r#""state""#), look_up(7))
        .on(about(7), report(7))
        .on(about(8).lacks(r#""state""#), look_up(8))
        .on(about(8), report(8));
    ScriptedModel::start(script).await.expect("the model starts")
}

fn world(shop: &RunningTool, model: &ScriptedModel) -> World {
    let models = format!("[[models]]\nname = \"local\"\nurl = \"{}\"\nmodel = \"scripted\"\n", model.base_url());
    World::new().configured(&[shop], &models).file("agents/clerk.md", CLERK).file("plan.yaml", PLAN)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_over_an_agent_runs_a_session_for_each_item_and_every_command_names_it() {
    let (shop, model) = (shop().await, model().await);
    let world = world(&shop, &model);
    insta::assert_snapshot!(world.reknit(&["plan", "check", "plan.yaml"]), @r"
    exit status 0 --- stdout
    `plan.yaml` can run: 2 steps, no problems
    ");
    insta::assert_snapshot!(world.reknit(&["plan", "draw", "plan.yaml"]), @r"
    exit status 0 --- stdout
    ○  clerk  agent/clerk
    │
    ○  note   shop/note
    ");
    insta::assert_snapshot!(world.reknit(&["run", "plan.yaml", "--run-id", "orders", "--quiet"]), @r#"
    exit status 0 --- stdout
    Everything was done.

    Outputs:
    - said: ["success","success"]

    Done:
    - clerk (clerk): [{"report":"Order 7 was sent.","status":"success","session":"orders.6f64dd1ef72697bf"},{"report":"Order 8 was sent.","status":"success","session":"orders.919c19262fc046a5"}]
    - note (note): {"noted":true}
    "#);
    assert_eq!(shop.calls_of("note")[0].parameters.to_string(), r#"{"text":"Order 7 was sent. Order 8 was sent."}"#);
    insta::assert_snapshot!(world.reknit(&["runs", "show", "orders", "--step", "clerk[1]"]), @r#"
    exit status 0 --- stdout
    run      orders
    request  Note where orders are
    status   complete
    spent    5 tool calls, 4 model calls, 4 events

    ✓ clerk     clerk  done
    ✓ clerk[0]  clerk  done
    ✓ clerk[1]  clerk  done
    ✓ note      note   done

    clerk[1] (clerk of agent)
      parameter  task = "Where is order 8?"   (text that contains results)
      session    orders.919c19262fc046a5: see `reknit runs show orders.919c19262fc046a5`
      attempt 1  accepted <- {"task":"Where is order 8?"}  (N ms)
      result     {"report":"Order 8 was sent.","status":"success","session":"orders.919c19262fc046a5"}
    "#);
    let explained = world.reknit(&["runs", "explain", "orders"]);
    assert!(explained.contains("clerk[1] (agent clerk, as session orders.919c19262fc046a5): done"), "{explained}");
    assert!(explained.contains("Calls: 5 to tools, 4 to models"), "{explained}");
    // Its sessions are runs that are listed on their own.
    let listed = world.reknit(&["runs", "list"]);
    assert_eq!(listed.matches("orders.").count(), 2, "{listed}");
    // The same request under the same id is the same run, until the agent is another one.
    assert_ended(&world.reknit(&["run", "plan.yaml", "--run-id", "orders", "--quiet"]), 0, "");
    assert_eq!(model.requests().len(), 4);
    let world = world.file("agents/clerk.md", "---\ntools: [shop/look_up]\n---\nYou own a shop.\n");
    assert_contains(
        &world.reknit(&["run", "plan.yaml", "--run-id", "orders", "--quiet"]),
        "was started with another request",
    );
}

const BAD_PLAN: &str = "\
steps:
  - id: a
    agent: nobody.md
    with: {task: x}
  - id: b
    agent: bad.md
    with: {task: x}
  - id: c
    agent: agents/clerk.md
    tool: shop/note
";
const BAD_KEYS: &str = "\
steps:
  - id: a
    agent: agents/clerk.md
    with: {tsk: 'Where is {{b.report}}?'}
  - {id: b, agent: agents/clerk.md, with: {task: x}, until: {condition: result.status, wait: 1 s, times: 2}}
  - {id: c, tool: shop/note, with: {text: '{{b.words}}'}}
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn problems_of_agents_have_the_place_of_the_step_and_the_place_in_the_agent_file() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop])
        .file("agents/clerk.md", CLERK)
        .file("bad.md", "---\nmaxTurn: 3\n---\nYou work.\n")
        .file("two.yaml", BAD_PLAN)
        .file("plan.yaml", &BAD_PLAN.replace("    tool: shop/note\n", "    with: {task: x}\n"))
        .file("missing.yaml", BAD_KEYS);
    insta::assert_snapshot!(world.reknit(&["plan", "check", "two.yaml"]), @r"
    exit status 1 --- stderr
    error: the plan in `two.yaml` is not valid
      - line 10, column 5: `steps[2].tool`: a step either calls a tool or runs an agent (make two steps of it)

    hint: see the code and path of each problem with `reknit plan check --json two.yaml`
    ");
    insta::assert_snapshot!(world.reknit(&["plan", "check", "plan.yaml"]), @r"
    exit status 1 --- stderr
    error: the plan in `plan.yaml` is not valid
      - line 3, column 5: step `a`: cannot read `nobody.md`: No such file or directory (os error 2)
      - line 6, column 5: step `b`: in `bad.md`: line 2, column 1: `maxTurn`: there is no such setting; did you mean `maxTurns`?

    hint: see the code and path of each problem with `reknit plan check --json plan.yaml`
    ");
    insta::assert_snapshot!(world.reknit(&["run", "plan.yaml"]), @r"
    exit status 2 --- stderr
    error: cannot run the plan
      - line 3, column 5: step `a`: cannot read `nobody.md`: No such file or directory (os error 2)
      - line 6, column 5: step `b`: in `bad.md`: line 2, column 1: `maxTurn`: there is no such setting; did you mean `maxTurns`?
    ");
    insta::assert_snapshot!(world.reknit(&["plan", "check", "missing.yaml"]), @r#"
    exit status 1 --- stderr
    error: the plan in `missing.yaml` is not valid
      - line 4, column 12: `a.tsk`: `clerk` has no parameter `tsk` (did you mean `task`?)
      - line 5, column 54: step `b`: `until`: an agent works once, so it cannot be asked again and again (write `expect`, or say in the task what to wait for)

    hint: see the code and path of each problem with `reknit plan check --json missing.yaml`
    "#);
    let world = world.file("good.yaml", "steps: [{id: a, agent: agents/clerk.md, with: {task: x}}]");
    assert_refused(
        &world.reknit(&["run", "good.yaml"]),
        "no model is configured",
        "name one with `--model-url http://127.0.0.1:8080/v1`, or add `[[models]]` to reknit.toml",
    );
}
