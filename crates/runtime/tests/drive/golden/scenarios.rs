//! The scenarios that are recorded.

use std::sync::Arc;
use std::time::Duration;

use reknit_engine::{ApprovalPolicy, AskScope, Policy, Started, Synthesis};
use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::{CallMatcher, RunningTool};
use reknit_fakes::{Reply, ScriptedModel, ScriptedTool};
use reknit_protocol::{Category, KeyRule, RunId, SideEffect, Step, ToolError, Value};
use reknit_runtime::{DriveOutcome, signals};

use super::record;
use crate::drive::fixture::{Fixture, plan, step};

fn any() -> CallMatcher {
    CallMatcher::any()
}

fn json(text: &str) -> Value {
    Value::parse(text).expect("JSON")
}

/// A shop and a model on loopback.
struct Scene {
    fixture: Fixture,
    _shop: RunningTool,
    _model: ScriptedModel,
}

impl Scene {
    async fn new(shop: ScriptedTool, script: Script) -> Self {
        let shop = shop.start().await.expect("the shop starts");
        let model = ScriptedModel::start(script).await.expect("the model starts");
        let fixture = Fixture::new(&[("shop".to_owned(), shop.base_url())], Some(&model.base_url())).await;
        Self { fixture, _shop: shop, _model: model }
    }

    fn started(&self, steps: Vec<Step>, change: impl FnOnce(&mut Policy)) -> Started {
        let mut policy = Policy { synthesis: Synthesis::Template, ..Policy::default() };
        change(&mut policy);
        Started { policy: Arc::new(policy), ..self.fixture.started("r", "buy a lamp", Some(plan(steps))) }
    }

    /// Drives a run and records it. Returns whether it waits for a person.
    async fn run(&self, name: &str, started: Started) -> bool {
        let outcome = self.fixture.driver().start(started).await.expect("the run is driven");
        record(name, &self.fixture.journal, "r").await;
        matches!(outcome, DriveOutcome::Waiting)
    }
}

fn shop() -> ScriptedTool {
    let amount = r#"{"type": "object", "required": ["amount"], "properties": {"amount": {"type": "number"}}}"#;
    ScriptedTool::new("shop")
        .capability("price", SideEffect::Read)
        .capability("order", SideEffect::Unsafe)
        .capability("convert", SideEffect::Read)
        .schema(json(amount))
}

fn call(id: &str, capability: &str, parameters: &str) -> Step {
    step(id, "shop", capability, parameters)
}

