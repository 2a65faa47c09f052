//! A plan whose steps run agents, killed at every position of its journal and of the journals of its sessions.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::process::{Child, Output};

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::CallMatcher;
use reknit_fakes::{CallBarrier, Reply, ScriptedModel, ScriptedTool};
use reknit_protocol::{SideEffect, Value};

use crate::world::{World, kill, stderr, stdout};

const PLAN: &str = "
steps:
  - {id: look, tool: t/look}
  - {id: clerk, foreach: look.numbers, at_once: 1, agent: clerk.md, with: {task: 'Order number {{item}}.'}}
  - {id: last, tool: t/order, with: {n: '{{len(clerk)}}'}}
outputs: {reports: 'map(clerk, item.report)', statuses: 'map(clerk, item.status)', n: last.n}
";

/// One list; for each of two sessions a question, an order and a question; one order.
const ANSWERS: usize = 8;

struct Scene {
    world: World,
    model: ScriptedModel,
}

impl Scene {
    /// Every answer waits at the barrier. Those of the model depend only on the prompt.
    async fn new() -> Self {
        let barrier = CallBarrier::new();
        let at = |reply: Reply| reply.wait_at(&barrier);
        let data = |text: &str| Reply::data(Value::parse(text).expect("JSON"));
        let tool = ScriptedTool::new("t")
            .capability("look", SideEffect::Read)
            .on("look", CallMatcher::any(), at(data(r#"{"numbers": [7, 8]}"#)))
            .capability("order", SideEffect::Keyed)
            .on("order", CallMatcher::any(), at(data(r#"{"n": 3, "state": "ordered"}"#)));
        let world = World::around(barrier.clone(), tool).await;
        let about = |number: u32| RequestMatcher::any().says(format!("Order number {number}."));
        let order = |number: u32| at(Reply::tool_call("t__order", format!(r#"{{"n": {number}}}"#)));
        let report = |number: u32| {
            at(Reply::tool_call(
                "agent__final_report",
                format!(r#"{{"report_content": "Number {number} is ordered."}}"#),
            ))
        };
        let script = Script::new()
            .on(about(7).lacks("ordered"), order(7))
            .on(about(7), report(7))
            .on(about(8).lacks("ordered"), order(8))
            .on(about(8), report(8));
        let model = ScriptedModel::start(script).await.expect("the model starts");
        let config = format!(
            "[[tools]]\nname = \"t\"\nurl = \"{}\"\n\n[[models]]\nname = \"m\"\nurl = \"{}\"\nmodel = \"scripted\"\n\n\
             [limits]\ndrain-time = \"50ms\"\n",
            world.tool.base_url(),
            model.base_url()
        );
        fs::write(world.path("reknit.toml"), config).expect("the configuration can be written");
        fs::write(world.path("clerk.md"), "---\ntools: [t]\n---\nYou order things.\n")
            .expect("the agent can be written");
        fs::write(world.path("plan.yaml"), PLAN).expect("the plan can be written");
        Self { world, model }
    }

    fn start(&self) -> Child {
        let plan = self.world.path("plan.yaml");
        let plan = plan.to_string_lossy();
        self.world.spawn(&["run", &plan, "--run-id", "p", "--answer", "template", "--json"])
    }

    /// How often each order was made, each under one key.
    fn orders(&self, case: &str) -> BTreeMap<String, usize> {
        let mut keys: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
        for call in self.world.tool.calls_of("order") {
            keys.entry(call.parameters.to_string()).or_default().push(call.idempotency_key.clone());
        }
        for (order, keys) in &keys {
            let different: HashSet<_> = keys.iter().collect();
            assert_eq!(different.len(), 1, "{case}: {order} went under {different:?}");
        }
        keys.into_iter().map(|(order, keys)| (order, keys.len())).collect()
    }
}

fn outcome(output: &Output) -> (Value, Value) {
    let text = stdout(output);
    let value = Value::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}\n{}", stderr(output)));
    let field = |name: &str| value.get(name).cloned().unwrap_or(Value::Null);
    (field("status"), field("outputs"))
}

async fn killed_everywhere() {
    let whole = Scene::new().await;
    whole.world.barrier.release_all();
    let output = whole.start().wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let expected = outcome(&output);
    let outputs =
        r#"{"reports":["Number 7 is ordered.","Number 8 is ordered."],"statuses":["success","success"],"n":3}"#;
    assert_eq!((expected.0.to_string(), expected.1.to_string()), ("\"complete\"".to_owned(), outputs.to_owned()));
    assert_eq!(whole.model.requests().len(), 4);
    for answered in 0..ANSWERS {
        let case = format!("{answered} answers");
        let scene = Scene::new().await;
        let child = scene.start();
        for _ in 0..answered {
            scene.world.barrier.release_one();
        }
        scene.world.barrier.wait_for_arrivals(answered + 1).await;
        kill(child);
        scene.world.barrier.release_all();
        let resumed = scene.world.finish(&["runs", "resume", "p", "--json"]);
        assert_eq!(resumed.status.code(), Some(0), "{case}: {}", stderr(&resumed));
        assert_eq!(outcome(&resumed), expected, "{case}");
        let orders = scene.orders(&case);
        assert_eq!(orders.len(), 3, "{case}: {orders:?}");
        // Only what was in progress is made again, and only the question that was open is asked again.
        assert!(orders.values().sum::<usize>() <= 4, "{case}: {orders:?}");
        assert!(scene.model.requests().len() <= 5, "{case}: {} questions", scene.model.requests().len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_with_agents_killed_at_any_event_of_it_or_of_its_sessions_has_the_same_result() {
    killed_everywhere().await;
}
