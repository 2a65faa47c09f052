//! The parts of an answer as Gemini sent them, where a part besides a call carries a signature.

use reknit_model_api::{ProviderState, ToolCall};
use reknit_protocol::{Object, Value};

use crate::json::{at, text};

const STATE_FORMAT: &str = "gemini-parts";

#[derive(Debug, Default)]
pub(crate) struct Parts {
    list: Vec<Object>,
    has_signed_text: bool,
}

impl Parts {
    /// Adds a part. Pieces of one text are put together, unless one is signed.
    pub(super) fn add(&mut self, part: &Value) {
        let Value::Object(part) = part else { return };
        let is_signed = part.contains_key("thoughtSignature");
        let is_text = |part: &Object| part.get("text").and_then(Value::as_str).is_some();
        self.has_signed_text |= is_signed && is_text(part);
        let is_thought = |part: &Object| part.get("thought").and_then(Value::as_bool) == Some(true);
        let last = self.list.last_mut().filter(|last| {
            is_text(last)
                && is_text(part)
                && !is_signed
                && !last.contains_key("thoughtSignature")
                && is_thought(last) == is_thought(part)
        });
        let more = part.get("text").and_then(Value::as_str).unwrap_or_default();
        match last.and_then(|last| last.get_mut("text")) {
            Some(Value::String(known)) => known.push_str(more),
            _ => self.list.push(part.clone()),
        }
    }

    /// The parts as provider state; none if text, calls and reasoning say all of them.
    pub(crate) fn state(&self) -> Option<ProviderState> {
        let list: Value = self.list.iter().cloned().map(Value::from).collect();
        self.has_signed_text.then(|| ProviderState::new(STATE_FORMAT, list.to_string()))
    }
}

/// The parts to send back instead of the other fields of a message; none if they do not say the same any more. `render`
/// gives the part of a call.
pub(super) fn parts_to_send(
    state: &ProviderState,
    message_text: &str,
    calls: &[ToolCall],
    render: impl Fn(&ToolCall) -> Value,
) -> Option<Vec<Value>> {
    if state.format != STATE_FORMAT {
        return None;
    }
    let Ok(Value::Array(mut parts)) = Value::parse(&state.text) else { return None };
    let is_thought = |part: &Value| part.get("thought").and_then(Value::as_bool) == Some(true);
    let texts = parts.iter().filter(|part| !is_thought(part)).filter_map(|part| text(part, &["text"]));
    let names = parts.iter().filter_map(|part| at(part, &["functionCall"])).map(|call| text(call, &["name"]));
    let same_calls = names.eq(calls.iter().map(|call| Some(call.name.as_str())));
    if texts.collect::<String>() != message_text || !same_calls {
        return None;
    }
    let mut calls = calls.iter();
    for part in parts.iter_mut().filter(|part| at(part, &["functionCall"]).is_some()) {
        *part = calls.next().map(&render)?;
    }
    Some(parts)
}
