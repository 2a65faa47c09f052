//! Reads the arguments of a tool call, and says how their text had to be changed to be read.

use reknit_protocol::{Object, Path, Value, shorten};

use crate::repair::notation::read_unfitted;
use crate::repair::read::complete_reading;
use crate::{Fix, FixKind, Schema, fit};

/// The arguments of a tool call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallArguments {
    pub parameters: Object,
    /// What was changed in the text; empty if a strict parser reads the same. No text and `null` stand for no parameters.
    pub fixes: Vec<Fix>,
}

/// Reads the arguments of a call. Fails with the reason.
pub fn read_parameters(text: &str) -> Result<CallArguments, String> {
    if text.trim().is_empty() {
        return Ok(CallArguments::default());
    }
    let reading = complete_reading(text)?;
    let mut fixes = reading.fixes;
    let value = match reading.value {
        // Some models encode the object twice.
        Value::String(inner) => {
            fixes.push(Fix::new(Path::root(), FixKind::DoubleEncoding, text.trim(), &inner));
            let reading = complete_reading(&inner)?;
            fixes.extend(reading.fixes);
            reading.value
        }
        Value::Null => return Ok(CallArguments { fixes, ..CallArguments::default() }),
        value => value,
    };
    let value = match value {
        Value::Array(items) => only_object(items, &mut fixes).unwrap_or_else(Value::Array),
        value => value,
    };
    let kind = value.kind();
    let parameters = Object::try_from(value).map_err(|_| format!("{} is no object", kind.with_article()))?;
    Ok(CallArguments { parameters, fixes })
}

/// Reads the arguments of a call to a tool with this schema: as [`read_parameters`], and where that finds none that fit, in another
/// notation than JSON, such as `city=Bern` on lines. The values are as the text has them: [`fit`](crate::fit()) makes them fit.
pub fn read_arguments(text: &str, schema: &Schema) -> Result<CallArguments, String> {
    let read = read_parameters(text);
    let fits = |parameters: &Object| fit(Value::Object(parameters.clone()), schema).is_ok();
    if read.as_ref().is_ok_and(|read| fits(&read.parameters)) {
        return read;
    }
    match read_unfitted(text, schema) {
        Some((Value::Object(parameters), fix)) if fits(&parameters) => {
            Ok(CallArguments { parameters, fixes: vec![fix] })
        }
        _ => read,
    }
}

/// The object that is the only item of a list; the list itself if it is another one.
fn only_object(mut items: Vec<Value>, fixes: &mut Vec<Fix>) -> Result<Value, Vec<Value>> {
    match items.pop() {
        Some(only @ Value::Object(_)) if items.is_empty() => {
            fixes.push(Fix::new(Path::root(), FixKind::ListOfOne, &format!("[{only}]"), only.to_string()));
            Ok(only)
        }
        last => {
            items.extend(last);
            Err(items)
        }
    }
}

/// How many fixes are told one by one.
const MAX_TOLD: usize = 12;
/// How much of a value is quoted, in characters.
const MAX_QUOTED: usize = 60;

/// What was changed, for people and models, each kind of change of spelling once.
pub fn describe_fixes(fixes: &[Fix]) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    let mut more = 0_usize;
    for fix in fixes {
        let text = describe(fix);
        if told.contains(&text) {
            continue;
        }
        if told.len() < MAX_TOLD { told.push(text) } else { more += 1 }
    }
    if more > 0 {
        told.push(format!("and {more} more changes"));
    }
    told
}

