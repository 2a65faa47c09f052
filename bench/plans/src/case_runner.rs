//! Runs a damaged plan in the state machine, with simulated tools. The model gives the same plan each time it is asked, and
//! nothing else.

use std::sync::Arc;

use reknit_engine::{
    Effect, Event, EventKind, MACHINE_VERSION, Metadata, Policy, Run, Started, Status, Synthesis, Templates,
};
use reknit_mend::PeoplePolicy;
use reknit_model_api::{ModelAnswer, Usage};
use reknit_protocol::{EffectOwner, Object, ReplyBody, ToolReply, Value};

use crate::domains::Scenario;

/// The outcome of a damaged plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every step was called with the right values.
    Correct,
    /// The plan or a step was refused, and every call that was made was right.
    Refused { reason: String },
    /// A call was made with a wrong value.
    Wrong { call: String, expected: String },
}

/// Runs a plan and compares its calls with those of the scenario.
pub fn outcome(scenario: &Scenario, text: &str) -> Outcome {
    let mut now_ms = 1_000;
    let begin = Event { at_ms: now_ms, kind: EventKind::Started(Box::new(started(scenario))) };
    let (mut run, _) = Run::begin(&begin).expect("the run begins");
    let mut made = 0;
    for _ in 0..200 {
        if let Some(answer) = run.answer() {
            let is_correct = answer.status == Status::Complete && made == scenario.steps.len();
            return if is_correct { Outcome::Correct } else { Outcome::Refused { reason: answer.text.clone() } };
        }
        let effects = run.pending();
        let is_deadline =
            |effect: &&Effect| matches!(effect, Effect::Sleep { id, .. } if *id.owner() == EffectOwner::Run);
        let effect = effects.iter().find(|effect| !is_deadline(effect)).or(effects.first()).expect("something is due");
        let kind = match effect {
            Effect::CallTool(call) => {
                let step = call.id.owner().to_string();
                let sent = Value::Object(call.parameters.clone());
                let expected = scenario.calls.get(&step).expect("a call for each step");
                if sent != *expected {
                    return Outcome::Wrong { call: format!("{step} {sent}"), expected: expected.to_string() };
                }
                made += 1;
                let body = scenario.results.get(&step).expect("a result for each step").clone();
                EventKind::ToolAnswered {
                    effect: call.id.clone(),
                    reply: ToolReply { status: 200, retry_after_ms: None, body: ReplyBody::Json(body), job: None },
                }
            }
            Effect::AskModel(ask) => {
                let text = if *ask.id.owner() == EffectOwner::Plan { text } else { "I do not know." };
                let answer = ModelAnswer::complete(text.to_owned(), "scripted", Usage::reported(100, 50));
                EventKind::ModelAnswered { effect: ask.id.clone(), answer }
            }
            Effect::Sleep { id, until_ms } => {
                now_ms = now_ms.max(*until_ms);
                EventKind::Woke { effect: id.clone() }
            }
            other => panic!("nothing answers {other:?}"),
        };
        run.apply(&Event { at_ms: now_ms, kind }).expect("the event is applied");
    }
    panic!("the run does not end: {:?}", run.pending());
}

fn started(scenario: &Scenario) -> Started {
    let policy = Policy { synthesis: Synthesis::Template, people: PeoplePolicy::Nobody, ..Policy::default() };
    Started {
        run: "bench".into(),
        request: format!("{}: {}", scenario.domain, scenario.name),
        plan: None,
        plan_author: reknit_plan::PlanAuthor::Person,
        inputs: Object::new(),
        attachments: Vec::new(),
        agents: Vec::new(),
        metadata: Metadata::default(),
        mappings: Vec::new(),
        catalogue: Arc::new(scenario.catalogue.clone()),
        targets: vec!["model".into()],
        policy: Arc::new(policy),
        templates: Arc::new(Templates::default()),
        seed: 7,
        trace_parent: None,
        fork: None,
        earlier: reknit_engine::Earlier::default(),
        machine_version: MACHINE_VERSION,
    }
}
