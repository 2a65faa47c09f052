//! Arguments in other notations than JSON: keyword arguments, tables of programming languages, lines, query strings, XML.
//!
//! A text is read so only if it is nothing else, every key is a property of the schema, and the value fits.

mod assignments;
mod layers;
mod lines;
mod markup;
mod words;

use reknit_protocol::{Object, Path, Value};

use super::read::complete_reading;
use crate::schema::shape::{ObjectShape, Shapes};
use crate::{Fix, FixKind, Schema};

/// Longer texts are not read in other notations.
const MAX_BYTES: usize = 1 << 20;

/// Reads the arguments of a call in another notation than JSON; `None` if the text is none, or leaves a doubt.
///
/// The arguments as the text has them. All texts but those of lists are texts, which the schema may want as something else.
pub(crate) fn read_unfitted(text: &str, schema: &Schema) -> Option<(Value, Fix)> {
    let text = text.trim();
    if text.len() > MAX_BYTES {
        return None;
    }
    let object = read_object(text, &schema.shape(Shapes::ROOT).object)?;
    let value = Value::Object(object);
    let fix = Fix::new(Path::root(), FixKind::Notation, text, value.to_string());
    Some((value, fix))
}

/// The object that a text has in another notation, whose keys are all declared.
pub(super) fn read_object(text: &str, declared: &ObjectShape) -> Option<Object> {
    if text.len() > MAX_BYTES || declared.properties.is_empty() {
        return None;
    }
    let core = layers::without_layers(text);
    let is_declared = |key: &str| declared.properties.contains_key(key) || declared.name_by_spelling(key).is_some();
    let has_declared_keys = |object: &Object| !object.is_empty() && object.keys().all(is_declared);
    let readers = [assignments::read, markup::read, words::read, lines::read];
    let has_arguments = |object: &Object| {
        has_declared_keys(object)
            || ARGUMENTS.iter().any(|key| object.get(key).and_then(Value::as_object).is_some_and(has_declared_keys))
    };
    readers.iter().find_map(|read| read(&core).filter(has_arguments))
}

/// The keys under which a notation has the arguments beside the name of the tool.
const ARGUMENTS: [&str; 3] = ["arguments", "args", "parameters"];

/// Adds an entry; `None` if the key is there already or is no name.
fn insert(object: &mut Object, key: &str, value: Value) -> Option<()> {
    let is_name = key.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' '));
    (is_name && object.insert(key, value).is_none()).then_some(())
}

/// The value of a literal of a programming language: a quoted text, a number, a boolean, null, or a list or table of these.
fn literal(text: &str) -> Option<Value> {
    let text = text.trim();
    // Of PowerShell.
    let text = if matches!(text, "$true" | "$false" | "$null") { text.get(1..)? } else { text };
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
