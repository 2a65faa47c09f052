//! The printer for JSON text.

use std::fmt;

use crate::json::quote::push_quoted;
use crate::{Object, Value};

impl Value {
    /// JSON on several lines, indented by two spaces per level.
    pub fn to_pretty(&self) -> String {
        to_text(|out| write_value(out, self, Some(0)))
    }

    /// The one text of all equal values, for hashing: sorted keys, canonical numbers, no spaces.
    pub fn canonical(&self) -> String {
        to_text(|out| write_canonical(out, self))
    }
}

impl fmt::Display for Value {
    /// JSON without spaces; `{:#}` prints like [`Value::to_pretty`].
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = out.alternate().then_some(0);
        out.write_str(&to_text(|text| write_value(text, self, level)))
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl fmt::Display for Object {
    /// JSON without spaces; `{:#}` prints on several lines.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = out.alternate().then_some(0);
        out.write_str(&to_text(|text| write_object(text, self, level)))
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

/// The text that `write` appends to an empty string.
fn to_text(write: impl FnOnce(&mut String)) -> String {
    let mut out = String::new();
    write(&mut out);
    out
}

/// Writes JSON: without spaces, or from `level` on over several lines that are indented by two spaces per level.
fn write_value(out: &mut String, value: &Value, level: Option<usize>) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => number.push_to(out),
        Value::String(text) => push_quoted(out, text),
        Value::Array(items) => write_list(out, ['[', ']'], level, items, write_value),
        Value::Object(object) => write_object(out, object, level),
    }
}

fn write_object(out: &mut String, object: &Object, level: Option<usize>) {
    write_list(out, ['{', '}'], level, object, |out, (key, value), level| {
        push_quoted(out, key);
        out.push_str(if level.is_some() { ": " } else { ":" });
        write_value(out, value, level);
    });
}

/// Writes JSON without spaces, with sorted keys and canonical numbers.
fn write_canonical(out: &mut String, value: &Value) {
    match value {
        Value::Number(number) => out.push_str(&number.canonical()),
        Value::Array(items) => write_list(out, ['[', ']'], None, items, |out, item, _| write_canonical(out, item)),
        Value::Object(object) => {
            let mut entries: Vec<_> = object.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            write_list(out, ['{', '}'], None, entries, |out, (key, value), _| {
                push_quoted(out, key);
                out.push(':');
                write_canonical(out, value);
            });
        }
        _ => write_value(out, value, None),
    }
}

/// Writes the items between brackets, separated by commas. `write` gets the level of the items.
fn write_list<T>(
    out: &mut String,
    [open, close]: [char; 2],
    level: Option<usize>,
    items: impl IntoIterator<Item = T>,
    write: impl Fn(&mut String, T, Option<usize>),
) {
    let item_level = level.map(|level| level + 1);
    let mut is_empty = true;
    out.push(open);
    for item in items {
        if !is_empty {
            out.push(',');
        }
        is_empty = false;
        push_line_break(out, item_level);
        write(out, item, item_level);
    }
    if !is_empty {
        push_line_break(out, level);
    }
    out.push(close);
}

fn push_line_break(out: &mut String, level: Option<usize>) {
    let Some(level) = level else { return };
    out.push('\n');
    for _ in 0..level {
        out.push_str("  ");
    }
}
