//! The printer for JSON text.

mod escape;
mod integer;

use crate::{Object, Value};

use escape::push_quoted;
pub(crate) use escape::quoted;
pub(crate) use integer::push_integer;

/// The text that `write` appends to an empty string.
pub(crate) fn to_text(write: impl FnOnce(&mut String)) -> String {
    let mut out = String::new();
    write(&mut out);
    out
}

/// Writes JSON without spaces.
pub(crate) fn write_compact(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => number.push_to(out),
        Value::String(text) => push_quoted(out, text),
        Value::Array(items) => {
            let mut separator = '[';
            for item in items {
                out.push(separator);
                separator = ',';
                write_compact(out, item);
            }
            out.push_str(if items.is_empty() { "[]" } else { "]" });
        }
        Value::Object(object) => write_compact_object(out, object),
    }
}

pub(crate) fn write_compact_object(out: &mut String, object: &Object) {
    let mut separator = '{';
    for (key, value) in object {
        out.push(separator);
        separator = ',';
        push_quoted(out, key);
        out.push(':');
        write_compact(out, value);
    }
    out.push_str(if object.is_empty() { "{}" } else { "}" });
}

/// Writes JSON on several lines, indented by two spaces per level.
pub(crate) fn write_pretty(out: &mut String, value: &Value, level: usize) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let mut separator = '[';
            for item in items {
                out.push(separator);
                separator = ',';
                push_line_break(out, level + 1);
                write_pretty(out, item, level + 1);
            }
            push_line_break(out, level);
            out.push(']');
        }
        Value::Object(object) => write_pretty_object(out, object, level),
        _ => write_compact(out, value),
    }
}

pub(crate) fn write_pretty_object(out: &mut String, object: &Object, level: usize) {
    if object.is_empty() {
        out.push_str("{}");
        return;
    }
    let mut separator = '{';
    for (key, value) in object {
        out.push(separator);
        separator = ',';
        push_line_break(out, level + 1);
        push_quoted(out, key);
        out.push_str(": ");
        write_pretty(out, value, level + 1);
    }
    push_line_break(out, level);
    out.push('}');
}

fn push_line_break(out: &mut String, level: usize) {
    out.push('\n');
    for _ in 0..level {
        out.push_str("  ");
    }
}

/// Writes JSON without spaces, with sorted keys and canonical numbers.
pub(crate) fn write_canonical(out: &mut String, value: &Value) {
    match value {
        Value::Number(number) => out.push_str(&number.canonical()),
        Value::Array(items) => {
            let mut separator = '[';
            for item in items {
                out.push(separator);
                separator = ',';
                write_canonical(out, item);
            }
            out.push_str(if items.is_empty() { "[]" } else { "]" });
        }
        Value::Object(object) => {
            let mut entries: Vec<_> = object.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            let mut separator = '{';
            for (key, value) in entries {
                out.push(separator);
                separator = ',';
                push_quoted(out, key);
                out.push(':');
                write_canonical(out, value);
            }
            out.push_str(if object.is_empty() { "{}" } else { "}" });
        }
        _ => write_compact(out, value),
    }
}
