//! What a model says about a failed call, read into a shape we can act upon.

use std::sync::LazyLock;

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Value};
use reknit_salvage::{Completeness, ReadOptions, Schema, SchemaError, fit, read};

/// A model's advice.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// Whether another call can work.
    pub retry: bool,
    /// Whether the same call can work later.
    pub transient: bool,
    /// Why, in the model's words.
    pub reason: String,
    /// What to change; what is not mentioned stays.
    pub changes: Object,
    /// Which parameters to leave out.
    pub removals: Vec<String>,
    /// Whether it says how sure it is, or is nothing but values: then each must be one of a parameter that there is.
    pub form: Form,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// What to do, why, and with which changes.
    Verdict,
    /// The corrected parameters alone.
    Values,
}

impl Advice {
    /// Whether it wants another call than the one that was refused.
    pub fn is_change(&self) -> bool {
        !self.changes.is_empty() || !self.removals.is_empty()
    }
}

static SHAPE: LazyLock<Result<Schema, SchemaError>> = LazyLock::new(|| {
    let typed = |name: &str| Value::Object(Object::from([("type", Value::from(name))]));
    Schema::compile(&Value::Object(Object::from([
        ("type", Value::from("object")),
        ("required", Value::from_iter([Value::from("should_retry")])),
        (
            "properties",
            Value::Object(Object::from([
                ("should_retry", typed("boolean")),
                ("is_transient_error", typed("boolean")),
                ("reason", typed("string")),
                ("suggested_changes", typed("object")),
                ("remove", Value::Object(Object::from([("type", "array".into()), ("items", typed("string"))]))),
            ])),
        ),
    ])))
});

/// Other names for the same things, in answers to questions like ours.
const ALIASES: [(&str, &str); 6] = [
    ("can_fix", "should_retry"),
    ("analysis", "reason"),
    ("corrected_payload", "suggested_changes"),
    ("corrected_parameters", "suggested_changes"),
    ("corrected_params", "suggested_changes"),
    ("is_transient", "is_transient_error"),
];

/// Reads the answer to a question about all that is known. There is no such thing as transient here: the error alone
/// would have said so.
pub fn read_context(text: &str) -> Result<Advice, String> {
    whole(text).and_then(verdict).map(|advice| Advice { transient: false, ..advice })
}

/// Reads the values for parameters that have none: an object, in which only those count.
pub fn read_values(text: &str) -> Result<Object, String> {
    match whole(text)? {
        Value::Object(values) => Ok(values),
        other => Err(format!("the answer is {}, not an object", other.kind())),
    }
}

fn whole(text: &str) -> Result<Value, String> {
    let reading = read(text, &ReadOptions::default()).map_err(|error| error.to_string())?;
    if reading.completeness == Completeness::Whole { Ok(reading.value) } else { Err("the answer is cut".to_owned()) }
}

fn texts(values: &[Value]) -> Vec<String> {
    values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Reads the answer to a question about an error. One without any word of a verdict may be the corrected parameters alone.
pub fn read_feedback(text: &str) -> Result<Advice, String> {
    match whole(text)? {
        Value::Object(changes) if !changes.is_empty() && !has_verdict(&changes) => Ok(Advice {
            retry: true,
            transient: false,
            reason: "it gave the parameters alone".to_owned(),
            changes,
            removals: Vec::new(),
            form: Form::Values,
        }),
        value => verdict(value),
    }
}

fn has_verdict(answer: &Object) -> bool {
    let own = ["should_retry", "reason", "suggested_changes", "remove", "is_transient_error"];
    let known = || own.into_iter().chain(ALIASES.into_iter().map(|(alias, _)| alias));
    answer.keys().any(|name| known().any(|word| are_alike(word, name)))
}

fn verdict(mut value: Value) -> Result<Advice, String> {
    let schema = SHAPE.as_ref().map_err(ToString::to_string)?;
    if let Some(object) = value.as_object_mut() {
        for (alias, name) in ALIASES {
            if !object.contains_key(name) {
                object.rename(alias, name);
            }
        }
    }
    let value = fit(value, schema).map_err(|misfit| format!("the answer has another shape: {misfit}"))?.value;
    let flag = |name| value.get(name).and_then(Value::as_bool).unwrap_or(false);
    Ok(Advice {
        retry: flag("should_retry"),
        transient: flag("is_transient_error"),
        reason: value.get("reason").and_then(Value::as_str).unwrap_or_default().to_owned(),
        changes: value.get("suggested_changes").and_then(Value::as_object).cloned().unwrap_or_default(),
        removals: value.get("remove").and_then(Value::as_array).map(texts).unwrap_or_default(),
        form: Form::Verdict,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_read_under_every_name_it_goes_by() {
        for text in [
            r#"{"should_retry": true, "reason": "typo", "suggested_changes": {"city": "Tokyo"}}"#,
            r#"{"can_fix": true, "analysis": "typo", "corrected_payload": {"city": "Tokyo"}}"#,
            r#"{"should_retry": true, "analysis": "typo", "corrected_parameters": {"city": "Tokyo"}}"#,
            "Sure:\n```json\n{should_retry: 'true', reason: \"typo\", suggested_changes: {\"city\": \"Tokyo\"},}\n```",
        ] {
            let advice = read_feedback(text).unwrap_or_else(|error| panic!("{error}: {text}"));
            assert!(advice.retry && !advice.transient);
            assert_eq!(advice.reason, "typo");
            assert_eq!(advice.changes.get("city"), Some(&Value::from("Tokyo")));
        }
    }

    #[test]
    fn parameters_alone_are_a_correction_by_the_error_and_by_nothing_else() {
        let text = r#"```json
{"lat": 35.6897, "lon": 139.69}
```"#;
        let advice = read_feedback(text).expect("they are parameters");
        assert_eq!((advice.retry, advice.form, advice.changes.len()), (true, Form::Values, 2));
        assert!(read_context(text).is_err(), "a look at all that is known says how sure it is");
        for text in ["{}", "[1]", r#"{"Reason": "unclear", "lat": 5}"#, r#"{"lat": 5, "can_fix": "perhaps"}"#] {
            assert!(read_feedback(text).is_err(), "case: {text}");
        }
    }

    #[test]
    fn words_without_a_verdict_are_no_advice() {
        assert!(read_feedback("I think the amount is wrong.").is_err());
        assert!(read_feedback(r#"{"reason": "unclear"}"#).is_err());
        assert_eq!(
            read_context(r#"{"should_retry": true, "corrected_parameters": {"a": "#),
            Err("the answer is cut".to_owned())
        );
    }
}
