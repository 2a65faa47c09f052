//! Reads the recorded answers of tools and models, and the decisions of people.

use reknit_model_api::{ErrorClass, ModelAnswer, ModelFailure, Purpose, Usage};
use reknit_protocol::{Delivery, Object, ReplyBody, ToolReply, TransportFailure, TransportKind, Value};

use super::fields::Fields;
use crate::json::{from_value, to_value, with_differences};
use crate::recording::{CallRecording, DecisionRecording, ModelMatch, ModelRecording, PlayCount};

/// The fields of an answer of a model that a file has under their own names.
pub(super) const ANSWER_FIELDS: [&str; 13] = [
    "tool_calls",
    "reasoning",
    "content_state",
    "citations",
    "finish",
    "stop_sequence",
    "usage",
    "cost",
    "reported_cost",
    "model",
    "format_used",
    "omitted_options",
    "skipped_events",
];

pub(super) fn call(fields: &Fields<'_>) -> Option<CallRecording> {
    let call = fields.text("call");
    let step = fields.text("step");
    let parameters = fields.object("with").cloned().unwrap_or_default();
    let asks = fields.value("asks").and_then(|value| read_or_report(fields, "asks", value));
    let (took_ms, plays) = (fields.number("took_ms").unwrap_or_default(), plays(fields));
    let outcome = match fields.value("fault") {
        Some(fault) => Err(tool_fault(fields, fault)?),
        None => Ok(tool_reply(fields)?),
    };
    let Some(call) = call.filter(|call| call.contains('/')) else {
        let hint = "write `call: tool/capability`".to_owned();
        fields.problems.add(&fields.path, "the recorded call does not say which capability it calls", Some(hint));
        return None;
    };
    Some(CallRecording { call, step, parameters, asks, took_ms, outcome, plays })
}

fn plays(fields: &Fields<'_>) -> PlayCount {
    match fields.value("times") {
        None => PlayCount::Times(1),
        Some(Value::String(word)) if word == "any" => PlayCount::Any,
        Some(value) => {
            let times = value.as_number().and_then(|number| u32::try_from(number.as_u64()?).ok());
            if times.is_none() {
                fields.problem("times", "expected a whole number or `any`");
            }
            PlayCount::Times(times.unwrap_or(1))
        }
    }
}

fn read_or_report<T: serde::de::DeserializeOwned>(fields: &Fields<'_>, key: &str, value: &Value) -> Option<T> {
    from_value(value).map_err(|message| fields.problem(key, message)).ok()
}

fn tool_reply(fields: &Fields<'_>) -> Option<ToolReply> {
    let status = fields.number("status").unwrap_or(200);
    let bodies = [fields.value("reply"), fields.value("text"), fields.value("repaired")];
    if bodies.iter().flatten().count() > 1 {
        fields.problem("reply", "a reply has one of `reply`, `text` and `repaired`");
        return None;
    }
    let body = match bodies {
        [Some(json), ..] => ReplyBody::Json(json.clone()),
        [_, Some(_), _] => ReplyBody::Text(fields.text("text")?),
        [_, _, Some(repaired)] => {
            let fixes = repaired.get("fixes").and_then(Value::as_array).unwrap_or_default();
            let fixes = fixes.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            ReplyBody::Repaired { value: repaired.get("value").cloned().unwrap_or_default(), fixes }
        }
        _ => ReplyBody::Empty,
    };
    let job = fields.value("job").and_then(|value| read_or_report(fields, "job", value));
    let Ok(status) = u16::try_from(status) else {
        fields.problem("status", "expected the status of an HTTP response, such as 200");
        return None;
    };
    Some(ToolReply { status, retry_after_ms: fields.number("retry_after_ms"), body, job })
}

/// A fault of a tool: a word such as `reset`, or an object with `kind`, `delivery` and `message`.
fn tool_fault(fields: &Fields<'_>, fault: &Value) -> Option<TransportFailure> {
    let word = match fault {
        Value::String(word) => Value::from([("kind", Value::from(word.as_str()))]),
        other => other.clone(),
    };
    let kind: TransportKind = read_or_report(fields, "fault", word.get("kind").unwrap_or(&Value::Null))?;
    let delivery = match word.get("delivery") {
        Some(delivery) => read_or_report(fields, "fault", delivery)?,
        None if matches!(kind, TransportKind::Refused | TransportKind::NotCallable) => Delivery::NotSent,
        None => Delivery::Possible,
    };
    let message = word.get("message").and_then(Value::as_str).unwrap_or(default_message(kind)).to_owned();
    Some(TransportFailure { kind, delivery, message })
}