#[tokio::test]
async fn a_model_writes_the_plan_and_the_answer() {
    let written = r#"{"plan_id": "p", "original_request": "", "mode": "autonomous", "steps": [
        {"step_id": "a", "agent_name": "shop", "instruction": "price", "depends_on": [],
         "metadata": {"capability": "price", "parameters": {"item": "lamp",}}}]}"#;
    let script = Script::new()
        .on(RequestMatcher::any().purpose("plan_generation"), Reply::text(written))
        .on(RequestMatcher::any(), Reply::text("A lamp costs 12.50."));
    let scene = Scene::new(shop().on("price", any(), Reply::data(json(r#"{"price": 12.50}"#))), script).await;
    let mut started = scene.started(Vec::new(), |policy| policy.synthesis = Synthesis::Model);
    started.plan = None;
    assert!(!scene.run("plan-and-answer-by-model", started).await);
}

#[tokio::test]
async fn steps_run_in_parallel_and_pass_results_on() {
    let shop = shop().on("price", any(), Reply::data(json("12.50"))).on("convert", any(), Reply::data("ok"));
    let scene = Scene::new(shop, Script::new()).await;
    let steps = vec![
        call("a", "price", "{}"),
        call("b", "price", "{}"),
        call("c", "convert", r#"{"amount": "{{a.data}}"}"#).after("a").after("b"),
    ];
    assert!(!scene.run("parallel-steps", scene.started(steps, |_| ())).await);
}

#[tokio::test]
async fn a_value_is_fitted_to_its_schema() {
    let scene = Scene::new(shop().on("convert", any(), Reply::data("ok")), Script::new()).await;
    let started = scene.started(vec![call("a", "convert", r#"{"amount": "12.50"}"#)], |_| ());
    assert!(!scene.run("repair-by-schema", started).await);
}

#[tokio::test]
async fn a_model_corrects_a_rejected_call() {
    let error = ToolError::new("INVALID_AMOUNT", "the amount must be positive", Category::InputError);
    let shop =
        shop().once("convert", any(), Reply::error(error).with_status(400)).on("convert", any(), Reply::data("ok"));
    let correction = r#"{"should_retry": true, "reason": "it was zero", "suggested_changes": {"amount": 5}}"#;
    let script = Script::new().on(RequestMatcher::any(), Reply::text(correction));
    let scene = Scene::new(shop, script).await;
    scene.run("repair-by-feedback", scene.started(vec![call("a", "convert", r#"{"amount": 0}"#)], |_| ())).await;
}

#[tokio::test]
async fn a_call_is_sent_again() {
    let shop = shop().once("price", any(), Reply::status(503)).on("price", any(), Reply::data("ok"));
    let scene = Scene::new(shop, Script::new()).await;
    assert!(!scene.run("resend", scene.started(vec![call("a", "price", "{}")], |_| ())).await);
}

#[tokio::test]
async fn a_failed_run_is_retried() {
    let shop = shop().once("price", any(), Reply::status(404)).on("price", any(), Reply::data("ok"));
    // A model is asked about the 404, and sees no correction.
    let advice = Reply::text(r#"{"should_retry": false, "reason": "there is no such thing"}"#);
    let scene = Scene::new(shop, Script::new().on(RequestMatcher::any(), advice)).await;
    let started = scene.started(vec![call("a", "price", "{}")], |_| ());
    scene.fixture.driver().start(started).await.expect("the run is driven");
    scene.fixture.driver().retry(&RunId::new("r")).await.expect("the run is retried");
    record("retried", &scene.fixture.journal, "r").await;
}

#[tokio::test]
async fn a_call_waits_for_approval() {
    let scene = Scene::new(shop().on("price", any(), Reply::data("12.50")), Script::new()).await;
    let steps = vec![call("a", "price", "{}"), call("b", "order", "{}").after("a")];
    let ask = |policy: &mut Policy| policy.approvals = ApprovalPolicy { ask: AskScope::All, rules: Vec::new() };
    assert!(scene.run("approval-waiting", scene.started(steps, ask)).await);
}

#[tokio::test]
async fn the_outcome_of_a_call_is_unknown() {
    let scene = Scene::new(shop().on("order", any(), Reply::reset()), Script::new()).await;
    assert!(scene.run("unknown-outcome", scene.started(vec![call("a", "order", "{}")], |_| ())).await);
}

#[tokio::test]
async fn a_deed_has_a_business_key() {
    let scene = Scene::new(shop().on("order", any(), Reply::data("ordered")), Script::new()).await;
    let key = |policy: &mut Policy| {
        policy.effects.keys.insert("shop/order".to_owned(), KeyRule::new(["item"]));
    };
    let order = |id: &str| call(id, "order", r#"{"item": 7}"#);
    let started = scene.started(vec![order("a"), order("b").after("a")], key);
    assert!(!scene.run("business-key", started).await);
}

#[tokio::test]
async fn a_step_fails_and_another_is_skipped() {
    let advice = Reply::text(r#"{"should_retry": false, "reason": "there is no such thing"}"#);
    let script = Script::new().on(RequestMatcher::any(), advice);
    let scene = Scene::new(shop().on("price", any(), Reply::status(404)), script).await;
    let steps = vec![call("a", "price", "{}"), call("b", "convert", r#"{"amount": "{{a.data}}"}"#).after("a")];
    scene.run("failed-step", scene.started(steps, |_| ())).await;
}

#[tokio::test]
async fn a_waiting_run_is_cancelled() {
    let scene = Scene::new(shop(), Script::new()).await;
    let ask = |policy: &mut Policy| policy.approvals = ApprovalPolicy { ask: AskScope::All, rules: Vec::new() };
    let run = RunId::new("r");
    let started = scene.started(vec![call("a", "order", "{}")], ask);
    scene.fixture.driver().start(started).await.expect("the run waits");
    scene.fixture.journal.send(&run, signals::cancel(), 1_000_000).await.expect("it is told to cancel");
    scene.fixture.driver().resume(&run).await.expect("the run is cancelled");
    record("cancelled", &scene.fixture.journal, "r").await;
}

#[tokio::test]
async fn a_run_waits_for_a_job() {
    let job = Reply::status(202).header("location", "/jobs/1").body("{}");
    let scene = Scene::new(shop().on("order", any(), job), Script::new()).await;
    let (driver, started) = (scene.fixture.driver(), scene.started(vec![call("a", "order", "{}")], |_| ()));
    let driving = tokio::spawn(async move { driver.start(started).await });
    // The driver saves a snapshot when the wait begins.
    let run = RunId::new("r");
    while scene.fixture.journal.snapshot(&run).await.is_ok_and(|snapshot| snapshot.is_none()) && !driving.is_finished()
        || !scene.fixture.journal.exists(&run).await.expect("it can be read")
    {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(!driving.is_finished(), "the run waits for its job");
    record("job-waiting", &scene.fixture.journal, "r").await;
    driving.abort();
}
