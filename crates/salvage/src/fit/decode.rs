//! Arrays and objects that stand inside texts.

use std::rc::Rc;

use reknit_protocol::{Path, Value};

use super::plan::Decoded;
use crate::fix::quote;
use crate::{Completeness, Fix, FixKind, ReadOptions, read};

/// What a text holds.
#[derive(Debug)]
pub(super) enum Found {
    /// Not an array or object.
    Nothing,
    /// An array or object that is not all there.
    Cut,
    /// This one.
    Value(Rc<Decoded>),
}

/// Reads the array or object a text holds, or the text that holds one: as JSON, or in another spelling such as Python's.
pub(super) fn look_into(text: &str) -> Found {
    let text = text.trim();
    let may_hold = text.starts_with(['[', '{', '(', '"', '\'', '`']);
    // `{{step-1.items}}` is a reference.
    if !may_hold || text.starts_with("{{") {
        return Found::Nothing;
    }
    match Value::parse(text) {
        Ok(value @ (Value::Array(_) | Value::Object(_) | Value::String(_))) => found(value, Vec::new()),
        Ok(_) => Found::Nothing,
        Err(_) => look_tolerantly(text),
    }
}

fn look_tolerantly(text: &str) -> Found {
    match text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(items) => look_into_tuple(text, items),
        None => reading_of(text, &LEAVES_OUT),
    }
}

/// A tuple is an array if its items are quoted or are numbers: `(Paris, France)` is a text in parentheses.
fn look_into_tuple(text: &str, items: &str) -> Found {
    let refused = [LEAVES_OUT.as_slice(), &[FixKind::BareText]].concat();
    match reading_of(&format!("[{items}]"), &refused) {
        Found::Value(decoded) if items.contains(',') => {
            let Decoded { value, fixes } = decoded.as_ref();
            let kind = FixKind::Tuple;
            let (path, before, after) = (Path::root(), quote(text).into_owned(), String::new());
            let tuple = Fix { path, kind, before, after, penalty: kind.penalty(), times: 1 };
            // The comma after the only item of a tuple is not superfluous.
            let others = fixes.iter().filter(|fix| fix.kind != FixKind::ExtraComma).cloned();
            found(value.clone(), [tuple].into_iter().chain(others).collect())
        }
        _ => Found::Nothing,
    }
}

/// Repairs that take a part of the text for the whole.
const LEAVES_OUT: [FixKind; 5] =
    [FixKind::SurroundingText, FixKind::Mention, FixKind::Reasoning, FixKind::Sequence, FixKind::Call];

fn reading_of(text: &str, refused: &[FixKind]) -> Found {
    let Ok(reading) = read(text, &ReadOptions::default()) else { return Found::Nothing };
    let is_wanted = match &reading.value {
        Value::Array(_) | Value::Object(_) => true,
        // Quoted text, which may hold an array or object in turn.
        Value::String(_) => text.starts_with(['"', '\'']),
        _ => false,
    };
    if !is_wanted || reading.fixes.iter().any(|fix| refused.contains(&fix.kind)) {
        return Found::Nothing;
    }
    match reading.completeness {
        Completeness::Whole => found(reading.value, reading.fixes),
        Completeness::Truncated | Completeness::Elided => Found::Cut,
    }
}

fn found(value: Value, fixes: Vec<Fix>) -> Found {
    Found::Value(Rc::new(Decoded { value, fixes }))
}
