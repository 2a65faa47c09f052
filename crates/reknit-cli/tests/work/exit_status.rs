//! The end of a run: the answer, the summary and the exit status.

use std::time::Duration;

use reknit_fakes::model::{RequestMatcher as Asked, Script};
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedModel, ScriptedTool};
use reknit_protocol::{Category, SideEffect, ToolError, Value};

use crate::world::{World, plan, text};

/// A shop whose prices and orders work, whose catalogue is missing, and whose payment breaks the connection.
pub(crate) async fn shop() -> RunningTool {
    let lost = ToolError::new("NO_CATALOGUE", "the catalogue is lost", Category::NotFound);
    let tool = ScriptedTool::new("shop")
        .capability("price", SideEffect::Read)
        .capability("order", SideEffect::Keyed)
        .capability("find", SideEffect::Read)
        .capability("pay", SideEffect::Unsafe)
        .on("price", CallMatcher::any(), Reply::data(Value::parse(r#"{"price": 12.50}"#).expect("JSON")))
        .on("order", CallMatcher::any(), Reply::data(Value::parse(r#"{"order": "o-1"}"#).expect("JSON")))
        .on("find", CallMatcher::any(), Reply::error(lost))
        .once("pay", CallMatcher::any(), Reply::reset())
        .on("pay", CallMatcher::any(), Reply::data(Value::parse(r#"{"paid": true}"#).expect("JSON")));
    tool.start().await.expect("the tool starts")
}

/// The shop, and a folder with a plan for it, `plan.json`.
pub(crate) async fn shopping(steps: &[(&str, &str)]) -> (RunningTool, World) {
    let shop = shop().await;
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(steps));
    (shop, world)
}

/// The same after a run of the plan.
pub(crate) async fn ran(steps: &[(&str, &str)]) -> (RunningTool, World) {
    let (shop, world) = shopping(steps).await;
    world.reknit(&["run", "--answer", "template", "plan.json"]);
    (shop, world)
}

pub(crate) const PRICE_AND_ORDER: [(&str, &str); 2] =
    [("price", r#"{"of": "tea"}"#), ("order", r#"{"at": "{{price.price}}"}"#)];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_complete_run_exits_with_0() {
    let (_shop, world) = shopping(&PRICE_AND_ORDER).await;
    insta::assert_snapshot!(world.reknit(&["run", "--answer", "template", "plan.json"]), @r#"
    exit status 0 --- stdout
    Everything was done.

    Done:
    - price (price): {"price":12.50}
    - order (order): {"order":"o-1"}
    --- stderr
    > price  price  running
    · order  order  waiting for price
    ✓ price  price  done
    > order  order  running
    ✓ order  order  done


    complete: 2 of 2 steps done, 2 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_without_a_model_comes_from_the_template() {
    let (_shop, world) = shopping(&PRICE_AND_ORDER).await;
    insta::assert_snapshot!(world.reknit(&["run", "plan.json"]), @r#"
    exit status 0 --- stdout
    Everything was done.

    Done:
    - price (price): {"price":12.50}
    - order (order): {"order":"o-1"}
    --- stderr
    > price  price  running
    · order  order  waiting for price
    ✓ price  price  done
    > order  order  running
    ✓ order  order  done


    complete: 2 of 2 steps done, 2 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_can_come_from_standard_input() {
    let (_shop, world) = shopping(&[("price", "{}")]).await;
    let plan = std::fs::File::open(world.path().join("plan.json")).expect("the plan is there");
    let output = world.command(&["run", "--answer", "template", "-"]).stdin(plan).output().expect("it runs");
    insta::assert_snapshot!(world.show(&output), @r#"
    exit status 0 --- stdout
    Everything was done.

    Done:
    - price (price): {"price":12.50}
    --- stderr
    > price  price  running
    ✓ price  price  done


    complete: 1 of 1 step done, 1 tool call, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_run_exits_with_1() {
    let shop = shop().await;
    let steps = [("find", "{}"), ("order", r#"{"what": "{{find.id}}"}"#)];
    let world = World::with_tools(&[&shop]).file("plan.json", &plan(&steps));
    insta::assert_snapshot!(world.reknit(&["run", "--answer", "template", "plan.json"]), @"
    exit status 1 --- stdout
    Nothing could be done.

    Missing:
    - find (find): failed: 404 NO_CATALOGUE: the catalogue is lost; the error refers to no parameter that could be changed
    - order (order): skipped: it needs `find`, which failed
    --- stderr
    > find   find   running
    · order  order  waiting for find
    ✗ find   find   failed: 404 NO_CATALOGUE: the catalogue is lost; the error refers to no parameter that could be changed
    - order  order  skipped: it needs `find`, which failed


    failed: 0 of 2 steps done, 1 tool call, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    assert_eq!(shop.calls_of("order"), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_partial_run_exits_with_3() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop])
        .file("plan.json", &plan(&[("price", "{}"), ("find", r#"{"at": "{{price.price}}"}"#)]));
    insta::assert_snapshot!(world.reknit(&["run", "--answer", "template", "plan.json"]), @r#"
    exit status 3 --- stdout
    Some steps were done.

    Missing:
    - find (find): failed: 404 NO_CATALOGUE: the catalogue is lost; the error refers to no parameter that could be changed

    Done:
    - price (price): {"price":12.50}
    --- stderr
    > price  price  running
    · find   find   waiting for price
    ✓ price  price  done
    > find   find   running
    ✗ find   find   failed: 404 NO_CATALOGUE: the catalogue is lost; the error refers to no parameter that could be changed


    partial: 1 of 2 steps done, 2 tool calls, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_impossible_run_exits_with_4() {
    let shop = shop().await;
    let nothing = Reply::text(r#"{"plan_id": "p", "original_request": "a pony", "steps": []}"#);
    let model = ScriptedModel::start(Script::new().on(Asked::any(), nothing)).await.expect("the model starts");
    let world = World::with_tools(&[&shop]);
    insta::assert_snapshot!(world.reknit(&["ask", "--model-url", &model.base_url(), "I want a pony"]), @"
    exit status 4 --- stdout
    no tool can serve the request
    --- stderr
    planning: asking a model

    impossible: 0 of 0 steps done, 0 tool calls, 1 model call, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    assert_eq!(shop.calls(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_fails_if_the_model_writes_no_plan() {
    let shop = shop().await;
    let prose = Reply::text("I would love to help, but I do not feel like it.");
    let model = ScriptedModel::start(Script::new().on(Asked::any(), prose)).await.expect("the model starts");
    let world = World::with_tools(&[&shop]);
    insta::assert_snapshot!(world.reknit(&["ask", "--model-url", &model.base_url(), "I want a pony"]), @"
    exit status 1 --- stdout
    no plan could be used after 3 attempts; the last one:
    - found no plan: expected JSON with `steps`, each with `step_id` and `agent_name`: cannot read the text as JSON at line 1, column 1: expected a value, found text
    --- stderr
    planning: asking a model
    planning: asking a model again (attempt 2)
    planning: asking a model again (attempt 3)

    failed: 0 of 0 steps done, 0 tool calls, 3 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_fails_if_the_model_rejects_the_key() {
    let shop = shop().await;
    let refused = Reply::status(401).body(r#"{"error": {"message": "no such key"}}"#);
    let model = ScriptedModel::start(Script::new().on(Asked::any(), refused)).await.expect("the model starts");
    let world = World::with_tools(&[&shop]);
    insta::assert_snapshot!(world.reknit(&["ask", "--model-url", &model.base_url(), "I want a pony"]), @"
    exit status 1 --- stdout
    no model wrote a plan: unauthorized (HTTP 401): no such key; no further attempt after auth_error
    --- stderr
    planning: asking a model
    - model model: unauthorized (HTTP 401): no such key

    failed: 0 of 0 steps done, 0 tool calls, 1 model call, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    assert_eq!(model.requests().len(), 1, "a refused key is not tried again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_reaches_a_limit_exits_with_5() {
    let shop = shop().await;
    let world =
        World::new().configured(&[&shop], "[limits]\ntool-calls = 1\n").file("plan.json", &plan(&PRICE_AND_ORDER));
    insta::assert_snapshot!(world.reknit(&["run", "--answer", "template", "plan.json"]), @r#"
    exit status 5 --- stdout
    A limit was reached before everything was done.

    Missing:
    - order (order): skipped: the limit of 1 tool call is reached

    Done:
    - price (price): {"price":12.50}
    --- stderr
    > price  price  running
    · order  order  waiting for price
    ✓ price  price  done
    - order  order  skipped: the limit of 1 tool call is reached


    budget exhausted (the limit of 1 tool call is reached): 1 of 2 steps done, 1 tool call, 0 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    "#);
    assert_eq!(shop.call_count(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_may_have_taken_effect_waits_for_approval_and_exits_with_6() {
    let (shop, world) = shopping(&[("pay", r#"{"amount": 12.50}"#)]).await;
    insta::assert_snapshot!(world.reknit(&["run", "--answer", "template", "plan.json"]), @r#"
    exit status 6 --- stderr
    > pay  pay  running
    ? pay  pay  waiting for approval


    waiting for approval:
    - pay: failed: `shop` broke the connection: Connection reset by peer (os error 104)
      again:  `pay` of `shop` (unsafe) with {"amount":12.50}; the first call may have taken effect (idempotency key: KEY)
      values: amount from the plan

    hint: decide with `reknit runs approve RUN` or `reknit runs deny RUN`, then continue with `reknit runs resume RUN`; `reknit runs settle --help` if you know what became of a call
    "#);
    assert_eq!(shop.call_count(), 1);
    insta::assert_snapshot!(world.reknit(&["runs", "resume", "last", "--json"]), @r#"
    exit status 6 --- stdout
    {"run":"RUN","status":"waiting","asks":[{"step":"pay","kind":"send_again","rule":"unknown-outcome","error":"`shop` broke the connection: Connection reset by peer (os error 104)","agent":"shop","capability":"pay","class":"unsafe","parameters":{"amount":12.50},"values":{"amount":"from the plan"},"expires_ms":0}]}
    --- stderr
    ? pay  pay  waiting for approval


    waiting for approval:
    - pay: failed: `shop` broke the connection: Connection reset by peer (os error 104)
      again:  `pay` of `shop` (unsafe) with {"amount":12.50}; the first call may have taken effect (idempotency key: KEY)
      values: amount from the plan

    hint: decide with `reknit runs approve RUN` or `reknit runs deny RUN`, then continue with `reknit runs resume RUN`; `reknit runs settle --help` if you know what became of a call
    "#);
    assert_eq!(shop.call_count(), 1, "nobody has allowed it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_plans_and_answers_a_request() {
    let shop = shop().await;
    let script = Script::new()
        .on(
            Asked::any().purpose("plan_generation"),
            Reply::text(format!("Here you are:\n```json\n{}\n```", plan(&PRICE_AND_ORDER))),
        )
        .on(Asked::any(), Reply::text("The tea costs 12.50 and is ordered (o-1).").delay(Duration::from_millis(1)));
    let model = ScriptedModel::start(script).await.expect("the model starts");
    let world = World::with_tools(&[&shop]);
    insta::assert_snapshot!(world.reknit(&["ask", "--model-url", &model.base_url(), "Order tea"]), @"
    exit status 0 --- stdout
    The tea costs 12.50 and is ordered (o-1).
    --- stderr
    planning: asking a model
    > price  price  running
    · order  order  waiting for price
    ✓ price  price  done
    > order  order  running
    ✓ order  order  done
    answering: asking a model


    complete: 2 of 2 steps done, 2 tool calls, 2 model calls, N s

    hint: see each attempt with `reknit runs show RUN`
    ");
    assert!(model.unmatched().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_as_json_is_complete_and_on_one_line() {
    let shop = shop().await;
    let world = World::with_tools(&[&shop])
        .file("plan.json", &plan(&[("price", r#"{"of": "tea"}"#), ("find", r#"{"at": "{{price.price}}"}"#)]));
    let shown = world.reknit(&["run", "--answer", "template", "--json", "plan.json"]);
    let stdout = shown.lines().skip_while(|line| !line.ends_with("--- stdout")).nth(1).expect("one line");
    insta::assert_snapshot!(stdout, @r#"{"run":"RUN","status":"partial","answer":"Some steps were done.\n\nMissing:\n- find (find): failed: 404 NO_CATALOGUE: the catalogue is lost; the error refers to no parameter that could be changed\n\nDone:\n- price (price): {\"price\":12.50}","written_by":"template","reason":null,"steps":[{"step":"price","agent":"shop","capability":"price","outcome":{"done":{"success":true,"data":{"price":12.50}}},"mends":[],"calls":1},{"step":"find","agent":"shop","capability":"find","outcome":{"failed":{"reason":"404 NO_CATALOGUE: the catalogue is lost; the error refers to no parameter that could be changed","fate":"rejected"}},"mends":[],"calls":1}],"spent":{"tool_calls":2,"model_calls":0,"input_tokens":0,"output_tokens":0,"wasted_tokens":0,"active_ms":0}}"#);
    let document = Value::parse(stdout).expect("it is JSON");
    let fields: Vec<&str> = document.as_object().expect("an object").iter().map(|(name, _)| name).collect();
    insta::assert_snapshot!(format!("{fields:?}"), @r#"["run", "status", "answer", "written_by", "reason", "steps", "spent"]"#);

    let again = world.output(&["runs", "show", "last", "--json"]);
    let again = Value::parse(&crate::masks::masked(&text(&again.stdout), world.path())).expect("it is JSON");
    let mut again = again.as_object().cloned().expect("an object");
    let history = again.remove("history").expect("`runs show --json` also tells what happened to each step");
    insta::assert_snapshot!(history, @r#"{"find":[{"at_ms":0,"took_ms":0,"action":"called","parameters":{"at":12.50},"status":404,"error":"404 NO_CATALOGUE: the catalogue is lost"}],"price":[{"at_ms":0,"took_ms":0,"action":"called","parameters":{"of":"tea"},"status":200,"error":null}]}"#);
    assert_eq!(Value::Object(again), document, "the rest of it is the same");
}
