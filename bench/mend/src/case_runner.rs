//! Runs a case: the state machine, the demo tools on loopback, and a scripted or a real model. Waits are skipped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use reknit_engine::{Effect, Event, EventKind, MACHINE_VERSION, Metadata, Policy, Run, Started, Synthesis, Templates};
use reknit_mend::{IndependentSteps, LearnedRule, Lesson, PeoplePolicy, ResolutionPolicy, Rung};
use reknit_models::Models;
use reknit_plan::{Catalogue, PlanAuthor};
use reknit_protocol::{Object, Plan, Step, Value};
use reknit_tools::Tools;

use crate::cases::{Call, Case};
use crate::scripted_model;

/// Which rungs may mend a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rungs {
    /// Those that need no model: the schema and the facts.
    Code,
    /// Those, then a model.
    All,
}

/// The outcome of a case.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub end: End,
    pub model_calls: u32,
    /// The rungs that mended the call.
    pub rungs: Vec<Rung>,
    /// Descriptions of all mends.
    pub mends: Vec<String>,
    /// What rules can be learned from.
    pub lessons: Vec<Lesson>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The tool returned the result of the correct call.
    Correct,
    /// The tool returned another result.
    Wrong,
    /// The call failed.
    Failed,
    /// The plan was rejected before it ran, so there was no call to mend.
    PlanRejected,
}

/// Runs cases with one catalogue.
pub struct CaseRunner {
    pub catalogue: Catalogue,
    pub tools: Tools,
    pub runs: Arc<AtomicU32>,
    /// The learned rules that runs use.
    pub rules: Vec<LearnedRule>,
    /// The real model; if there is none, the scripted one is asked, which knows the correct call.
    pub model: Option<Arc<Models>>,
}

impl CaseRunner {
    pub async fn outcome(&self, case: &Case, rungs: Rungs) -> Outcome {
        let correct = self.run(&case.call, &case.call.correct, &case.call.correct, Rungs::Code).await;
        let Some(run) = self.run(&case.call, &case.wrong, &case.call.correct, rungs).await else {
            let nothing = (Vec::new(), Vec::new(), Vec::new());
            let (rungs, mends, lessons) = nothing;
            return Outcome { end: End::PlanRejected, model_calls: 0, rungs, mends, lessons };
        };
        let expected = correct.as_ref().and_then(|run| run.result("call")).map(without_order_id);
        let end = match run.result("call").map(without_order_id) {
            None => End::Failed,
            result if result == expected => End::Correct,
            Some(_) => End::Wrong,
        };
        let steps = run.steps();
        let all_mends = steps.iter().filter(|step| step.id.as_str() == "call").flat_map(|step| &step.mends);
        let mends = all_mends.clone().map(|mend| format!("{}: {}", mend.rung.as_str(), mend.description)).collect();
        let rungs =
            all_mends.filter(|mend| mend.effect == reknit_mend::MendEffect::Applied).map(|mend| mend.rung).collect();
        Outcome { end, model_calls: run.spent().model_calls, rungs, mends, lessons: run.lessons() }
    }

    /// Drives a run to its end. Returns `None` if its plan is rejected.
    async fn run(&self, call: &Call, parameters: &Object, correct: &Object, rungs: Rungs) -> Option<Run> {
        let mut now_ms = 1_000;
        let started = self.started(call, parameters, rungs);
        let (mut run, _) =
            Run::begin(&Event { at_ms: now_ms, kind: EventKind::Started(Box::new(started)) }).expect("the run begins");
        for _ in 0..200 {
            if let Some(answer) = run.answer() {
                return (!answer.steps.is_empty()).then_some(run);
            }
            let effects = run.pending();
            let is_deadline = |effect: &&Effect| matches!(effect, Effect::Sleep { id, .. } if *id.owner() == reknit_protocol::EffectOwner::Run);
            let effect = effects.iter().find(|effect| !is_deadline(effect)).or(effects.first())?;
            let kind = match effect {
                Effect::CallTool(call) => match self.tools.call(call).await {
                    Ok(reply) => EventKind::ToolAnswered { effect: call.id.clone(), reply },
                    Err(failure) => EventKind::ToolFailed { effect: call.id.clone(), failure },
                },
                Effect::AskModel(ask) => match &self.model {
                    None => {
                        let text = scripted_model::reply(ask.purpose, parameters, correct);
                        EventKind::ModelAnswered { effect: ask.id.clone(), answer: scripted_model::answer(text) }
                    }
                    Some(model) => match model.ask(&ask.target, &ask.request, &mut |_| ()).await {
                        Ok(answer) => EventKind::ModelAnswered { effect: ask.id.clone(), answer },
                        Err(failure) => EventKind::ModelFailed { effect: ask.id.clone(), failure },
                    },
                },
                Effect::Sleep { id, until_ms } => {
                    now_ms = now_ms.max(*until_ms);
                    EventKind::Woke { effect: id.clone() }
                }
                Effect::AskPerson(_)
                | Effect::CountTokens(_)
                | Effect::Abort { .. }
                | Effect::Finish(_)
                | Effect::Report(_) => return Some(run),
            };
            run.apply(&Event { at_ms: now_ms, kind }).expect("the event is applied");
        }
        panic!("the run does not end: {:?}", run.pending());
    }

    fn started(&self, call: &Call, parameters: &Object, rungs: Rungs) -> Started {
        let (agent, capability, before) = &call.before;
        let steps = vec![
            Step::new("before", *agent, capability, "first").with_parameters(before.clone()),
            Step::new("call", call.tool, call.capability, call.request.as_str())
                .with_parameters(parameters.clone())
                .after("before"),
        ];
        let mut policy = Policy { synthesis: Synthesis::Template, people: PeoplePolicy::Nobody, ..Policy::default() };
        policy.mending.independent_steps = IndependentSteps::Allowed;
        policy.rules.clone_from(&self.rules);
        if rungs == Rungs::Code {
            policy.mending.feedback = 0;
            policy.mending.context = 0;
            policy.mending.resolution = ResolutionPolicy::Off;
        }
        Started {
            // Orders have idempotency keys that contain the id of the run, so it must be unique.
            run: format!("bench-{}", self.runs.fetch_add(1, Ordering::Relaxed)).as_str().into(),
            request: call.request.clone(),
            plan: Some(Plan::new("bench", call.request.as_str(), steps)),
            plan_author: PlanAuthor::Person,
            inputs: Object::new(),
            attachments: Vec::new(),
            agents: Vec::new(),
            metadata: Metadata::default(),
            mappings: Vec::new(),
            catalogue: Arc::new(self.catalogue.clone()),
            targets: if rungs == Rungs::All { vec!["model".into()] } else { Vec::new() },
            policy: Arc::new(policy),
            templates: Arc::new(Templates::default()),
            seed: 7,
            trace_parent: None,
            fork: None,
            earlier: reknit_engine::Earlier::default(),
            machine_version: MACHINE_VERSION,
        }
    }
}

/// Removes the order number, which differs in every run.
fn without_order_id(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(data) = value.get_mut("data").and_then(Value::as_object_mut) {
        data.remove("order_id");
    }
    value
}
