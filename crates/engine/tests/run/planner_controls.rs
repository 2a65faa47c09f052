//! Loops, conditions and computations in the plans of models.

use std::sync::Arc;

use reknit_engine::{Effect, Policy, Run, Started, Status};
use reknit_model_api::ResponseFormat;
use reknit_plan::{Catalogue, PlanLanguage};

use crate::world::{Play, json, policy, started};

/// A shop that announces its orders.
fn shop() -> Catalogue {
    let catalogue = r#"{"shop": [
        {"name": "list_orders", "effect": "read", "output_summary":
            {"required": [{"name": "orders", "type": "array"}, {"name": "count", "type": "integer"}]}},
        {"name": "refund", "effect": "keyed", "schema":
            {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]}},
        {"name": "remind", "effect": "keyed"}]}"#;
    Catalogue::from_value(&json(catalogue)).expect("a catalogue")
}

fn start(policy: Policy) -> Play {
    Play::begin(Started { catalogue: Arc::new(shop()), ..started(None, policy) })
}

/// The plan of a model with these steps.
fn steps(steps: &[&str]) -> String {
    format!(r#"{{"steps": [{}]}}"#, steps.join(", "))
}

fn step(id: &str, agent: &str, metadata: &str) -> String {
    format!(r#"{{"step_id": "{id}", "agent_name": "{agent}", "metadata": {metadata}}}"#)
}

const LIST: &str =
    r#"{"step_id": "step-1", "agent_name": "shop", "metadata": {"capability": "list_orders", "foreach": null}}"#;

fn schema(play: &Play) -> String {
    let asked = play.run.pending().into_iter().find_map(|due| match due {
        Effect::AskModel(ask) => Some(ask.request.format.clone()),
        _ => None,
    });
    match asked.expect("a model is asked") {
        ResponseFormat::Schema { schema, .. } => schema.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_planner_can_write_loops_conditions_and_computations() {
    let mut play = start(policy());
    let lost = step(
        "step-2",
        "compute",
        r#"{"when": null, "parameters": {"result": "{{filter(step-1.orders, item.lost)}}"}}"#,
    );
    let refund = step(
        "step-3",
        "shop",
        r#"{"capability": "refund", "foreach": "step-2", "parameters": {"order": "{{item.id}}"}}"#,
    );
    let remind = step("step-4", "shop", r#"{"capability": "remind", "when": "len(step-2) > 5", "parameters": {}}"#);
    play.answer_model("plan/ask/1", &steps(&[LIST, &lost, &refund, &remind]));
    assert!(play.run.plan_repairs().is_empty(), "{:?}", play.run.plan_repairs());
    let mut twin = Run::restore(&play.run.snapshot().expect("a snapshot")).expect("it is restored");
    assert_eq!(twin.pending(), play.run.pending());
    play.answer_tool(
        "step-1/call/1",
        200,
        r#"{"orders": [{"id": 7, "lost": true}, {"id": 8, "lost": false}, {"id": 9, "lost": true}]}"#,
    );
    twin.apply(play.events.last().expect("an event")).expect("it is applied");
    assert_eq!(twin.pending(), play.run.pending());
    assert_eq!(play.due(), ["step-3[0]/call/1", "step-3[1]/call/1"]);
    assert_eq!(play.call("step-3[1]/call/1").parameters.to_string(), r#"{"order":9}"#);
    play.answer_tool("step-3[0]/call/1", 200, "{}");
    play.answer_tool("step-3[1]/call/1", 200, "{}");
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::Complete));
}

#[test]
fn controls_in_other_places_are_read_and_recorded() {
    let mut play = start(policy());
    let inside = r#"{"capability": "refund", "parameters": {"order": "{{item.id}}", "foreach": "step-1.orders"}}"#;
    let computed = step("step-3", "math", r#"{"compute": "{{sum_by(step-1.orders, item.total)}}"}"#);
    let beside =
        r#"{"step_id": "step-4", "agent_name": "shop", "when": "step-3 > 100", "metadata": {"capability": "remind"}}"#;
    play.answer_model("plan/ask/1", &steps(&[LIST, &step("step-2", "shop", inside), &computed, beside]));
    assert!(play.run.rejected_plans().is_empty(), "{:?}", play.run.rejected_plans());
    assert_eq!(
        play.run.plan_repairs(),
        [
            "step `step-2`: read `parameters.foreach` as `metadata.foreach`",
            "step `step-3`: read `metadata.compute` as `parameters.result`",
            "step `step-4`: read `when` as `metadata.when`",
        ]
    );
    play.answer_tool("step-1/call/1", 200, r#"{"orders": [{"id": 7, "total": 20.5}, {"id": 8, "total": 79.5}]}"#);
    assert_eq!(play.due(), ["step-2[0]/call/1", "step-2[1]/call/1"], "100 is not above 100");
}

#[test]
fn a_computation_without_the_layer_of_parameters_is_read() {
    let mut play = start(policy());
    let total = step("step-2", "compute", r#"{"result": "{{sum_by(step-1.orders, item.total)}}"}"#);
    play.answer_model("plan/ask/1", &steps(&[LIST, &total]));
    play.answer_tool("step-1/call/1", 200, r#"{"orders": [{"total": 2.5}, {"total": 3}]}"#);
    assert_eq!(play.run.result("step-2").map(ToString::to_string).as_deref(), Some("5.5"));
}

#[test]
fn a_parameter_that_is_called_like_a_control_stays_a_parameter() {
    let mut play = start(policy());
    let metadata = r#"{"capability": "remind", "parameters": {"when": "2026-01-01"}}"#;
    play.answer_model("plan/ask/1", &steps(&[&step("step-1", "shop", metadata)]));
    assert_eq!(play.call("step-1/call/1").parameters.to_string(), r#"{"when":"2026-01-01"}"#);
}

#[test]
fn misuse_of_controls_is_shown_to_the_planner_which_corrects_it() {
    let mut play = start(policy());
    let misused = steps(&[
        LIST,
        &step(
            "step-2",
            "shop",
            r#"{"capability": "refund", "foreach": "step-1", "parameters": {"order": "{{item.id}}"}}"#,
        ),
        &step("step-3", "shop", r#"{"capability": "refund", "parameters": {"order": "{{item.id}}"}}"#),
        &step(
            "step-4",
            "shop",
            r#"{"capability": "remind", "when": "step-1.count", "parameters": {"ids": "{{step-2.id}}"}}"#,
        ),
        &step("step-5", "compute", r#"{"parameters": {"value": "{{step-1.count}}"}}"#),
        &step("step-6", "compute", r#"{"parameters": {"result": "{{filter(step-1.orders)}}"}}"#),
    ]);
    play.answer_model("plan/ask/1", &misused);
    let prompt = play.prompt("plan/ask/2");
    let problems = prompt.split("This is wrong with it:").nth(1).and_then(|rest| rest.split("Common mistakes").next());
    insta::assert_snapshot!(problems.expect("the problems").trim(), @r#"
    <data>
    - step `step-2`: `foreach`: `step-1` is an object, not a list (a list is in `step-1.orders`)
    - `step-3.order`: character 3: there is no step `item` (only a step with `foreach` has an `item`, and `filter`, `map` and the like)
    - `step-4.ids`: `step-2.id` does not exist: an array has no field `id` (`step-2` has one result for each item: write `map(step-2, item.id)` for all, `step-2[0].id` for one)
    - step `step-4`: `when`: `step-1.count` is an integer, not true or false (compare it: `step-1.count == "..."`, `step-1.count > 0`)
    - step `step-5`: `parameters`: a step that computes has one parameter, `result` (write `"parameters": {"result": "{{...}}"}`)
    - `step-6.result`: character 3: `filter` takes two arguments, found 1
    </data>
    "#);
    let right = r#"{"capability": "refund", "foreach": "step-1.orders", "parameters": {"order": "{{item.id}}"}}"#;
    play.answer_model("plan/ask/2", &steps(&[LIST, &step("step-2", "shop", right)]));
    assert_eq!(play.due(), ["step-1/call/1"]);
}

#[test]
fn the_loop_of_a_model_is_limited_by_max_items_and_by_its_call_budget() {
    let mut limited = policy();
    limited.limits.max_items = 3;
    limited.limits.tool_calls = 3;
    let with_most = |most: &str| {
        let metadata = format!(
            r#"{{"capability": "refund", "foreach": "step-1.orders", "max_items": {most}, "parameters": {{"order": "{{{{item}}}}"}}}}"#
        );
        steps(&[LIST, &step("step-2", "shop", &metadata)])
    };
    let mut play = start(limited.clone());
    play.answer_model("plan/ask/1", &with_most("100"));
    play.answer_tool("step-1/call/1", 200, r#"{"orders": [1, 2, 3, 4]}"#);
    assert!(play.due().iter().all(|id| !id.starts_with("step-2")), "a model cannot raise the limit");
    let mut play = start(limited);
    play.answer_model("plan/ask/1", &with_most("3"));
    play.answer_tool("step-1/call/1", 200, r#"{"orders": [1, 2, 3]}"#);
    assert_eq!(play.due(), ["step-2[0]/call/1", "step-2[1]/call/1"], "one call of three is spent");
    play.answer_tool("step-2[0]/call/1", 200, "{}");
    play.answer_tool("step-2[1]/call/1", 200, "{}");
    assert_eq!(play.run.answer().map(|answer| answer.status), Some(Status::BudgetExhausted));
}

#[test]
fn a_run_that_was_started_before_planners_wrote_loops_is_replayed_as_it_was() {
    let written = serde_json::to_string(&policy()).expect("JSON");
    let before = written.replacen(r#","language":"controls""#, "", 1);
    assert_ne!(before, written);
    let before: Policy = serde_json::from_str(&before).expect("a policy");
    assert_eq!(before.planning.language, PlanLanguage::Calls);
    let mut play = start(before);
    assert!(!schema(&play).contains("foreach"));
    assert!(schema(&start(policy())).contains("foreach"));
    let beside =
        r#"{"step_id": "step-1", "agent_name": "shop", "when": "1 > 2", "metadata": {"capability": "list_orders"}}"#;
    play.answer_model("plan/ask/1", &steps(&[beside]));
    assert_eq!(play.due(), ["step-1/call/1"], "an unknown key had no meaning");
}
