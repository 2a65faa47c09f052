//! A request with a scripted tool and a scripted model on loopback.

use reknit_engine::{Answer, Policy, Run};
use reknit_fakes::model::{RequestMatcher, Script};
use reknit_fakes::tool::{RunningTool, ScriptedTool};
use reknit_fakes::{Reply, ScriptedModel};
use reknit_protocol::{Capability, Category, Retryable, SideEffect, ToolError, Value};
use reknit_runtime::DriveOutcome;

use crate::drive::fixture::{Fixture, with_one_plan};

/// A request, a tool and a model.
pub(crate) struct Scene {
    pub(crate) request: &'static str,
    pub(crate) tool: ScriptedTool,
    pub(crate) script: Script,
    pub(crate) policy: Policy,
}

/// The outcome of a request.
pub(crate) struct Played {
    pub(crate) answer: Answer,
    pub(crate) run: Run,
    tool: RunningTool,
    model: ScriptedModel,
}

impl Scene {
    /// A request for which the model replies with this plan.
    pub(crate) fn new(request: &'static str, plan: &str) -> Self {
        Self {
            request,
            tool: ScriptedTool::new("tool"),
            script: Script::new().on(RequestMatcher::any().purpose("plan_generation"), Reply::text(plan)),
            policy: with_one_plan(),
        }
    }

    /// Replaces all replies of the model.
    pub(crate) fn script(mut self, script: Script) -> Self {
        self.script = script;
        self
    }

    /// Makes the model reply with this text for this purpose.
    pub(crate) fn says(mut self, purpose: &str, text: &str) -> Self {
        self.script = self.script.on(RequestMatcher::any().purpose(purpose), Reply::text(text));
        self
    }

    /// Adds a capability to the tool, with the JSON schema of its parameters.
    pub(crate) fn capability(mut self, capability: &str, schema: &str) -> Self {
        let mut capability = Capability::new(capability);
        capability.effect = SideEffect::Read;
        self.tool = self.tool.announce(capability).schema(Value::parse(schema).expect("a schema"));
        self
    }

    /// Makes the tool reply with this if no earlier rule matches.
    pub(crate) fn replies(mut self, capability: &str, reply: Reply) -> Self {
        self.tool = self.tool.on(capability, reknit_fakes::tool::CallMatcher::any(), reply);
        self
    }

    /// Makes the tool reply with this if a parameter has this value.
    pub(crate) fn replies_to(mut self, capability: &str, name: &str, value: impl Into<Value>, reply: Reply) -> Self {
        self.tool = self.tool.on(capability, reknit_fakes::tool::CallMatcher::any().parameter(name, value), reply);
        self
    }

    pub(crate) fn policy(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(&mut self.policy);
        self
    }

    pub(crate) async fn play(self) -> Played {
        let tool = self.tool.start().await.expect("the tool starts");
        let model = ScriptedModel::start(self.script).await.expect("the model starts");
        let fixture = Fixture::new(&[("tool".to_owned(), tool.base_url())], Some(&model.base_url())).await;
        let mut started = fixture.started("r", self.request, None);
        started.policy = self.policy.into();
        let DriveOutcome::Finished(answer) = fixture.driver().start(started).await.expect("the run is driven") else {
            panic!("the run waits for a person")
        };
        let (run, _) = fixture.restore("r").await;
        assert!(model.unmatched().is_empty(), "unexpected requests: {:?}", model.unmatched());
        Played { answer: *answer, run, tool, model }
    }
}

impl Played {
    /// The body of each call.
    pub(crate) fn calls(&self, capability: &str) -> Vec<String> {
        self.tool.calls_of(capability).into_iter().map(|call| call.body).collect()
    }

    /// The purposes of all requests to the model, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.model.requests().iter().map(|request| request.purpose().unwrap_or_default().to_owned()).collect()
    }

    /// The text of the n-th request to the model, from 0.
    pub(crate) fn question(&self, nth: usize) -> String {
        self.model.requests().get(nth).expect("the model was asked").text()
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

/// The error of a tool that rejects its parameters.
pub(crate) fn tool_error(code: &str, message: &str, category: Category) -> ToolError {
    ToolError::new(code, message, category).retryable(Retryable::Yes)
}

/// A reply that rejects the parameters.
pub(crate) fn rejects(message: &str) -> Reply {
    Reply::error(tool_error("INVALID_INPUT", message, Category::InputError))
}

pub(crate) fn data(json: &str) -> Reply {
    Reply::data(Value::parse(json).expect("JSON"))
}
