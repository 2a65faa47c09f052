//! A call with a side effect that succeeded is not made again, unless the model states why.

use reknit_protocol::{Object, SideEffect, Value};
use serde::{Deserialize, Serialize};

use super::Session;
use super::classify_answer::{Call, Callee};
use super::tool_calls::{ToolOutput, call_name};
use crate::record::SessionRecord;
use crate::report::RepeatedCall;
use crate::uncertain_call::UncertainCall;

/// The argument with which a model states why it repeats a call. It is never sent to the tool.
const REPEAT_ARGUMENT: &str = "repeat_reason";

const DESCRIPTION: &str = "Only to make a call again that succeeded before with the same arguments: why it is needed once more. \
    Without it, such a call returns its earlier result.";

/// A call with a side effect that succeeded, and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CompletedCall {
    /// The call as the model wrote it and as it was sent.
    pub(super) written: UncertainCall,
    pub(super) sent: UncertainCall,
    pub(super) turn: u32,
    pub(super) call: String,
    /// The result, without notes.
    pub(super) text: String,
}

/// Whether a repeated call of this class is stopped: the tool changes something each time.
pub(super) fn needs_reason(class: SideEffect) -> bool {
    matches!(class, SideEffect::Keyed | SideEffect::Unsafe)
}

/// Adds the argument to the schema of a tool, under a name that the schema does not use; returns the name.
pub(super) fn add_repeat_argument(schema: &mut Value) -> Option<String> {
    let object = schema.as_object_mut()?;
    if object.get("properties").is_none_or(|properties| properties.as_object().is_none()) {
        object.insert("properties", Value::Object(Object::new()));
    }
    let properties = object.get_mut("properties")?.as_object_mut()?;
    let mut name = REPEAT_ARGUMENT.to_owned();
    while properties.contains_key(&name) {
        name.insert_str(0, "agent_");
    }
    let argument = Object::from([("type", Value::from("string")), ("description", Value::from(DESCRIPTION))]);
    properties.insert(name.as_str(), Value::Object(argument));
    Some(name)
}

/// Words that models write where they have nothing to say.
const EMPTY_WORDS: [&str; 8] = ["none", "null", "na", "false", "true", "no", "yes", "empty"];

/// Removes the argument from the parameters; returns the reason, if it states one.
pub(super) fn take_reason(parameters: &mut Object, argument: &str) -> Option<String> {
    let Value::String(text) = parameters.remove(argument)? else { return None };
    let letters: String = text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let is_reason = letters.chars().count() > 2 && !EMPTY_WORDS.contains(&letters.as_str());
    is_reason.then(|| text.trim().to_owned())
}

impl Session {
    /// Lets a call that succeeded before return its earlier result, unless the model states why it is repeated.
    pub(super) fn stop_repeated_call(&mut self, index: usize, call: &mut Call) {
        let Some(identity) = call.identity() else { return };
        // A call that may have happened is refused, whatever happened before it.
        if self.state.uncertain_calls.contains(&identity) {
            return;
        }
        let is_same =
            |earlier: &CompletedCall| earlier.written.is_same_as(&identity) || earlier.sent.is_same_as(&identity);
        let Some(at) = self.state.completed_calls.iter().rposition(is_same) else { return };
        let Some(earlier) = self.state.completed_calls.get(at) else { return };
        let repeated = RepeatedCall {
            turn: self.state.turn,
            call: call_name(index),
            tool: call.for_history.name.clone(),
            first_turn: earlier.turn,
            first_call: earlier.call.clone(),
            reason: call.repeat_reason.clone(),
        };
        if repeated.reason.is_none() {
            call.callee = Callee::EarlierResult(at);
        }
        self.state.repeated.push(repeated.clone());
        self.record(SessionRecord::CallRepeated(Box::new(repeated)));
    }

    /// The result of an earlier call for a call that repeats it.
    pub(super) fn earlier_result(&self, at: usize, tool: &str) -> Result<ToolOutput, String> {
        let earlier = self.state.completed_calls.get(at).ok_or("its earlier result is lost")?;
        let CompletedCall { turn, call, text, .. } = earlier;
        let how = self.setup.toolbox.repeat_argument(tool).map_or_else(String::new, |argument| {
            format!("; if it is needed once more, call it again and state why in `{argument}`")
        });
        let note =
            format!("(not called again: the same call succeeded in turn {turn}, {call}, and this is its result{how})");
        Ok(ToolOutput { note: Some(note), ..ToolOutput::success(text.clone()) })
    }

    /// Keeps the calls with side effects that succeeded. `sent` has the parameters of each step as they were sent.
    pub(super) fn keep_completed_calls(&mut self, calls: &[Call], sent: Vec<Object>, results: &[ToolOutput]) {
        let mut sent = sent.into_iter();
        for (index, (call, result)) in calls.iter().zip(results).enumerate() {
            let Some(written) = call.identity() else { continue };
            let Some(parameters) = sent.next() else { continue };
            if result.is_error || self.setup.toolbox.repeat_argument(&call.for_history.name).is_none() {
                continue;
            }
            let sent = UncertainCall { parameters, ..written.clone() };
            let (turn, call) = (self.state.turn, call_name(index));
            self.state.completed_calls.push(CompletedCall { written, sent, turn, call, text: result.text.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_argument_gets_a_name_that_the_tool_does_not_use() {
        for (schema, name) in [
            (r#"{"type": "object"}"#, "repeat_reason"),
            (r#"{"type": "object", "properties": {"id": {}}}"#, "repeat_reason"),
            (r#"{"type": "object", "properties": {"repeat_reason": {}}}"#, "agent_repeat_reason"),
        ] {
            let mut schema = Value::parse(schema).unwrap();
            assert_eq!(add_repeat_argument(&mut schema).as_deref(), Some(name));
            assert!(schema.get("properties").and_then(|properties| properties.get(name)?.get("description")).is_some());
        }
        assert_eq!(add_repeat_argument(&mut Value::from(true)), None);
    }

    #[test]
    fn an_empty_reason_is_no_reason() {
        for (arguments, reason) in [
            (r#"{"id": 1, "repeat_reason": "a second box"}"#, Some("a second box")),
            (r#"{"id": 1, "repeat_reason": "  "}"#, None),
            (r#"{"id": 1, "repeat_reason": null}"#, None),
            (r#"{"id": 1, "repeat_reason": false}"#, None),
            (r#"{"id": 1, "repeat_reason": []}"#, None),
            (r#"{"id": 1, "repeat_reason": "n/a"}"#, None),
            ("{\"id\": 1, \"repeat_reason\": \"\u{200b}\"}", None),
            (r#"{"id": 1}"#, None),
        ] {
            let mut parameters = Value::parse(arguments).unwrap().as_object().cloned().unwrap();
            assert_eq!(take_reason(&mut parameters, "repeat_reason").as_deref(), reason);
            assert_eq!(parameters.to_string(), r#"{"id":1}"#);
        }
    }
}
