//! What must hold for any input, as plain functions: libFuzzer drives them, and `tests/corpus.rs` replays with them what
//! it has found. Each takes any bytes and panics when something does not hold.

#![forbid(unsafe_code)]

mod expression;
mod fit;
mod parse;
mod plan;
mod read;
mod read_as;
mod stream;
mod template;

pub use expression::expression;
pub use fit::fit;
pub use parse::parse;
pub use plan::plan;
pub use read::read;
pub use read_as::read_as;
pub use stream::stream;
pub use template::template;

use std::borrow::Cow;

use reknit_protocol::{Path, Value};
use reknit_salvage::{Fix, FixKind, ReadOptions};

/// Any bytes as text. What is not UTF-8 becomes U+FFFD: no input is wasted.
fn text_of(data: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// A value from a text that mutation may have broken: read with repairs, so that few inputs are wasted.
fn any_value(text: &str) -> Option<Value> {
    reknit_salvage::read(text, &ReadOptions::default()).ok().map(|reading| reading.value)
}

/// How deep arrays and objects are nested.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.iter().map(|(_, value)| depth(value)).max().unwrap_or(0),
        _ => 0,
    }
}

/// A value that fitted may at most get other keys. A key that got its right name brings its value under the schema of that
/// name, so what stands below it may change as well.
fn assert_respelt_at_most(fixes: &[Fix]) {
    let is_respelt = |fix: &&Fix| fix.kind == FixKind::KeySpelling;
    let respelt: Vec<&Path> = fixes.iter().filter(is_respelt).map(|fix| &fix.path).collect();
    let is_below = |path: &Path| respelt.iter().any(|name| path.segments().starts_with(name.segments()));
    let other = fixes.iter().find(|fix| !is_respelt(fix) && !is_below(&fix.path));
    assert!(other.is_none(), "it fitted, and yet: {other:?}");
}
