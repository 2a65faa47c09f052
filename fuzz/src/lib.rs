//! The properties of the fuzz targets, as plain functions. Each takes any bytes and panics if its property is violated.
//! libFuzzer calls them to search, and `tests/corpus.rs` calls them with the saved inputs.

#![forbid(unsafe_code)]

mod answer;
mod expression;
mod fit;
mod parse;
mod plan;
mod read;
mod read_as;
mod schema;
mod template;

pub use answer::{anthropic, bedrock, chat, cohere, gemini, ollama, responses};
pub use expression::expression;
pub use fit::fit;
pub use parse::parse;
pub use plan::plan;
pub use read::read;
pub use read_as::read_as;
pub use schema::schema;
pub use template::template;

use std::borrow::Cow;

use reknit_protocol::{Path, Value};
use reknit_salvage::{Fix, FixKind, ReadOptions};

/// The bytes as text. Invalid UTF-8 becomes U+FFFD, so that every input is used.
fn text_of(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// A value from a text that mutation may have broken. It is read with repairs, so that most inputs are used.
fn read_value(text: &str) -> Option<Value> {
    reknit_salvage::read(text, &ReadOptions::default()).ok().map(|reading| reading.value)
}

/// The nesting depth of arrays and objects.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.iter().map(|(_, value)| depth(value)).max().unwrap_or(0),
        _ => 0,
    }
}

/// Asserts that a value that fitted changed at most in its keys, or lost a layer around its arguments. Both put
/// values under another schema, so the values below may change as well.
fn assert_only_keys_respelled(fixes: &[Fix]) {
    let is_key_fix = |fix: &&Fix| matches!(fix.kind, FixKind::KeySpelling | FixKind::KeyTypo | FixKind::Envelope | FixKind::NamedValues);
    let respelled: Vec<&Path> = fixes.iter().filter(is_key_fix).map(|fix| &fix.path).collect();
    let is_below = |path: &Path| respelled.iter().any(|key| path.segments().starts_with(key.segments()));
    let other = fixes.iter().find(|fix| !is_key_fix(fix) && !is_below(&fix.path));
    assert!(other.is_none(), "a value that fitted was changed: {other:?}");
}
