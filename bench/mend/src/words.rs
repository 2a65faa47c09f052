//! What the scripted model says. It knows the right call, and says only what is different.

use reknit_dialogue::{Answer, Purpose, Usage};
use reknit_protocol::{Object, Value};

/// What it says to a question about a call.
pub fn answer(purpose: Purpose, wrong: &Object, right: &Object) -> String {
    let changes: Object = right
        .iter()
        .filter(|(name, value)| wrong.get(name) != Some(value))
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    if purpose == Purpose::MicroResolution {
        return Value::Object(changes).to_string();
    }
    let changes = Value::Object(changes);
    let removals: Value = wrong.keys().filter(|name| !right.contains_key(name)).map(Value::from).collect();
    format!(
        r#"{{"should_retry": true, "reason": "it was meant so", "suggested_changes": {changes}, "remove": {removals}}}"#
    )
}

/// The words as a model's answer.
pub fn as_answer(text: String) -> Answer {
    Answer::complete(text, "scripted", Usage::reported(100, 50))
}
