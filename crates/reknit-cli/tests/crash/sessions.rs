//! Sessions killed in every turn: during model calls and during tool calls.

use std::collections::HashSet;
use std::fs;
use std::process::{Child, Output};

use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::{Reply, ScriptedModel};
use reknit_protocol::{SideEffect, Value};

use crate::world::{STEPS, World, kill, stderr};

const AGENT: &str = "---\ntools: [t]\nmaxTurns: 6\n---\nYou look, order, note and pay, and then you report.\n";

/// The total number of arrivals at the barrier after each number of answers: model calls and tool calls, two of which run in
/// parallel.
const ARRIVED: [usize; 8] = [1, 3, 3, 4, 5, 6, 7, 8];

/// The same for an agent that calls this agent: one model call before it and one after it.
const ARRIVED_ABOVE: [usize; 10] = [1, 2, 4, 4, 5, 6, 7, 8, 9, 10];

/// The tools that may be in progress after each number of answers.
const UNDER_WAY: [&[&str]; 8] = [&[], &["look", "order"], &["look", "order"], &[], &["note"], &[], &["pay"], &[]];

struct Scene {
    world: World,
    model: ScriptedModel,
}

impl Scene {
    /// The answers of the model depend only on the prompt, so that a repeated call has the same answer. They wait at the barrier.
    async fn new() -> Self {
        let world = World::new().await;
        let barrier = world.barrier.clone();
        let call = |names: &[&str]| {
            let reply = Reply::text("").wait_at(&barrier);
            names.iter().fold(reply, |reply, name| reply.with_tool_call(format!("t__{name}"), "{}"))
        };
        let above = || RequestMatcher::any().says("You let others work.");
        let report =
            |words: &str| Reply::tool_call("agent__final_report", format!(r#"{{"report_content": "{words}"}}"#));
        let script = Script::new()
            .on(
                above().lacks("All is done."),
                Reply::tool_call("agent__clerk", r#"{"input": "Do it all."}"#).wait_at(&barrier),
            )
            .on(above(), report("They did it.").wait_at(&barrier))
            .on(RequestMatcher::any().lacks("look done"), call(&["look", "order"]))
            .on(RequestMatcher::any().lacks("note done"), call(&["note"]))
            .on(RequestMatcher::any().lacks("pay done"), call(&["pay"]))
            .on(RequestMatcher::any(), report("All is done.").wait_at(&barrier));
        let model = ScriptedModel::start(script).await.expect("the model starts");
        let config = format!(
            "[[tools]]\nname = \"t\"\nurl = \"{}\"\n\n[[models]]\nname = \"m\"\nurl = \"{}\"\nmodel = \"scripted\"\n",
            world.tool.base_url(),
            model.base_url()
        );
        fs::write(world.path("reknit.toml"), config).expect("the configuration can be written");
        fs::write(world.path("clerk.md"), AGENT).expect("the agent can be written");
        let above = "---\ntools: []\nagents: [clerk.md]\n---\nYou let others work.\n";
        fs::write(world.path("above.md"), above).expect("the agent can be written");
        Self { world, model }
    }

    fn start(&self, agent: &str) -> Child {
        let agent = self.world.path(agent);
        self.world.spawn(&["agent", &agent.to_string_lossy(), "Do it all.", "--json"])
    }
}

/// The report of a session, without durations and the number of model calls.
fn outcome(output: &Output) -> Vec<(&'static str, Value)> {
    let text = String::from_utf8_lossy(&output.stdout);
    let value = Value::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}\n{}", stderr(output)));
    let field = |name: &'static str| (name, value.get(name).cloned().unwrap_or(Value::Null));
    ["content", "exit", "source", "turn", "status", "final_report_attempts"].map(field).to_vec()
}

/// The session that is killed, and the arrivals at its barrier.
struct Case {
    agent: &'static str,
    arrived: &'static [usize],
    /// The number of answers before those of the nested agent.
    before: usize,
}

const ONE: Case = Case { agent: "clerk.md", arrived: &ARRIVED, before: 0 };
const ABOVE: Case = Case { agent: "above.md", arrived: &ARRIVED_ABOVE, before: 1 };

async fn killed_after(answers: usize, what: &Case, expected: &[(&'static str, Value)]) {
    let case = format!("{} with the {answers} answers", what.agent);
    let under_way = answers.checked_sub(what.before).and_then(|at| UNDER_WAY.get(at)).copied().unwrap_or_default();
    let scene = Scene::new().await;
    let world = &scene.world;
    let child = scene.start(what.agent);
    for _ in 0..answers {
        world.barrier.release_one();
    }
    world.barrier.wait_for_arrivals(what.arrived[answers]).await;
    let before = world.wait_for_events(answers + 1).await;
    kill(child);
    world.barrier.release_all();

    let (approvals, resumed) = world.resume_to_the_end();
    assert_eq!(resumed.status.code(), Some(0), "{case}: {}", stderr(&resumed));
    assert_eq!(outcome(&resumed), expected, "{case}");
    assert!(world.events().await.starts_with(&before), "{case}: what was committed has changed");
    assert_eq!(approvals, usize::from(under_way.contains(&"pay")), "{case}: who decides about a payment");
    for (name, class) in STEPS.into_iter().filter(|(name, _)| *name != "check") {
        let calls = world.tool.calls_of(name);
        let most = if under_way.contains(&name) { 2 } else { 1 };
        assert!((1..=most).contains(&calls.len()), "{case}: `{name}` was called {} times", calls.len());
        let keys: HashSet<_> = calls.iter().map(|call| call.idempotency_key.clone()).collect();
        assert_eq!(keys.len(), 1, "{case}: `{name}` went under {keys:?}");
        assert_eq!(keys.contains(&None), class == SideEffect::Read, "{case}: `{name}`");
    }
    assert!(
        scene.model.requests().len() <= 5 + 2 * what.before,
        "{case}: only the question that was under way is asked again"
    );
}

async fn killed_everywhere(what: &Case) {
    let whole = Scene::new().await;
    whole.world.barrier.release_all();
    let expected = outcome(&whole.start(what.agent).wait_with_output().expect("it ends"));
    assert_eq!(expected[1].1, Value::from("EXIT-FINAL-ANSWER"), "{expected:?}");
    for answers in 0..what.arrived.len() {
        killed_after(answers, what, &expected).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_killed_in_any_turn_has_the_same_report_and_repeats_no_call() {
    killed_everywhere(&ONE).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nested_agent_that_was_killed_resumes_with_its_caller() {
    killed_everywhere(&ABOVE).await;
}
