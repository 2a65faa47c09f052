//! Every question to a model with what came of it, read from the events of a run or a session.
//!
//! Nothing is kept for it: a machine that takes in its events again wants the same questions again, word for word, and the
//! events have the answers. Whether people may see them is a rule of the run ([`LlmDebug`]).

use reknit_protocol::StepId;
use std::collections::HashMap;

use reknit_dialogue::{Answer, Failure, Message, Purpose, Request, TargetName};
use reknit_protocol::{Object, Value};

use crate::effect::{AskModel, Effect};
use crate::event::{Event, What};
use crate::machine::Machine;
use crate::policy::LlmDebug;
use crate::run::ApplyError;
use crate::telemetry::redact::redact_text;
use reknit_protocol::EffectId;

/// One question to a model with what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Interaction {
    /// What it was for.
    pub purpose: Purpose,
    /// For which step, if for one.
    pub step: Option<String>,
    /// The how-manieth question of its kind.
    pub attempt: u32,
    /// Who was asked.
    pub target: TargetName,
    /// What was asked.
    pub request: Request,
    /// When, in milliseconds since 1970.
    pub asked_ms: i64,
    /// How long it took.
    pub duration_ms: u64,
    /// What was said, or why nothing was.
    pub outcome: Result<Answer, Failure>,
}

/// Every question that was answered, well or badly, in the order of the answers; none if the run keeps them to itself.
pub fn interactions(events: &[Event]) -> Result<Option<Vec<Interaction>>, ApplyError> {
    let Some((first, rest)) = events.split_first() else { return Ok(Some(Vec::new())) };
    let mut machine = Machine::begin(first)?;
    if machine.policy().llm_debug == LlmDebug::Off {
        return Ok(None);
    }
    let mut open: HashMap<EffectId, (i64, AskModel)> = HashMap::new();
    let mut found = Vec::new();
    note_questions(&machine, first.at_ms, &mut open);
    for event in rest {
        let outcome = match &event.what {
            What::ModelAnswered { effect, answer } => Some((effect, Ok(answer.clone()))),
            What::ModelFailed { effect, failure } => Some((effect, Err(failure.clone()))),
            _ => None,
        };
        if let Some((effect, outcome)) = outcome
            && let Some((asked_ms, ask)) = open.remove(effect)
        {
            found.push(Interaction::new(ask, asked_ms, event.at_ms, outcome));
        }
        machine.apply(event)?;
        note_questions(&machine, event.at_ms, &mut open);
    }
    Ok(Some(found))
}

fn note_questions(machine: &Machine, at_ms: i64, open: &mut HashMap<EffectId, (i64, AskModel)>) {
    for effect in machine.pending() {
        if let Effect::AskModel(ask) = effect {
            open.entry(ask.id.clone()).or_insert((at_ms, ask));
        }
    }
}

impl Interaction {
    fn new(ask: AskModel, asked_ms: i64, at_ms: i64, outcome: Result<Answer, Failure>) -> Self {
        let attempt = ask.id.ordinal();
        let owner = ask.id.step().map(StepId::as_str);
        let step = match ask.purpose {
            Purpose::Correction | Purpose::MicroResolution | Purpose::SemanticRetry | Purpose::ErrorAnalysis => owner,
            Purpose::PlanGeneration
            | Purpose::Synthesis
            | Purpose::SynthesisStreaming
            | Purpose::TieredSelection
            | Purpose::HallucinationDetection
            | Purpose::AgentTurn => None,
        };
        let waited = u64::try_from(at_ms.saturating_sub(asked_ms)).unwrap_or(0);
        let measured = outcome.as_ref().ok().and_then(|answer| answer.timings);
        Self {
            purpose: ask.purpose,
            step: step.map(str::to_owned),
            attempt,
            target: ask.target,
            asked_ms,
            duration_ms: measured.map_or(waited, |timings| timings.total_ms),
            request: ask.request,
            outcome,
        }
    }

    /// What the system said, without secrets.
    pub fn system_prompt(&self) -> String {
        self.said(|message| matches!(message, Message::System { .. }))
    }

    /// Everything else that was said, without secrets.
    pub fn prompt(&self) -> String {
        self.said(|message| !matches!(message, Message::System { .. }))
    }

    fn said(&self, wanted: impl Fn(&Message) -> bool) -> String {
        let words = self.request.messages.iter().filter(|message| wanted(message)).map(words);
        redact_text(&words.collect::<Vec<_>>().join("\n\n"))
    }

    /// What was answered, without secrets: the words, then the calls.
    pub fn response(&self) -> String {
        let Ok(answer) = &self.outcome else { return String::new() };
        let calls = answer.tool_calls.iter().map(|call| format!("{} {}", call.name, call.arguments));
        let words = Some(answer.text.clone()).filter(|text| !text.is_empty());
        redact_text(&words.into_iter().chain(calls).collect::<Vec<_>>().join("\n"))
    }

    /// Why there is no answer, without secrets.
    pub fn error(&self) -> Option<String> {
        self.outcome.as_ref().err().map(|failure| redact_text(&failure.to_string()))
    }

    /// All of it for programs.
    pub fn to_value(&self) -> Value {
        let usage = self.outcome.as_ref().ok().map(|answer| answer.usage);
        let count = |tokens: Option<u64>| tokens.map_or(Value::Null, Value::from);
        let model = self.outcome.as_ref().ok().map_or(Value::Null, |answer| answer.model.as_str().into());
        let temperature = self.request.temperature;
        Value::Object(Object::from([
            ("type", self.purpose.as_str().into()),
            ("step_id", self.step.as_deref().map_or(Value::Null, Value::from)),
            ("attempt", self.attempt.into()),
            ("timestamp", self.asked_ms.into()),
            ("duration_ms", self.duration_ms.into()),
            ("provider", self.target.as_str().into()),
            ("model", model),
            ("temperature", temperature.map_or(Value::Null, |temperature| Value::Number(temperature.to_number()))),
            ("max_tokens", self.request.max_tokens.into()),
            ("system_prompt", self.system_prompt().into()),
            ("prompt", self.prompt().into()),
            ("response", self.response().into()),
            ("prompt_tokens", count(usage.map(|usage| usage.input_tokens))),
            ("completion_tokens", count(usage.map(|usage| usage.output_tokens))),
            ("total_tokens", count(usage.map(|usage| usage.input_tokens.saturating_add(usage.output_tokens)))),
            ("success", self.outcome.is_ok().into()),
            ("error", self.error().map_or(Value::Null, Value::from)),
        ]))
    }
}

fn words(message: &Message) -> String {
    match message {
        Message::Tool { name, text, .. } => format!("{name}: {text}"),
        other => {
            let calls = other.tool_calls().iter().map(|call| format!("{} {}", call.name, call.arguments));
            let text = Some(other.text().to_owned()).filter(|text| !text.is_empty());
            text.into_iter().chain(calls).collect::<Vec<_>>().join("\n")
        }
    }
}
