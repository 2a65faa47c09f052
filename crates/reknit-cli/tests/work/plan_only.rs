//! `reknit ask --plan-only`.

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::{Reply, ScriptedModel};

use crate::exit_status::shop;
use crate::world::{World, assert_ended, assert_refused};

const PLAN: &str = r#"{"plan_id": "p", "steps": [
    {"step_id": "price", "agent_name": "shop", "instruction": "look: how much?", "metadata": {"capability": "price", "parameters": {"of": "tea", "n": 1.50}}},
    {"step_id": "order", "agent_name": "shop", "instruction": "", "depends_on": ["price"],
     "metadata": {"capability": "order", "parameters": {"at": "{{price.price}}", "tags": ["a", "true"]}}}]}"#;

async fn model(answer: &str) -> ScriptedModel {
    let script = Script::new().on(RequestMatcher::any(), Reply::text(answer));
    ScriptedModel::start(script).await.expect("the model starts")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_plan_of_a_model_is_printed_as_people_write_it_and_no_tool_is_called() {
    let (shop, model) = (shop().await, model(PLAN).await);
    let world = World::with_tools(&[&shop]);
    let url = model.base_url();
    insta::assert_snapshot!(world.reknit(&["ask", "--plan-only", "--model-url", &url, "Buy tea, please: now"]), @r#"
    exit status 0 --- stdout
    request: "Buy tea, please: now"
    steps:
      - id: price
        tool: shop/price
        do: "look: how much?"
        with:
          of: tea
          "n": 1.50
      - id: order
        tool: shop/order
        with:
          at: "{{price.price}}"
          tags: ["a","true"]
        after: price
    --- stderr
    planning: asking a model

    complete: 0 of 0 steps done, 0 tool calls, 1 model call, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    assert_eq!(shop.call_count(), 0, "only a plan was asked for");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_that_was_written_to_a_file_runs() {
    let (shop, model) = (shop().await, model(PLAN).await);
    let world = World::with_tools(&[&shop]);
    let url = model.base_url();
    let ask = ["ask", "--plan-only", "-o", "plan.yaml", "--model-url", &url, "Buy tea"];
    insta::assert_snapshot!(world.reknit(&ask), @"
    exit status 0 --- stderr
    planning: asking a model
    wrote the plan to `plan.yaml`

    hint: run it with `reknit run plan.yaml`
    ");
    insta::assert_snapshot!(world.reknit(&["run", "--quiet", "plan.yaml"]), @r#"
    exit status 0 --- stdout
    Everything was done.

    Done:
    - price (price): {"price":12.50}
    - order (order): {"order":"o-1"}
    "#);
    assert_refused(
        &world.reknit(&ask),
        "`plan.yaml` exists, and is not overwritten",
        "name another file, or leave out `-o` to print the plan",
    );
    assert_eq!(model.requests().len(), 1, "a file that exists is found before a model is asked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_plan_no_file_is_written() {
    let (shop, model) = (shop().await, model("I cannot help with that.").await);
    let world = World::with_tools(&[&shop]);
    assert_ended(
        &world.reknit(&["ask", "--plan-only", "-o", "plan.yaml", "--model-url", &model.base_url(), "Buy tea"]),
        1,
        "",
    );
    assert!(!world.path().join("plan.yaml").exists());
}
