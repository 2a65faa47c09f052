//! A model's advice about a failed call, parsed from its answer.

use std::sync::LazyLock;

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Value};
use reknit_salvage::{Completeness, ReadOptions, Schema, fit, read};

/// A model's advice about a failed call.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// Whether another call can work.
    pub retry: bool,
    /// Whether the same call can work later.
    pub transient: bool,
    pub reason: String,
    /// New values of parameters; the others stay as they are.
    pub changes: Object,
    pub removals: Vec<String>,
    pub form: AdviceForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdviceForm {
    /// The model said whether to retry, why, and with which changes.
    Decision,
    /// The model wrote only corrected parameters. Each of them must be a parameter that the capability has.
    ParametersOnly,
}

impl Advice {
    /// Whether it asks for another call than the one that failed.
    pub fn is_change(&self) -> bool {
        !self.changes.is_empty() || !self.removals.is_empty()
    }

    /// Whether it asks for the same call again. Changes count only with a decision to retry.
    pub fn is_same_call(&self) -> bool {
        if self.retry { !self.is_change() } else { self.transient }
    }
}

static SCHEMA: LazyLock<Result<Schema, String>> = LazyLock::new(|| {
    let schema = Value::parse(
        r#"{"type": "object", "required": ["should_retry"], "properties": {
            "should_retry": {"type": "boolean"}, "is_transient_error": {"type": "boolean"}, "reason": {"type": "string"},
            "suggested_changes": {"type": "object"}, "remove": {"type": "array", "items": {"type": "string"}}}}"#,
    );
    Schema::compile(&schema.map_err(|error| error.to_string())?).map_err(|error| error.to_string())
});

/// Other names that models use for the members of the answer.
const ALIASES: [(&str, &str); 6] = [
    ("can_fix", "should_retry"),
    ("analysis", "reason"),
    ("corrected_payload", "suggested_changes"),
    ("corrected_parameters", "suggested_changes"),
    ("corrected_params", "suggested_changes"),
    ("is_transient", "is_transient_error"),
];

/// Parses the answer to the question of the context rung. Such advice is never transient: the feedback rung would have
/// found that out from the error.
pub fn parse_context_advice(text: &str) -> Result<Advice, String> {
    read_whole(text).and_then(read_decision).map(|advice| Advice { transient: false, ..advice })
}

/// Parses the answer to the question of the resolution rung: an object of values for the missing parameters.
pub fn parse_parameter_values(text: &str) -> Result<Object, String> {
    match read_whole(text)? {
        Value::Object(values) => Ok(values),
        other => Err(format!("expected an object, found {}", other.kind().with_article())),
    }
}

fn read_whole(text: &str) -> Result<Value, String> {
    let reading = read(text, &ReadOptions::default()).map_err(|error| error.to_string())?;
    if reading.completeness == Completeness::Complete {
        Ok(reading.value)
    } else {
        Err("the answer is cut off".to_owned())
    }
}

/// Parses the answer to the question of the feedback rung. An object without any member of a decision counts as corrected
/// parameters.
pub fn parse_feedback_advice(text: &str) -> Result<Advice, String> {
    match read_whole(text)? {
        Value::Object(changes) if !changes.is_empty() && !has_decision(&changes) => Ok(Advice {
            retry: true,
            transient: false,
            reason: "the model wrote only corrected parameters".to_owned(),
            changes,
            removals: Vec::new(),
            form: AdviceForm::ParametersOnly,
        }),
        value => read_decision(value),
    }
}

fn has_decision(answer: &Object) -> bool {
    let own = ["should_retry", "reason", "suggested_changes", "remove", "is_transient_error"];
    let known = || own.into_iter().chain(ALIASES.into_iter().map(|(alias, _)| alias));
    answer.keys().any(|name| known().any(|member| are_alike(member, name)))
}

fn read_decision(mut value: Value) -> Result<Advice, String> {
    let schema = SCHEMA.as_ref().map_err(String::clone)?;
    if let Some(object) = value.as_object_mut() {
        for (alias, name) in ALIASES {
            if !object.contains_key(name) {
                object.rename(alias, name);
            }
        }
    }
    let value =
        fit(value, schema).map_err(|misfit| format!("the answer does not have the expected shape: {misfit}"))?.value;
    let removals = value.get("remove").and_then(Value::as_array).unwrap_or_default();
    let flag = |name| value.get(name).and_then(Value::as_bool).unwrap_or(false);
    Ok(Advice {
        retry: flag("should_retry"),
        transient: flag("is_transient_error"),
        reason: value.get("reason").and_then(Value::as_str).unwrap_or_default().to_owned(),
        changes: value.get("suggested_changes").and_then(Value::as_object).cloned().unwrap_or_default(),
        removals: removals.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        form: AdviceForm::Decision,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_parsed_under_every_alias_of_its_members() {
        for text in [
            r#"{"should_retry": true, "reason": "typo", "suggested_changes": {"city": "Tokyo"}}"#,
            r#"{"can_fix": true, "analysis": "typo", "corrected_payload": {"city": "Tokyo"}}"#,
            r#"{"should_retry": true, "analysis": "typo", "corrected_parameters": {"city": "Tokyo"}}"#,
            "Sure:\n```json\n{should_retry: 'true', reason: \"typo\", suggested_changes: {\"city\": \"Tokyo\"},}\n```",
        ] {
            let advice = parse_feedback_advice(text).unwrap_or_else(|error| panic!("{error}: {text}"));
            assert!(advice.retry && !advice.transient);
            assert_eq!(advice.reason, "typo");
            assert_eq!(advice.changes.get("city"), Some(&Value::from("Tokyo")));
        }
    }

    #[test]
    fn parameters_alone_are_advice_on_the_feedback_rung_only() {
        let text = r#"```json
{"lat": 35.6897, "lon": 139.69}
```"#;
        let advice = parse_feedback_advice(text).expect("they are parameters");
        assert_eq!((advice.retry, advice.form, advice.changes.len()), (true, AdviceForm::ParametersOnly, 2));
        assert!(parse_context_advice(text).is_err(), "the context rung asks for a decision");
        for text in ["{}", "[1]", r#"{"Reason": "unclear", "lat": 5}"#, r#"{"lat": 5, "can_fix": "perhaps"}"#] {
            assert!(parse_feedback_advice(text).is_err(), "case: {text}");
        }
    }

    #[test]
    fn an_answer_without_a_decision_is_no_advice() {
        assert!(parse_feedback_advice("I think the amount is wrong.").is_err());
        assert!(parse_feedback_advice(r#"{"reason": "unclear"}"#).is_err());
        assert_eq!(
            parse_context_advice(r#"{"should_retry": true, "corrected_parameters": {"a": "#),
            Err("the answer is cut off".to_owned())
        );
    }
}
