//! The questions to models of a run or session, with their answers.
//!
//! This list is not stored: replaying the events yields the same questions, word for word, and the events contain the
//! answers. The policy of a run decides whether users may see them ([`LlmDebug`]).

use std::collections::HashMap;
use std::sync::Arc;

use reknit_engine::{ApplyError, Event, LlmDebug, Machine, ModelQuestion, ModelRecord, Record, RecordKind};
use reknit_model_api::{Message, ModelAnswer, ModelFailure, ModelRequest, Purpose, TargetName, ToolCall};
use reknit_protocol::{EffectId, Object, Value};

use crate::redact::redact_text;

/// One question to a model with its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Interaction {
    pub purpose: Purpose,
    pub step: Option<String>,
    /// The number of the question among those of the same kind, from 1.
    pub attempt: u32,
    pub target: TargetName,
    pub request: Arc<ModelRequest>,
    /// The time of the question, in milliseconds since 1970.
    pub asked_ms: i64,
    /// The time until the outcome, in milliseconds.
    pub duration_ms: u64,
    pub outcome: Result<ModelAnswer, ModelFailure>,
}

/// Every question to a model that ended, in the order of the ends; `None` if the policy of the run hides them.
pub fn interactions(events: &[Event]) -> Result<Option<Vec<Interaction>>, ApplyError> {
    let Some((machine, decided)) = Machine::replay(events)? else { return Ok(Some(Vec::new())) };
    if machine.policy().llm_debug == LlmDebug::Off {
        return Ok(None);
    }
    Ok(Some(ended_questions(events, &decided)))
}

/// The same for the owner of the journal, from whom nothing is hidden.
pub fn owner_interactions(events: &[Event]) -> Result<Vec<Interaction>, ApplyError> {
    let replayed = Machine::replay(events)?;
    Ok(replayed.map(|(_, decided)| ended_questions(events, &decided)).unwrap_or_default())
}

fn ended_questions(events: &[Event], decided: &[Vec<Record>]) -> Vec<Interaction> {
    let mut open: HashMap<EffectId, (i64, ModelQuestion)> = HashMap::new();
    let mut interactions = Vec::new();
    for (event, record) in
        events.iter().zip(decided).flat_map(|(event, records)| records.iter().map(move |r| (event, r)))
    {
        let RecordKind::Model(model) = &record.kind else { continue };
        let (id, outcome) = match model {
            ModelRecord::Asked(question) => {
                let id = question.id.clone().nested_in(&record.scope);
                open.entry(id).or_insert((event.at_ms, question.clone()));
                continue;
            }
            ModelRecord::Answered { id, answer, .. } => (id, Ok(answer.as_ref().clone())),
            ModelRecord::Failed { id, failure } => (id, Err(failure.clone())),
            ModelRecord::Skipped { .. } => continue,
        };
        if let Some((asked_ms, question)) = open.remove(&id.clone().nested_in(&record.scope)) {
            interactions.push(Interaction::new(question, asked_ms, event.at_ms, outcome));
        }
    }
    interactions
}

impl Interaction {
    fn new(question: ModelQuestion, asked_ms: i64, at_ms: i64, outcome: Result<ModelAnswer, ModelFailure>) -> Self {
        let waited = u64::try_from(at_ms.saturating_sub(asked_ms)).unwrap_or(0);
        let measured = outcome.as_ref().ok().and_then(|answer| answer.timings);
        Self {
            purpose: question.purpose,
            step: question.id.step().map(|step| step.as_str().to_owned()),
            attempt: question.id.ordinal(),
            target: question.target,
            asked_ms,
            duration_ms: measured.map_or(waited, |timings| timings.total_ms),
            request: question.request,
            outcome,
        }
    }

    pub fn system_prompt(&self) -> String {
        self.messages_text(|message| matches!(message, Message::System { .. }))
    }

    pub fn prompt(&self) -> String {
        self.messages_text(|message| !matches!(message, Message::System { .. }))
    }

    fn messages_text(&self, is_included: impl Fn(&Message) -> bool) -> String {
        let texts = self.request.messages.iter().filter(|message| is_included(message)).map(message_text);
        redact_text(&texts.collect::<Vec<_>>().join("\n\n"))
    }

    /// The answer, redacted: its text, then its tool calls.
    pub fn response(&self) -> String {
        let Ok(answer) = &self.outcome else { return String::new() };
        redact_text(&text_and_calls(&answer.text, &answer.tool_calls))
    }

    /// Why there is no answer, redacted.
    pub fn error(&self) -> Option<String> {
        self.outcome.as_ref().err().map(|failure| redact_text(&failure.to_string()))
    }

    /// The interaction as a JSON object, redacted.
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

fn message_text(message: &Message) -> String {
    match message {
        Message::Tool { name, text, .. } => format!("{name}: {text}"),
        other => text_and_calls(other.text(), other.tool_calls()),
    }
}

fn text_and_calls(text: &str, calls: &[ToolCall]) -> String {
    let text = Some(text.to_owned()).filter(|text| !text.is_empty());
    let calls = calls.iter().map(|call| format!("{} {}", call.name, call.arguments));
    text.into_iter().chain(calls).collect::<Vec<_>>().join("\n")
}
