//! The keywords of schemas, and what their values must be.

use std::collections::HashSet;

use reknit_protocol::{Number, Value};

/// The keywords whose value is one schema.
pub(super) const WITH_SCHEMA: [&str; 10] = [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
];

/// Whether a value is valid, and in words what is expected.
type ExpectedData = (fn(&Value) -> bool, &'static str);

/// What is expected of a keyword whose value has no schemas inside. `None` for a keyword without effect.
pub(super) fn expected_data(keyword: &str) -> Option<ExpectedData> {
    Some(match keyword {
        "title" | "description" | "format" | "contentEncoding" | "contentMediaType" => {
            (|value| value.as_str().is_some(), "a text")
        }
        "minimum" | "maximum" => (|value| value.as_number().is_some(), "a number"),
        "multipleOf" => {
            (|value| value.as_number().is_some_and(|number| *number > Number::from(0)), "a positive number")
        }
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minContains"
        | "maxContains" => (is_count, "a count"),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => {
            (|value| value.as_bool().is_some(), "`true` or `false`")
        }
        "required" => (is_texts, "a list of texts"),
        "enum" => (|value| value.as_array().is_some_and(|items| !items.is_empty()), "a list of values"),
        "examples" => (|value| value.as_array().is_some(), "a list of values"),
        "dependentRequired" => {
            (|value| value.as_object().is_some_and(|lists| lists.values().all(is_texts)), "an object of lists of texts")
        }
        "default" | "const" => (|_| true, "a value"),
        _ => return None,
    })
}

/// Whether a keyword explains a schema and restricts nothing.
pub(super) fn is_annotation(keyword: &str) -> bool {
    matches!(keyword, "title" | "description" | "default" | "example" | "examples" | "deprecated")
}

/// The value of a keyword in the form that the draft wants: lists of names have no repetitions.
pub(super) fn cleaned(keyword: &str, value: &Value) -> Value {
    match value {
        Value::Array(items) if keyword == "required" => {
            let mut seen = HashSet::new();
            items.iter().filter(|item| seen.insert(*item)).cloned().collect()
        }
        _ => value.clone(),
    }
}

fn is_count(value: &Value) -> bool {
    value.as_number().is_some_and(|number| number.is_integer() && *number >= Number::from(0))
}

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(|item| item.as_str().is_some()))
}

/// The words of `type` that are known, and the others as JSON.
pub(super) fn types(value: &Value) -> (Vec<&str>, Vec<String>) {
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for word in value.as_array().unwrap_or(std::slice::from_ref(value)) {
        match word.as_str() {
            // A file of Swagger 2 is sent as text.
            Some("file") => known.push("string"),
            Some(word @ ("null" | "boolean" | "object" | "array" | "number" | "string" | "integer")) => {
                known.push(word);
            }
            _ => unknown.push(word.to_string()),
        }
    }
    let mut seen = HashSet::new();
    known.retain(|word| seen.insert(*word));
    (known, unknown)
}
