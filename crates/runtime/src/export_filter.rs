//! An exported run as others may see it: without secrets, and without the texts of models unless the policy of the run shows them.

use reknit_protocol::{Object, Value};
use reknit_telemetry::redact_object;

/// What is left of an answer of a model whose text is hidden.
const SHOWN_FIELDS: [&str; 6] = ["finish", "usage", "model", "request_id", "skipped_events", "timings"];

/// Rewrites the lines of an exported run, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExportFilter {
    /// Whether the policy of the run shows the texts of models.
    shows_models: bool,
}

impl ExportFilter {
    /// A line as others may see it. A line that is no JSON object is returned as it is.
    pub fn line(&mut self, line: &str) -> String {
        let Ok(Value::Object(mut object)) = Value::parse(line) else { return line.to_owned() };
        if let Some(kind) =
            object.get_mut("event").and_then(|event| member(event, "body")).and_then(|body| member(body, "kind"))
        {
            self.filter_event(kind);
        }
        Value::Object(redact_object(&object)).to_string()
    }

    fn filter_event(&mut self, kind: &mut Value) {
        let Value::Object(kind) = kind else { return };
        let policies = kind.iter().filter_map(|(_, details)| details.get("policy"));
        self.shows_models |=
            policies.filter_map(|policy| policy.get("llm_debug")).any(|word| word.as_str() == Some("on"));
        if self.shows_models {
            return;
        }
        let answer = kind.get_mut("model_answered").and_then(|answered| member(answered, "answer"));
        if let Some(Value::Object(answer)) = answer {
            let mut shown = Object::from([("text", Value::from("[hidden]"))]);
            for field in SHOWN_FIELDS {
                shown.extend(answer.remove(field).map(|value| (field.to_owned(), value)));
            }
            *answer = shown;
        }
    }
}

fn member<'v>(value: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    value.as_object_mut()?.get_mut(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(debug: &str) -> String {
        format!(
            r#"{{"event":{{"seq":0,"body":{{"at_ms":1,"kind":{{"started":{{"policy":{{"llm_debug":"{debug}"}}}}}}}}}}}}"#
        )
    }

    const ANSWERED: &str = r#"{"event":{"seq":1,"body":{"at_ms":1,"kind":{"model_answered":{"effect":"plan/ask/1","answer":{"text":"a plan","usage":{"input_tokens":1}}}}}}}"#;

    #[test]
    fn texts_of_models_are_hidden_unless_the_policy_shows_them() {
        for (debug, text) in [("off", "[hidden]"), ("on", "a plan")] {
            let mut filter = ExportFilter::default();
            filter.line(&started(debug));
            let line = filter.line(ANSWERED);
            assert!(line.contains(&format!("\"text\":\"{text}\"")) && line.contains("input_tokens"), "{debug}: {line}");
        }
    }

    #[test]
    fn secrets_are_removed() {
        let line = r#"{"event":{"seq":2,"body":{"kind":{"tool_answered":{"reply":{"password":"1234"}}}}}}"#;
        assert_eq!(
            ExportFilter::default().line(line),
            r#"{"event":{"seq":2,"body":{"kind":{"tool_answered":{"reply":{"password":"[redacted]"}}}}}}"#
        );
    }
}
