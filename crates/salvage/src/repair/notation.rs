//! Arguments in other notations than JSON: keyword arguments, tables of programming languages, lines, query strings, XML.
//!
//! A text is read so only if it is nothing else, every key is a property of the schema, and the value fits.

mod assignments;
mod lines;
mod markup;

use reknit_protocol::{Object, Path, Value};

use super::fit::fit_with;
use super::fit_error::FitError;
use super::read::{Completeness, Reading, complete_reading};
use crate::schema::shape::Shapes;
use crate::{Fix, FixKind, Schema};

/// Longer texts are not read in other notations.
const MAX_BYTES: usize = 1 << 20;

/// Reads the arguments of a call in another notation than JSON. `None` if the text is none, or leaves a doubt.
pub(super) fn read_notation(text: &str, schema: &Schema) -> Option<Result<Reading, FitError>> {
    let text = text.trim();
    if text.len() > MAX_BYTES {
        return None;
    }
    let object = assignments::read(text).or_else(|| markup::read(text)).or_else(|| lines::read(text))?;
    let declared = &schema.shape(Shapes::ROOT).object;
    let is_declared = |key: &str| declared.properties.contains_key(key) || declared.name_by_spelling(key).is_some();
    if object.is_empty() || !object.keys().all(is_declared) {
        return None;
    }
    let value = Value::Object(object);
    let fix = Fix::new(Path::root(), FixKind::Notation, text, value.to_string());
    let fitted = fit_with(value, schema, &[]).map(|(value, fixes, expressions)| {
        let fixes = std::iter::once(fix).chain(fixes.into_vec()).collect();
        Reading { value, fixes, completeness: Completeness::Complete, expressions }
    });
    Some(fitted)
}

/// Adds an entry; `None` if the key is there already or is no name.
fn insert(object: &mut Object, key: &str, value: Value) -> Option<()> {
    let is_name = key.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    (is_name && object.insert(key, value).is_none()).then_some(())
}

/// The value of a literal of a programming language: a quoted text, a number, a boolean, null, or a list or table of these.
fn literal(text: &str) -> Option<Value> {
    let text = text.trim();
    let is_literal = text.starts_with(['"', '\'', '[', '{', '-', '.'])
        || text.starts_with(|c: char| c.is_ascii_digit())
        || ["true", "false", "null", "none", "nil"].iter().any(|word| word.eq_ignore_ascii_case(text));
    if !is_literal {
        return None;
    }
    if text.eq_ignore_ascii_case("nil") {
        return Some(Value::Null);
    }
    let reading = complete_reading(text).ok()?;
    // Whatever had to be repaired is no literal.
    let is_exact = |fix: &Fix| {
        matches!(
            fix.kind,
            FixKind::Quotes | FixKind::Literal | FixKind::BareKey | FixKind::Tuple | FixKind::NumberSpelling
        )
    };
    reading.fixes.iter().all(is_exact).then_some(reading.value)
}