fn describe(fix: &Fix) -> String {
    let what = fix.kind.description();
    let is_spelling = matches!(
        fix.kind,
        FixKind::ByteOrderMark
            | FixKind::Fence
            | FixKind::WhiteSpace
            | FixKind::ExtraComma
            | FixKind::Semicolon
            | FixKind::MissingComma
            | FixKind::MissingColon
            | FixKind::Quotes
            | FixKind::BareKey
            | FixKind::RawControl
            | FixKind::DoubleEncoding
    );
    if is_spelling || fix.before.is_empty() && fix.after.is_empty() {
        return what.to_owned();
    }
    let quoted = |text: &str| shorten(text, MAX_QUOTED).into_owned();
    let place = if fix.path.segments().is_empty() { String::new() } else { format!("{}: ", fix.path) };
    match (fix.before.as_str(), fix.after.as_str()) {
        (before, "") => format!("{place}{what}: `{}`", quoted(before)),
        ("", after) => format!("{place}{what}: `{}`", quoted(after)),
        (before, after) => format!("{place}{what}: `{}` -> `{}`", quoted(before), quoted(after)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conflicting_keys;

    #[test]
    fn every_change_of_the_text_is_told() {
        for (text, parameters, told) in [
            (r#"{"id": 7}"#, r#"{"id":7}"#, ""),
            ("", "{}", ""),
            ("null", "{}", ""),
            ("{'id': 7,}", r#"{"id":7}"#, "replaced other quotes with double quotes; dropped an extra comma"),
            ("{id: 7}", r#"{"id":7}"#, "added quotes around a key"),
            ("```json\n{\"id\": 7}\n```", r#"{"id":7}"#, "took the JSON from a fenced block"),
            (r#""{\"id\": 7}""#, r#"{"id":7}"#, "decoded JSON inside a string"),
            (r#"[{"id": 7}]"#, r#"{"id":7}"#, r#"took the only item of a list: `[{"id":7}]` -> `{"id":7}`"#),
            (r#"{"id": 7}}"#, r#"{"id":7}"#, "dropped an extra bracket: `}`"),
        ] {
            let read = read_parameters(text).unwrap();
            assert_eq!(
                (read.parameters.to_string().as_str(), describe_fixes(&read.fixes).join("; ").as_str()),
                (parameters, told),
                "{text}"
            );
        }
        assert!(read_parameters(r#"[{"id": 7}, {"id": 8}]"#).is_err());
        for (text, part) in [
            (r#"{"id": 10 /* or 20 */}"#, "/* or 20 */"),
            (r#"{"to": Ann}"#, "$.to: added quotes around text"),
            ("I call it with {\"id\": 7} now.", "around the JSON"),
            (r#"{"id": 7, "id": 8}"#, "$.id: kept the last value of a duplicate key: `7` -> `8`"),
        ] {
            let told = describe_fixes(&read_parameters(text).unwrap().fixes).join("; ");
            assert!(told.contains(part), "{text}: {told}");
        }
    }

    #[test]
    fn a_key_with_two_different_values_is_a_conflict_wherever_it_is() {
        for (text, keys) in [
            (r#"{"id": 7, "id": 8}"#, vec!["$.id"]),
            (r#"{"id": 7, "id": 7}"#, vec![]),
            (r#"{"a": [{"id": 7, "id": "7"}]}"#, vec!["$.a[0].id"]),
            (r#""{\"id\": 7, \"id\": 8}""#, vec!["$.id"]),
        ] {
            let read = read_parameters(text).unwrap();
            let found: Vec<String> = conflicting_keys(&read.fixes).map(ToString::to_string).collect();
            assert_eq!(found, keys, "{text}");
        }
        let long = |end: char| format!("{}{end}", "x".repeat(300));
        let text = format!(r#"{{"to": "{}", "to": "{}"}}"#, long('a'), long('b'));
        assert_eq!(conflicting_keys(&read_parameters(&text).unwrap().fixes).count(), 1);
    }

    #[test]
    fn encoded_json_with_a_conflict_is_not_decoded_to_fit_a_schema() {
        let schema = r#"{"type": "object", "properties": {"filter": {"type": "object"}}}"#;
        let schema = crate::Schema::compile(&Value::parse(schema).unwrap()).unwrap();
        for (text, fits) in [("{'id': 7}", true), (r#"{"id": 7, "id": 7}"#, true), (r#"{"id": 7, "id": 8}"#, false)] {
            let value = Value::Object(Object::from([("filter", text.into())]));
            assert_eq!(crate::fit(value, &schema).is_ok(), fits, "{text}");
        }
    }
}
