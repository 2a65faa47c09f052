//! The scripted model. It knows the correct call, and replies with the differences.

use reknit_model_api::{ModelAnswer, Purpose, Usage};
use reknit_protocol::{Object, Value};

/// The reply to a request about a wrong call.
pub fn reply(purpose: Purpose, wrong: &Object, correct: &Object) -> String {
    let changes: Object = correct
        .iter()
        .filter(|(name, value)| wrong.get(name) != Some(value))
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    if purpose == Purpose::MicroResolution {
        return Value::Object(changes).to_string();
    }
    let changes = Value::Object(changes);
    let removals: Value = wrong.keys().filter(|name| !correct.contains_key(name)).map(Value::from).collect();
    format!(
        r#"{{"should_retry": true, "reason": "it was meant so", "suggested_changes": {changes}, "remove": {removals}}}"#
    )
}

/// A model answer with this text.
pub fn answer(text: String) -> ModelAnswer {
    ModelAnswer::complete(text, "scripted", Usage::reported(100, 50))
}
