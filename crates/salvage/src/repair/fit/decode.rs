//! Decoding arrays and objects that are encoded in strings.

use std::rc::Rc;

use reknit_protocol::{Object, Path, Value};

use super::plan::Decoded;
use crate::{Completeness, Fix, FixKind, ReadOptions, conflicting_keys, read};

/// The content of a string.
#[derive(Debug)]
pub(super) enum DecodedText {
    /// No array or object.
    Nothing,
    /// A truncated array or object.
    Truncated,
    Value(Rc<Decoded>),
}

/// Decodes what a text or an object with numbered keys contains.
pub(super) fn decode(value: &Value) -> DecodedText {
    match value {
        Value::String(text) => decode_text(text),
        Value::Object(object) => numbered_items(object),
        _ => DecodedText::Nothing,
    }
}

/// Decodes the array, object or nested string in a text: JSON, or another syntax such as Python's.
fn decode_text(text: &str) -> DecodedText {
    let text = text.trim();
    let may_be_encoded = text.starts_with(['[', '{', '(', '"', '\'', '`']);
    // `{{step-1.items}}` is a reference.
    if !may_be_encoded || text.starts_with("{{") {
        return DecodedText::Nothing;
    }
    match Value::parse(text) {
        Ok(value @ (Value::Array(_) | Value::Object(_) | Value::String(_))) => decoded_value(value, Vec::new()),
        Ok(_) => DecodedText::Nothing,
        Err(_) => decode_tolerantly(text),
    }
}

/// Converts an object with the keys `"0"`, `"1"` and so on, in this order, to an array.
fn numbered_items(object: &Object) -> DecodedText {
    let is_numbered = object.keys().enumerate().all(|(index, key)| *key == *index.to_string());
    if object.is_empty() || !is_numbered {
        return DecodedText::Nothing;
    }
    let value = Value::Array(object.values().cloned().collect());
    DecodedText::Value(Rc::new(Decoded { kind: FixKind::NumberedKeys, value, fixes: Vec::new() }))
}

fn decode_tolerantly(text: &str) -> DecodedText {
    match text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(items) => decode_tuple(text, items),
        None => decode_reading(text, &REFUSED_REPAIRS),
    }
}

/// Decodes a tuple whose items are quoted strings or numbers; `(Paris, France)` is a text in parentheses.
fn decode_tuple(text: &str, items: &str) -> DecodedText {
    if items.trim().is_empty() {
        return decoded_value(Value::Array(Vec::new()), vec![Fix::new(Path::root(), FixKind::Tuple, text, "")]);
    }
    let refused = [REFUSED_REPAIRS.as_slice(), &[FixKind::BareText]].concat();
    match decode_reading(&format!("[{items}]"), &refused) {
        DecodedText::Value(decoded) if items.contains(',') => {
            let Decoded { value, fixes, .. } = decoded.as_ref();
            let tuple = Fix::new(Path::root(), FixKind::Tuple, text, "");
            // A tuple of one item needs its trailing comma.
            let others = fixes.iter().filter(|fix| fix.kind != FixKind::ExtraComma).cloned();
            decoded_value(value.clone(), [tuple].into_iter().chain(others).collect())
        }
        _ => DecodedText::Nothing,
    }
}

/// Repairs which show that the text as a whole is not an encoded array or object.
const REFUSED_REPAIRS: [FixKind; 5] =
    [FixKind::SurroundingText, FixKind::Mention, FixKind::Reasoning, FixKind::Sequence, FixKind::Call];

fn decode_reading(text: &str, refused: &[FixKind]) -> DecodedText {
    let Ok(reading) = read(text, &ReadOptions::default()) else { return DecodedText::Nothing };
    let may_be_content = match &reading.value {
        Value::Array(_) | Value::Object(_) => true,
        // A quoted text may contain an encoded array or object in turn.
        Value::String(_) => text.starts_with(['"', '\'']),
        _ => false,
    };
    let is_refused = reading.fixes.iter().any(|fix| refused.contains(&fix.kind));
    // Which of two values of one key is meant is not known.
    if !may_be_content || is_refused || conflicting_keys(&reading.fixes).next().is_some() {
        return DecodedText::Nothing;
    }
    match reading.completeness {
        Completeness::Complete => decoded_value(reading.value, reading.fixes),
        Completeness::Truncated | Completeness::Elided => DecodedText::Truncated,
    }
}

fn decoded_value(value: Value, fixes: Vec<Fix>) -> DecodedText {
    DecodedText::Value(Rc::new(Decoded { kind: FixKind::DoubleEncoding, value, fixes }))
}