fn default_message(kind: TransportKind) -> &'static str {
    match kind {
        TransportKind::Refused => "the connection was refused",
        TransportKind::Reset => "the connection broke",
        TransportKind::TimedOut => "no reply arrived in time",
        TransportKind::TooLarge => "the reply is too large",
        TransportKind::Unreadable => "the reply cannot be read",
        TransportKind::NotCallable => "the tool cannot be called",
    }
}

pub(super) fn model(fields: &Fields<'_>, default: ModelMatch) -> Option<ModelRecording> {
    let purpose = fields.text("purpose");
    let matching = matching(fields, default);
    let (target, digest) = (fields.text("target"), fields.text("digest"));
    let (took_ms, plays) = (fields.number("took_ms").unwrap_or_default(), plays(fields));
    let outcome = match fields.value("fault") {
        Some(fault) => Err(model_fault(fields, fault)?),
        None => Ok(model_answer(fields)?),
    };
    let Some(purpose) = purpose.as_deref().and_then(Purpose::from_word) else {
        let words: Vec<&str> = Purpose::ALL.iter().map(|purpose| purpose.as_str()).collect();
        fields.problem("purpose", format!("expected one of {}", words.join(", ")));
        return None;
    };
    if digest.is_none() && matching == ModelMatch::Digest {
        let hint = "write `match: purpose`, or let `reknit test --update` add the digest".to_owned();
        fields.problems.add(&fields.path, "the recorded question has no `digest`", Some(hint));
    }
    Some(ModelRecording { purpose, target, digest, matching, took_ms, outcome, plays })
}

/// How questions are compared with recorded ones.
pub(super) fn matching(fields: &Fields<'_>, default: ModelMatch) -> ModelMatch {
    match fields.text("match").as_deref() {
        None => default,
        Some("digest") => ModelMatch::Digest,
        Some("purpose") => ModelMatch::Purpose,
        Some(_) => {
            fields.problem("match", "expected `digest` or `purpose`");
            default
        }
    }
}

fn model_answer(fields: &Fields<'_>) -> Option<ModelAnswer> {
    let text = fields.text("answer").unwrap_or_default();
    let base = to_value(&ModelAnswer::complete(text, "recorded", Usage::reported(0, 0)));
    let mut given = Object::new();
    for key in ANSWER_FIELDS {
        if let Some(value) = fields.value(key) {
            given.insert(key, value.clone());
        }
    }
    if let Some(calls) = given.get_mut("tool_calls") {
        arguments_as_text(calls);
    }
    read_or_report(fields, "answer", &with_differences(&base, &Value::Object(given)))
}

/// The arguments of a call are text to a model. In a file they may be an object.
fn arguments_as_text(calls: &mut Value) {
    for call in calls.as_array_mut().into_iter().flatten() {
        if let Some(arguments @ Value::Object(_)) = call.get_mut("arguments") {
            *arguments = Value::from(arguments.to_string());
        }
    }
}

fn model_fault(fields: &Fields<'_>, fault: &Value) -> Option<ModelFailure> {
    let fault = match fault {
        Value::String(class) => Value::from([("class", Value::from(class.as_str()))]),
        other => other.clone(),
    };
    let base = to_value(&ModelFailure::new(ErrorClass::NetworkError, ""));
    read_or_report(fields, "fault", &with_differences(&base, &fault))
}

pub(super) fn decision(fields: &Fields<'_>) -> Option<DecisionRecording> {
    let (within, step) = (fields.text("in"), fields.text("step"));
    let decision = fields.value("decision").and_then(|value| read_or_report(fields, "decision", value));
    match (step, decision) {
        (Some(step), Some(decision)) => Some(DecisionRecording { within, step, decision }),
        (None, _) => {
            fields.problems.add(&fields.path, "the decision has no `step`", None);
            None
        }
        (Some(_), None) => {
            if fields.value("decision").is_none() {
                let hint = "write `decision: approve` or `decision: {deny: {}}`".to_owned();
                fields.problems.add(&fields.path, "there is no `decision`", Some(hint));
            }
            None
        }
    }
}
