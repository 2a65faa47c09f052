//! Calls that failed but may have taken effect, and what else a machine inside another one must not do.

use std::collections::BTreeMap;

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{CapabilityName, Number, Object, ToolName, Value, exact};
use serde::{Deserialize, Serialize};

/// A tool call, reduced to what decides whether another call is the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct UncertainCall {
    #[serde(rename = "agent")]
    pub(crate) tool: ToolName,
    pub(crate) capability: CapabilityName,
    #[serde(with = "exact")]
    pub(crate) parameters: Object,
}

/// What a machine must not do, because of what happened before it started.
#[derive(Debug, Clone, Default)]
pub(crate) struct Avoided {
    /// Calls that may have taken effect.
    pub(crate) calls: Vec<UncertainCall>,
    /// Learned rules whose change a tool rejected, each with the error.
    pub(crate) rules: BTreeMap<String, String>,
}

impl UncertainCall {
    /// Whether another call is the same, except that a number or a boolean may be written as text, and a key in another
    /// spelling.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        self.tool == other.tool
            && self.capability == other.capability
            && are_same_objects(&self.parameters, &other.parameters)
    }
}

fn are_same_objects(one: &Object, other: &Object) -> bool {
    one.len() == other.len()
        && one.iter().all(|(name, value)| {
            let alike = || other.iter().find(|(key, _)| are_alike(key, name)).map(|(_, value)| value);
            other.get(name).or_else(alike).is_some_and(|other| are_same_values(value, other))
        })
}

fn are_same_values(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => are_same_objects(one, other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| are_same_values(one, other))
        }
        (Value::String(text), Value::Number(number)) | (Value::Number(number), Value::String(text)) => {
            Number::parse(text.trim()).is_ok_and(|written| written == *number)
        }
        (Value::String(text), Value::Bool(flag)) | (Value::Bool(flag), Value::String(text)) => {
            text.trim().eq_ignore_ascii_case(&flag.to_string())
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_the_same_if_only_types_differ() {
        let call = |parameters: &str| UncertainCall {
            tool: "shop".into(),
            capability: "order".into(),
            parameters: Value::parse(parameters).unwrap().as_object().unwrap().clone(),
        };
        let first = call(r#"{"id": 8, "gift": true, "items": [{"count": 1}]}"#);
        assert!(first.is_same_as(&call(r#"{"items": [{"Count": "1"}], "ID": "8", "gift": "True"}"#)));
        for other in [
            r#"{"id": 9, "gift": true, "items": [{"count": 1}]}"#,
            r#"{"id": 8, "gift": true, "items": [{"count": 1}, {"count": 1}]}"#,
            r#"{"id": 8, "gift": true, "items": [{"count": 1}], "note": "x"}"#,
            r#"{"id": 8, "gift": "yes", "items": [{"count": 1}]}"#,
        ] {
            assert!(!first.is_same_as(&call(other)), "{other}");
        }
    }
}
