//! A request, the tools it needs and the model that answers, all on loopback.

use reknit_engine::{Answer, Policy, Run, Synthesis};
use reknit_protocol::{Capability, Category, Effect, Retryable, ToolError, Value};
use reknit_runtime::Ended;
use reknit_testing::model::{Script, When};
use reknit_testing::tool::{RunningTool, ScriptedTool};
use reknit_testing::{Reply, ScriptedModel};

use crate::world::World;

/// A request before it is made.
pub(crate) struct Scene {
    pub(crate) request: &'static str,
    pub(crate) tool: ScriptedTool,
    pub(crate) script: Script,
    pub(crate) policy: Policy,
}

/// What came of it.
pub(crate) struct Played {
    pub(crate) answer: Answer,
    pub(crate) run: Run,
    tool: RunningTool,
    model: ScriptedModel,
}

impl Scene {
    /// A request whose plan a model writes in these words.
    pub(crate) fn new(request: &'static str, plan: &str) -> Self {
        Self {
            request,
            tool: ScriptedTool::new("tool"),
            script: Script::new().on(When::any().purpose("plan_generation"), Reply::text(plan)),
            policy: Policy { synthesis: Synthesis::Template, ..Policy::default() },
        }
    }

    /// Replaces all that the model says.
    pub(crate) fn script(mut self, script: Script) -> Self {
        self.script = script;
        self
    }

    /// The model says this for this purpose.
    pub(crate) fn says(mut self, purpose: &str, text: &str) -> Self {
        self.script = self.script.on(When::any().purpose(purpose), Reply::text(text));
        self
    }

    /// The tool can do this; the schema of its parameters is JSON.
    pub(crate) fn offers(mut self, capability: &str, schema: &str) -> Self {
        let mut offer = Capability::new(capability);
        offer.effect = Effect::Read;
        self.tool = self.tool.announce(offer).schema(Value::parse(schema).expect("a schema"));
        self
    }

    /// The tool replies with this, in all cases that no earlier rule is for.
    pub(crate) fn replies(mut self, capability: &str, reply: Reply) -> Self {
        self.tool = self.tool.on(capability, reknit_testing::tool::When::any(), reply);
        self
    }

    /// The tool replies with this where a parameter has this value.
    pub(crate) fn replies_to(mut self, capability: &str, name: &str, value: impl Into<Value>, reply: Reply) -> Self {
        self.tool = self.tool.on(capability, reknit_testing::tool::When::any().parameter(name, value), reply);
        self
    }

    pub(crate) fn policy(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(&mut self.policy);
        self
    }

    pub(crate) async fn play(self) -> Played {
        let tool = self.tool.start().await.expect("the tool starts");
        let model = ScriptedModel::start(self.script).await.expect("the model starts");
        let world = World::new(&[("tool".to_owned(), tool.base_url())], Some(&model.base_url())).await;
        let mut started = world.started("r", self.request, None);
        started.policy = self.policy.into();
        let Ended::Finished(answer) = world.driver().start(started).await.expect("it is driven") else {
            panic!("nobody is to be asked")
        };
        let (run, _) = world.read_back("r").await;
        assert!(model.unmatched().is_empty(), "nobody expected this question: {:?}", model.unmatched());
        Played { answer: *answer, run, tool, model }
    }
}

impl Played {
    /// The parameters of each call, as they came over the wire.
    pub(crate) fn calls(&self, capability: &str) -> Vec<String> {
        self.tool.calls_of(capability).into_iter().map(|call| call.body).collect()
    }

    /// What models were asked for, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.model.requests().iter().map(|request| request.purpose().unwrap_or_default().to_owned()).collect()
    }

    /// The words of the n-th question, from 0.
    pub(crate) fn question(&self, nth: usize) -> String {
        self.model.requests().get(nth).expect("it was asked").text()
    }
}

/// A step of a plan as models write it.
pub(crate) fn step(id: &str, capability: &str, parameters: &str, depends_on: &str) -> String {
    format!(
        r#"{{"step_id": "{id}", "agent_name": "tool", "instruction": "{capability}", "depends_on": [{depends_on}],
            "metadata": {{"capability": "{capability}", "parameters": {parameters}}}}}"#
    )
}

/// A plan as models write it.
pub(crate) fn plan(steps: &[String]) -> String {
    format!(r#"{{"plan_id": "p", "original_request": "", "mode": "autonomous", "steps": [{}]}}"#, steps.join(", "))
}

/// What a tool of the protocol says about parameters it does not take.
pub(crate) fn refusal(code: &str, message: &str, category: Category) -> ToolError {
    ToolError::new(code, message, category).retryable(Retryable::Yes)
}

/// A refusal of what was sent, as a reply.
pub(crate) fn refuses(message: &str) -> Reply {
    Reply::error(refusal("INVALID_INPUT", message, Category::InputError))
}

pub(crate) fn data(json: &str) -> Reply {
    Reply::data(Value::parse(json).expect("JSON"))
}
