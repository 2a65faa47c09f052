//! One run: the machine, the demo tools over loopback, and a model: one that knows the answer, or a real one. Time passes only where the run waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use reknit_engine::{Effect, Event, MACHINE_VERSION, Policy, Run, Started, Synthesis, Templates, What};
use reknit_mend::{IndependentSteps, People, Resolution, Rung};
use reknit_models::Models;
use reknit_plan::Catalogue;
use reknit_protocol::{Object, Plan, Step, Value};
use reknit_tools::Tools;

use crate::cases::{Call, Case};
use crate::words;

/// Who may mend.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rungs {
    /// The schema and the facts.
    Code,
    /// Those, then a model.
    All,
}

/// What became of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub end: End,
    pub model_calls: u32,
    /// What mended it, if it needed mending.
    pub rungs: Vec<Rung>,
    /// What was done about it, and why.
    pub words: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The tool did what it would have done for the right call.
    Right,
    /// It did something else, and nobody noticed.
    Wrong,
    /// It was given up.
    Failed,
    /// The plan was refused before anything ran: mending is not asked.
    Refused,
}

/// What the tools know of themselves, and how to call them.
pub struct World {
    pub catalogue: Catalogue,
    pub tools: Tools,
    pub runs: Arc<AtomicU32>,
    /// Who is asked; the scripted one, which knows the answer, if there is none.
    pub model: Option<Arc<Models>>,
}

impl World {
    pub async fn outcome(&self, case: &Case, rungs: Rungs) -> Outcome {
        let right = self.run(&case.call, &case.call.right, &case.call.right, Rungs::Code).await;
        let damaged = self.run(&case.call, &case.wrong, &case.call.right, rungs).await;
        let Some(run) = damaged else {
            return Outcome { end: End::Refused, model_calls: 0, rungs: Vec::new(), words: Vec::new() };
        };
        let expected = right.as_ref().and_then(|run| run.result("call")).map(stable);
        let end = match run.result("call").map(stable) {
            None => End::Failed,
            got if got == expected => End::Right,
            Some(_) => End::Wrong,
        };
        let steps = run.steps();
        let mends = steps.iter().filter(|step| step.id.as_str() == "call").flat_map(|step| &step.mends);
        let words = mends.clone().map(|mend| format!("{}: {}", mend.rung.as_str(), mend.words)).collect();
        let rungs =
            mends.filter(|mend| mend.effect == reknit_mend::MendEffect::Applied).map(|mend| mend.rung).collect();
        Outcome { end, model_calls: run.spent().model_calls, rungs, words }
    }

    /// Drives a run to its end; nothing if its plan is refused.
    async fn run(&self, call: &Call, parameters: &Object, right: &Object, rungs: Rungs) -> Option<Run> {
        let mut now_ms = 1_000;
        let started = self.started(call, parameters, rungs);
        let mut run = Run::begin(&Event { at_ms: now_ms, what: What::Started(Box::new(started)) }).expect("it begins");
        for _ in 0..200 {
            if let Some(answer) = run.answer() {
                return (!answer.steps.is_empty()).then_some(run);
            }
            let effects = run.pending();
            let is_deadline = |effect: &&Effect| matches!(effect, Effect::Sleep { id, .. } if *id.owner() == reknit_protocol::EffectOwner::Run);
            let effect = effects.iter().find(|effect| !is_deadline(effect)).or(effects.first())?;
            let what = match effect {
                Effect::CallTool(call) => match self.tools.call(call).await {
                    Ok(reply) => What::ToolAnswered { effect: call.id.clone(), reply },
                    Err(failure) => What::ToolFailed { effect: call.id.clone(), failure },
                },
                Effect::AskModel(ask) => match &self.model {
                    None => {
                        let text = words::answer(ask.purpose, parameters, right);
                        What::ModelAnswered { effect: ask.id.clone(), answer: words::as_answer(text) }
                    }
                    Some(model) => match model.ask(&ask.target, &ask.request, &mut |_| ()).await {
                        Ok(answer) => What::ModelAnswered { effect: ask.id.clone(), answer },
                        Err(failure) => What::ModelFailed { effect: ask.id.clone(), failure },
                    },
                },
                Effect::Sleep { id, until_ms } => {
                    now_ms = now_ms.max(*until_ms);
                    What::Woke { effect: id.clone() }
                }
                Effect::AskPerson(_)
                | Effect::CountTokens(_)
                | Effect::Abort { .. }
                | Effect::Finish(_)
                | Effect::Report(_) => return Some(run),
            };
            run.apply(&Event { at_ms: now_ms, what }).expect("the event is taken in");
        }
        panic!("the run does not end: {:?}", run.pending());
    }

    fn started(&self, call: &Call, parameters: &Object, rungs: Rungs) -> Started {
        let (agent, capability, before) = &call.before;
        let steps = vec![
            Step::new("before", *agent, capability, "first").with_parameters(before.clone()),
            Step::new("call", call.agent, call.capability, call.request.as_str())
                .with_parameters(parameters.clone())
                .after("before"),
        ];
        let mut policy = Policy { synthesis: Synthesis::Template, people: People::Nobody, ..Policy::default() };
        policy.mending.independent_steps = IndependentSteps::Mended;
        if rungs == Rungs::Code {
            policy.mending.feedback = 0;
            policy.mending.context = 0;
            policy.mending.resolution = Resolution::Off;
        }
        Started {
            // Orders carry keys made of it: two runs must not share one.
            run: format!("bench-{}", self.runs.fetch_add(1, Ordering::Relaxed)).as_str().into(),
            request: call.request.clone(),
            plan: Some(Plan::new("bench", call.request.as_str(), steps)),
            inputs: Object::new(),
            mappings: Vec::new(),
            catalogue: Arc::new(self.catalogue.clone()),
            targets: if rungs == Rungs::All { vec!["model".into()] } else { Vec::new() },
            policy: Arc::new(policy),
            templates: Arc::new(Templates::default()),
            seed: 7,
            trace_parent: None,
            machine_version: MACHINE_VERSION,
        }
    }
}

/// A result without the number of its order, which counts on.
fn stable(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(data) = value.get_mut("data").and_then(Value::as_object_mut) {
        data.remove("order_id");
    }
    value
}
