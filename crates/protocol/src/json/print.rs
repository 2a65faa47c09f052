//! The printer for JSON text.

mod escape;

use crate::{Object, Value};

pub(crate) use escape::push_integer;
use escape::push_quoted;
pub(crate) use escape::quoted;

/// The text that `write` appends to an empty string.
pub(crate) fn to_text(write: impl FnOnce(&mut String)) -> String {
    let mut out = String::new();
    write(&mut out);
    out
}

/// Writes JSON: without spaces, or from `level` on over several lines that are indented by two spaces per level.
pub(crate) fn write_value(out: &mut String, value: &Value, level: Option<usize>) {
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

pub(crate) fn write_object(out: &mut String, object: &Object, level: Option<usize>) {
    write_list(out, ['{', '}'], level, object, |out, (key, value), level| {
        push_quoted(out, key);
        out.push_str(if level.is_some() { ": " } else { ":" });
        write_value(out, value, level);
    });
}

/// Writes JSON without spaces, with sorted keys and canonical numbers.
pub(crate) fn write_canonical(out: &mut String, value: &Value) {
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
