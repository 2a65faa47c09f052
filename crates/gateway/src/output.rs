//! Reading of structured output from the text of an answer.

use reknit_protocol::{Value, shorten};
use reknit_salvage::{Completeness, Fix, FixKind, ReadOptions, Reading, Schema, read, read_as, without_reasoning};

/// How much of a text that is no JSON is quoted, in characters.
const MAX_QUOTED: usize = 200;

/// Reads the output that a request asks for: a value that fits the schema, or an object or a list if there is none. Returns it with
/// what was changed in the text. Fails with the reason, for the model and the caller.
///
/// Text without JSON is a value only where the schema is that of a string: of a refusal such as `I cannot do that.` nothing else is
/// made.
pub(crate) fn read_output(text: &str, schema: Option<&Schema>) -> Result<(Value, Vec<Fix>), String> {
    let reading = match schema {
        Some(schema) => read_as(text, schema),
        None => read(text, &ReadOptions::default()),
    };
    let is_made_of_words = reading.as_ref().is_ok_and(|reading| is_made_of_words(reading, text, schema));
    if let Some(schema) = schema.filter(|schema| is_string(schema.source()))
        && (is_made_of_words || reading.is_err())
    {
        let string = Value::from(without_reasoning(text).trim());
        return if schema.fits(&string) { Ok((string, Vec::new())) } else { Err(no_value(text)) };
    }
    if is_made_of_words {
        return Err(no_value(text));
    }
    let reading = reading.map_err(|error| error.to_string())?;
    match reading.completeness {
        Completeness::Complete => Ok((reading.value, reading.fixes)),
        Completeness::Truncated => Err("it is cut: its end is missing".to_owned()),
        Completeness::Elided => Err("it leaves something out: it says `...`".to_owned()),
    }
}

/// Whether a value is not one that the text states, but was made of words in it.
fn is_made_of_words(reading: &Reading, text: &str, schema: Option<&Schema>) -> bool {
    let has = |kind| reading.fixes.iter().any(|fix| fix.kind == kind);
    match &reading.value {
        Value::Object(_) => false,
        Value::Array(_) => has(FixKind::Mention) || (has(FixKind::BareText) && !text.contains('[')),
        Value::String(_) => schema.is_none_or(|schema| !is_string(schema.source())) || has(FixKind::Mention),
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            schema.is_none() || has(FixKind::Mention) || has(FixKind::BareText)
        }
    }
}

/// Whether all values of a schema are strings.
fn is_string(schema: &Value) -> bool {
    let allowed = schema.get("enum").and_then(Value::as_array);
    schema.get("type").and_then(Value::as_str) == Some("string")
        || allowed.is_some_and(|allowed| allowed.iter().all(|value| value.as_str().is_some()))
}

fn no_value(text: &str) -> String {
    format!("it is the text `{}`", shorten(text.trim(), MAX_QUOTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str, schema: &str) -> Result<String, String> {
        let schema = (!schema.is_empty()).then(|| Schema::compile(&Value::parse(schema).unwrap()).unwrap());
        read_output(text, schema.as_ref()).map(|(value, _)| value.to_string())
    }

    const REFUSALS: [&str; 6] =
        ["I cannot do that.", "No, sorry.", "No.", "Sorry: I cannot do that.", "I cannot do that [1].", "不行。"];

    #[test]
    fn no_value_is_made_of_a_refusal() {
        for schema in [
            "",
            "{}",
            r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#,
            r#"{"type": "array", "items": {"type": "string"}}"#,
            r#"{"type": "boolean"}"#,
            r#"{"type": "integer"}"#,
            r#"{"anyOf": [{"type": "object"}, {"type": "string"}]}"#,
            r#"{"enum": ["a", 1]}"#,
        ] {
            for refusal in REFUSALS {
                assert!(output(refusal, schema).is_err(), "{refusal} with {schema} is {:?}", output(refusal, schema));
            }
        }
    }

    #[test]
    fn bare_text_is_the_value_of_a_string() {
        for text in REFUSALS {
            let expected = Value::from(text).to_string();
            assert_eq!(output(text, r#"{"type": "string"}"#).as_deref(), Ok(expected.as_str()));
        }
        assert_eq!(output("yes", r#"{"enum": ["yes", "no"]}"#).as_deref(), Ok(r#""yes""#));
        assert!(output("perhaps", r#"{"enum": ["yes", "no"]}"#).is_err());
    }

    #[test]
    fn json_in_a_text_is_still_found() {
        let list = r#"{"type": "array", "items": {"type": "string"}}"#;
        for (text, schema, expected) in [
            ("Here: {total: 5}", "", r#"{"total":5}"#),
            ("```json\n[1, 2,]\n```", "", "[1,2]"),
            ("```json\n[red, 'blue']\n```", list, r#"["red","blue"]"#),
            ("{'a': 1}\n{'a': 2}", r#"{"type": "array"}"#, r#"[{"a":1},{"a":2}]"#),
            ("<think>hm</think>Seoul", r#"{"type": "string"}"#, r#""Seoul""#),
            ("\"5\"", r#"{"type": "integer"}"#, "5"),
        ] {
            assert_eq!(output(text, schema).as_deref(), Ok(expected), "{text}");
        }
    }
}
