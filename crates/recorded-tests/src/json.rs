//! Conversions between types of serde and values, and the differences of one value from another.

use reknit_protocol::{Object, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value that serde can write. What it cannot write, or what is no JSON, is null.
pub(crate) fn to_value(item: &impl Serialize) -> Value {
    serde_json::to_string(item).ok().and_then(|text| Value::parse(&text).ok()).unwrap_or_default()
}

pub(crate) fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_json::from_str(&value.to_string()).map_err(|error| {
        // The line and the column are those of a text that nobody sees.
        let text = error.to_string();
        text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
    })
}

/// What `value` has otherwise than `base`, in objects key by key. A key that only `base` has is null.
pub(crate) fn difference(value: &Value, base: &Value) -> Value {
    let (Value::Object(value), Value::Object(base)) = (value, base) else { return value.clone() };
    let mut differences = Object::new();
    for (key, item) in value {
        match base.get(key) {
            Some(same) if same == item => {}
            Some(before @ Value::Object(_)) if matches!(item, Value::Object(_)) => {
                differences.insert(key, difference(item, before));
            }
            _ => _ = differences.insert(key, item.clone()),
        }
    }
    for key in base.keys().filter(|key| !value.contains_key(key)) {
        differences.insert(key, Value::Null);
    }
    Value::Object(differences)
}

/// `base` with the differences of another value: the reverse of [`difference`].
pub(crate) fn with_differences(base: &Value, differences: &Value) -> Value {
    let (Value::Object(base), Value::Object(differences)) = (base, differences) else { return differences.clone() };
    let mut value = base.clone();
    for (key, item) in differences {
        let new = match (item, base.get(key)) {
            (Value::Null, _) => {
                value.remove(key);
                continue;
            }
            (Value::Object(_), Some(before @ Value::Object(_))) => with_differences(before, item),
            _ => item.clone(),
        };
        value.insert(key, new);
    }
    Value::Object(value)
}

/// The path, as `limits.tool_call`, of the first key of `differences` that `value` does not have: nobody has read it.
pub(crate) fn unread_key(differences: &Value, value: &Value) -> Option<String> {
    let (Value::Object(differences), Value::Object(object)) = (differences, value) else { return None };
    differences.iter().find_map(|(key, item)| match object.get(key) {
        None if item.is_null() => None,
        None => Some(key.to_owned()),
        Some(inner) => unread_key(item, inner).map(|rest| format!("{key}.{rest}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        Value::parse(text).unwrap()
    }

    #[test]
    fn a_value_is_its_base_with_the_differences() {
        let base = json(r#"{"a": 1, "b": {"c": 2, "d": 3}, "e": 4}"#);
        let value = json(r#"{"a": 1, "b": {"c": 5, "d": 3, "f": {}}}"#);
        let differences = difference(&value, &base);
        assert_eq!(differences, json(r#"{"b": {"c": 5, "f": {}}, "e": null}"#));
        assert_eq!(with_differences(&base, &differences), value);
        assert_eq!(difference(&base, &base), json("{}"));
    }

    #[test]
    fn a_key_that_nobody_has_read_is_found() {
        let value = json(r#"{"limits": {"tool_calls": 5}}"#);
        assert_eq!(unread_key(&json(r#"{"limits": {"tool_calls": 5}}"#), &value), None);
        assert_eq!(unread_key(&json(r#"{"limits": {"tool_call": 5}}"#), &value).as_deref(), Some("limits.tool_call"));
    }
}
