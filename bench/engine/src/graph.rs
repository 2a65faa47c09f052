//! The plans, and a loop that runs them on this thread: every call is answered at once.

use std::sync::Arc;

use reknit_engine::{
    Effect, Event, EventKind, Limits, MACHINE_VERSION, Metadata, Policy, Run, Started, Status, Synthesis, Templates,
};
use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool, PlanAuthor};
use reknit_protocol::{Capability, Object, Plan, PlanInput, SideEffect, Step, Value};
use reknit_protocol::{ReplyBody, ToolReply};

use crate::Result;

const TOOL: &str = "bench";
const CAPABILITY: &str = "echo";

/// The shape of a plan.
#[derive(Clone, Copy)]
pub enum Graph {
    /// Each step uses the result of the one before.
    Chain,
    /// Independent steps.
    Fan,
    /// One step, many that depend on it, and one that depends on all of them.
    Diamond,
    /// One step with as many items.
    Loop,
}

impl Graph {
    pub const ALL: [Self; 4] = [Self::Chain, Self::Fan, Self::Diamond, Self::Loop];

    pub fn name(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::Fan => "fan",
            Self::Diamond => "diamond",
            Self::Loop => "loop",
        }
    }

    fn plan(self, steps: u32) -> Result<Plan> {
        if matches!(self, Self::Loop) {
            return loop_plan(steps);
        }
        let last = steps.saturating_sub(1);
        let steps = (0..steps).map(|number| {
            let uses = |from: u32| format!(r#"{{"after": "{{{{s{from}.token}}}}"}}"#);
            let independent = r#"{"after": ""}"#.to_owned();
            let parameters = match self {
                _ if number == 0 => independent,
                Self::Chain => uses(number - 1),
                Self::Diamond if number < last => uses(0),
                Self::Fan | Self::Diamond | Self::Loop => independent,
            };
            let step = Step::new(format!("s{number}"), TOOL, CAPABILITY, "").with_parameters(object(&parameters)?);
            let joins = matches!(self, Self::Diamond) && number == last && number > 0;
            Ok(if joins { (0..last).fold(step, |step, other| step.after(format!("s{other}"))) } else { step })
        });
        Ok(Plan::new("bench", self.name(), steps.collect::<Result<_>>()?))
    }
}

/// A step that runs once for each item of an input.
fn loop_plan(items: u32) -> Result<Plan> {
    let parameters = object(r#"{"after": "{{item}}"}"#)?;
    let mut step = Step::new("s", TOOL, CAPABILITY, "").with_parameters(parameters);
    step.metadata.insert("foreach", "inputs.list");
    let mut plan = Plan::new("bench", "loop", vec![step]);
    let list: Vec<Value> = (0..items).map(|_| Value::from("")).collect();
    plan.inputs.push(("list".to_owned(), PlanInput { default: Some(Value::Array(list)), ..PlanInput::default() }));
    Ok(plan)
}

/// A plan that is ready to run.
pub struct PreparedRun {
    start: Event,
    reply: ToolReply,
}

impl PreparedRun {
    pub fn new(graph: Graph, steps: u32) -> Result<Self> {
        let mut capability = Capability::new(CAPABILITY);
        capability.effect = SideEffect::Read;
        let schema = r#"{"type": "object", "required": ["after"], "properties": {"after": {"type": "string"}}}"#;
        let capabilities = vec![CatalogueEntry::new(capability, Some(Value::parse(schema)?))?];
        let tool = CatalogueTool { name: TOOL.into(), description: String::new(), capabilities };
        let limits = Limits { tool_calls: steps, max_items: steps, ..Limits::default() };
        let started = Started {
            run: "bench".into(),
            request: graph.name().to_owned(),
            plan: Some(graph.plan(steps)?),
            plan_author: PlanAuthor::Person,
            inputs: Object::new(),
            attachments: Vec::new(),
            agents: Vec::new(),
            metadata: Metadata::default(),
            catalogue: Arc::new(Catalogue { tools: vec![tool] }),
            targets: Vec::new(),
            policy: Arc::new(Policy { synthesis: Synthesis::Template, limits, ..Policy::default() }),
            templates: Arc::new(Templates::default()),
            mappings: Vec::new(),
            seed: 7,
            trace_parent: None,
            fork: None,
            earlier: reknit_engine::Earlier::default(),
            machine_version: MACHINE_VERSION,
        };
        let token = Value::Object(object(r#"{"token": "0123456789abcdef"}"#)?);
        Ok(Self {
            start: Event { at_ms: 0, kind: EventKind::Started(Box::new(started)) },
            reply: ToolReply { status: 200, retry_after_ms: None, body: ReplyBody::Json(token), job: None },
        })
    }

    /// Runs the plan, from its first event to its answer.
    pub fn run(&self) -> Result<()> {
        let (mut run, _) = Run::begin(&self.start)?;
        let mut now_ms = 0;
        while run.answer().is_none() {
            let due = run.pending().into_iter().find_map(|effect| match effect {
                Effect::CallTool(call) => Some(call.id.clone()),
                _ => None,
            });
            let effect = due.ok_or("no call is due, and the run has not ended")?;
            now_ms += 1;
            run.apply(&Event { at_ms: now_ms, kind: EventKind::ToolAnswered { effect, reply: self.reply.clone() } })?;
        }
        match run.answer().map(|answer| answer.status) {
            Some(Status::Complete) => Ok(()),
            _ => Err("the run did not complete".into()),
        }
    }
}

fn object(text: &str) -> Result<Object> {
    Value::parse(text)?.as_object().cloned().ok_or_else(|| format!("{text} is not an object").into())
}
