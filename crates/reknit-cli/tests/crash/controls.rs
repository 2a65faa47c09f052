//! Runs with a loop, a poll, a verification and a second plan, killed at every position of the journal.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::process::Child;

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::CallMatcher;
use reknit_fakes::{CallBarrier, Reply, ScriptedModel, ScriptedTool};
use reknit_protocol::{SideEffect, Value};

use crate::world::{World, kill, outcome, stderr};

const PLAN: &str = "
steps:
  - {id: look, tool: t/look}
  - {id: each, foreach: look.numbers, at_once: 1, tool: t/order, with: {n: '{{item}}'}}
  - {id: state, tool: t/state, after: [each], until: {condition: result.ready, wait: 1 ms, times: 9}}
  - id: book
    tool: t/order
    after: [state]
    with: {n: 9}
    verify: {tool: t/booked, with: {n: '{{result.n}}'}, expect: reply.booked, wait: 1 ms, times: 9}
";

/// The calls of the plan: one list, three items, two polls, one order and two verifications.
const CALLS: usize = 9;

fn data(text: &str) -> Reply {
    Reply::data(Value::parse(text).expect("JSON"))
}

struct Scene {
    world: World,
    /// Only a request without a plan needs a model.
    _model: Option<ScriptedModel>,
    request: Option<&'static str>,
}

impl Scene {
    /// A person's plan with a loop, a poll and a verification. Every answer waits at the barrier.
    async fn with_controls() -> Self {
        let barrier = CallBarrier::new();
        let at = |reply: Reply| reply.wait_at(&barrier);
        let any = CallMatcher::any;
        let tool = ScriptedTool::new("t")
            .capability("look", SideEffect::Read)
            .on("look", any(), at(data(r#"{"numbers": [1, 2, 3]}"#)))
            .capability("order", SideEffect::Keyed)
            .on("order", any(), at(data(r#"{"n": 9}"#)))
            .capability("state", SideEffect::Read)
            .once("state", any(), at(data(r#"{"ready": false}"#)))
            .on("state", any(), at(data(r#"{"ready": true}"#)))
            .capability("booked", SideEffect::Read)
            .once("booked", any(), at(data(r#"{"booked": false}"#)))
            .on("booked", any(), at(data(r#"{"booked": true}"#)));
        let world = World::around(barrier, tool).await;
        fs::write(world.path("plan.yaml"), PLAN).expect("the plan can be written");
        Self { world, _model: None, request: None }
    }

    /// A model's plan whose second step fails for good, and a second plan. The answers of the model wait at the barrier, too, and
    /// depend only on the prompt.
    async fn with_second_plan() -> Self {
        let barrier = CallBarrier::new();
        let at = |reply: Reply| reply.wait_at(&barrier);
        let any = CallMatcher::any;
        let tool = ScriptedTool::new("t")
            .capability("order", SideEffect::Keyed)
            .on("order", any(), at(data(r#"{"n": 9}"#)))
            .capability("look", SideEffect::Read)
            .on("look", any(), at(Reply::status(404)))
            .capability("find", SideEffect::Keyed)
            .on("find", any(), at(data(r#"{"found": true}"#)));
        let world = World::around(barrier.clone(), tool).await;
        let step = |id: &str, capability: &str, parameters: &str| {
            format!(
                r#"{{"step_id": "{id}", "agent_name": "t", "metadata": {{"capability": "{capability}", "parameters": {parameters}}}}}"#
            )
        };
        let plan = |steps: &[String]| at(Reply::text(format!(r#"{{"steps": [{}]}}"#, steps.join(", "))));
        let first = plan(&[step("order", "order", r#"{"n": 9}"#), step("look", "look", r#"{"of": "{{order.n}}"}"#)]);
        let second = plan(&[step("find", "find", r#"{"of": "{{order.n}}"}"#)]);
        let script =
            Script::new().on(RequestMatcher::any().says("has already run"), second).on(RequestMatcher::any(), first);
        let model = ScriptedModel::start(script).await.expect("the model starts");
        let config = format!(
            "[[tools]]\nname = \"t\"\nurl = \"{}\"\n\n[[models]]\nname = \"m\"\nurl = \"{}\"\nmodel = \"scripted\"\n\n\
             [answer]\nby = \"template\"\n\n[limits]\ndrain-time = \"50ms\"\n\n[mending]\nfeedback = 0\ncontext = 0\n",
            world.tool.base_url(),
            model.base_url()
        );
        fs::write(world.path("reknit.toml"), config).expect("the configuration can be written");
        Self { world, _model: Some(model), request: Some("Order nine, and find it.") }
    }

    fn start(&self) -> Child {
        if let Some(request) = self.request {
            return self.world.spawn(&["ask", request, "--json"]);
        }
        let plan = self.world.path("plan.yaml");
        self.world.spawn(&["run", &plan.to_string_lossy(), "--answer", "template", "--json"])
    }

    /// How often each call was made, by capability and parameters. Each of them has one key, and a call that reads has none.
    fn calls(&self, case: &str) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        let mut keys: BTreeMap<String, HashSet<Option<String>>> = BTreeMap::new();
        for call in self.world.tool.calls() {
            let name = format!("{} {}", call.capability, call.parameters);
            *counts.entry(name.clone()).or_default() += 1;
            keys.entry(name).or_default().insert(call.idempotency_key.clone());
        }
        for (name, keys) in keys {
            assert_eq!(keys.len(), 1, "{case}: {name} went under {keys:?}");
        }
        counts
    }
}

/// Kills the run after each number of answers, resumes it, and compares it with a run that was not killed.
async fn killed_everywhere<F: Future<Output = Scene>>(scene: impl Fn() -> F, answers: usize) {
    let whole = scene().await;
    whole.world.barrier.release_all();
    let output = whole.start().wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let (expected, all) = (outcome(&output), whole.calls("not killed"));
    for answered in 0..answers {
        let case = format!("{answered} answers");
        let scene = scene().await;
        let child = scene.start();
        for _ in 0..answered {
            scene.world.barrier.release_one();
        }
        scene.world.barrier.wait_for_arrivals(answered + 1).await;
        let before = scene.world.wait_for_events(answered + 1).await;
        kill(child);
        scene.world.barrier.release_all();
        let resumed = scene.world.resume();
        assert_eq!(resumed.status.code(), Some(0), "{case}: {}", stderr(&resumed));
        assert_eq!(outcome(&resumed), expected, "{case}");
        assert!(scene.world.events().await.starts_with(&before), "{case}: what was committed has changed");
        let calls = scene.calls(&case);
        assert_eq!(calls.keys().collect::<Vec<_>>(), all.keys().collect::<Vec<_>>(), "{case}");
        let (made, least): (usize, usize) = (calls.values().sum(), all.values().sum());
        // What was in progress is made again. A poll that was in progress may have got the last answer that it needs.
        assert!((least..=least + 1).contains(&made), "{case}: {calls:?} instead of {all:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_with_a_loop_a_poll_and_a_verification_killed_at_any_event_has_the_same_result() {
    killed_everywhere(Scene::with_controls, CALLS).await;
}

/// Two plans and three calls.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_with_a_second_plan_killed_at_any_event_has_the_same_result() {
    killed_everywhere(Scene::with_second_plan, 5).await;
}
