//! A call with a side effect that succeeded is not made again, unless the model states why. And what is told about calls that were
//! not sent as the model wrote them.

use reknit_mend::Mend;
use reknit_protocol::{Object, SideEffect, Value};

use super::Session;
use super::call::{Call, Callee, CompletedCall, ToolOutput, call_name};
use crate::answer::StepReport;
use crate::business_key::UncertainCall;
use crate::record::SessionRecord;
use crate::report::{MendedCall, RepeatedCall};

impl Session {
    /// Lets a call that succeeded before return its earlier result, unless the model states why it is repeated.
    pub(super) fn stop_repeated_call(&mut self, index: usize, call: &mut Call) {
        let Some(identity) = call.identity() else { return };
        // A call that may have happened is refused, whatever happened before it.
        if self.state.calls.uncertain.contains(&identity) {
            return;
        }
        let is_same =
            |earlier: &CompletedCall| earlier.written.is_same_as(&identity) || earlier.sent.is_same_as(&identity);
        let Some(at) = self.state.calls.completed.iter().rposition(is_same) else { return };
        let Some(earlier) = self.state.calls.completed.get(at) else { return };
        let (turn, first) = (earlier.turn, earlier.call.clone());
        self.note_repeated(index, call, Callee::EarlierResult(at), (turn, first));
    }

    /// Notes that a call is repeated. Unless the model states why, it is not made: `otherwise` brings the result of the first one.
    fn note_repeated(&mut self, index: usize, call: &mut Call, otherwise: Callee, first: (u32, String)) {
        let (first_turn, first_call) = first;
        let repeated = RepeatedCall {
            turn: self.state.current.number,
            call: call_name(index),
            tool: call.for_history.name.clone(),
            first_turn,
            first_call,
            reason: call.repeat_reason.clone(),
        };
        if repeated.reason.is_none() {
            call.callee = otherwise;
        }
        self.state.calls.repeated.push(repeated.clone());
        self.record(SessionRecord::CallRepeated(Box::new(repeated)));
    }

    /// Lets a call that the same answer has twice be made once, unless the model states why it is made again.
    pub(super) fn merge_equal_calls(&mut self, calls: &mut [Call]) {
        let mut made: Vec<(usize, UncertainCall)> = Vec::new();
        for (index, call) in calls.iter_mut().enumerate() {
            let Some(identity) = call.identity() else { continue };
            if self.setup.toolbox.repeat_argument(&call.for_history.name).is_none() {
                continue;
            }
            let Some((first, _)) = made.iter().find(|(_, earlier)| earlier.is_same_as(&identity)) else {
                made.push((index, identity));
                continue;
            };
            let first_call = (self.state.current.number, call_name(*first));
            self.note_repeated(index, call, Callee::SameTurn(*first), first_call);
        }
    }

    /// Gives a call that the same answer has before the result of that one, whatever it is.
    pub(super) fn repeat_results(&self, calls: &[Call], results: &mut [ToolOutput]) {
        for (index, call) in calls.iter().enumerate() {
            let Callee::SameTurn(first) = call.callee else { continue };
            let Some(ToolOutput { text, is_error, .. }) = results.get(first).cloned() else { continue };
            let how = self.how_to_repeat(&call.for_history.name);
            let name = call_name(first);
            let note =
                format!("(not called twice: it is the same call as {name} of this turn, and this is its result{how})");
            if let Some(result) = results.get_mut(index) {
                *result = ToolOutput { text, is_error, note: Some(note) };
            }
        }
    }

    fn how_to_repeat(&self, tool: &str) -> String {
        self.setup.toolbox.repeat_argument(tool).map_or_else(String::new, |argument| {
            format!("; if it is needed once more, call it again and state why in `{argument}`")
        })
    }

    pub(super) fn earlier_result(&self, at: usize, tool: &str) -> Result<ToolOutput, String> {
        let earlier = self.state.calls.completed.get(at).ok_or("its earlier result is lost")?;
        let CompletedCall { turn, call, text, .. } = earlier;
        let how = self.how_to_repeat(tool);
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
            let (turn, call) = (self.state.current.number, call_name(index));
            self.state.calls.completed.push(CompletedCall { written, sent, turn, call, text: result.text.clone() });
        }
    }
}

impl Session {
    /// Keeps for the report how a call was changed or sent again: what mended it, or what was tried in vain.
    pub(super) fn keep_mends(&mut self, call: &str, tool: &str, report: &StepReport) {
        let turn = self.state.current.number;
        let of_call = |mend: &Mend| MendedCall {
            turn,
            call: call.to_owned(),
            tool: tool.to_owned(),
            rung: mend.rung,
            change: mend.description.clone(),
        };
        self.state.calls.mended.extend(report.mended().map(of_call));
        self.state.calls.tried.extend(report.tried().map(of_call));
    }
}

/// The argument with which a model states why it repeats a call. It is never sent to the tool.
const REPEAT_ARGUMENT: &str = "repeat_reason";

const DESCRIPTION: &str = "Only to make a call again that succeeded before with the same arguments: why it is needed once more. \
    Without it, such a call returns its earlier result.";

/// Whether a repeated call of this class is stopped: the tool changes something each time.
pub fn needs_repeat_reason(class: SideEffect) -> bool {
    matches!(class, SideEffect::Keyed | SideEffect::Unknown | SideEffect::Unsafe)
}

/// Adds the argument to the schema of a tool, under a name that the schema does not use; returns the name.
pub fn add_repeat_argument(schema: &mut Value) -> Option<String> {
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
pub fn take_repeat_reason(parameters: &mut Object, argument: &str) -> Option<String> {
    let Value::String(text) = parameters.remove(argument)? else { return None };
    let letters: String = text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let is_reason = letters.chars().count() > 2 && !EMPTY_WORDS.contains(&letters.as_str());
    is_reason.then(|| text.trim().to_owned())
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
            assert_eq!(take_repeat_reason(&mut parameters, "repeat_reason").as_deref(), reason);
            assert_eq!(parameters.to_string(), r#"{"id":1}"#);
        }
    }
}
