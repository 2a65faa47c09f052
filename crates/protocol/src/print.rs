//! Values as JSON text.

mod escape;
mod integer;

use crate::{Object, Value};

use escape::push_quoted;
pub(crate) use escape::quoted;
pub(crate) use integer::push_integer;

/// JSON without spaces.
pub(crate) fn compact(value: &Value) -> String {
    let mut out = String::new();
    write_compact(&mut out, value);
    out
}

pub(crate) fn compact_object(object: &Object) -> String {
    let mut out = String::new();
    write_compact_object(&mut out, object);
    out
}

/// JSON over several lines, two spaces to a level.
pub(crate) fn pretty(value: &Value) -> String {
    let mut out = String::new();
    write_pretty(&mut out, value, 0);
    out
}

pub(crate) fn pretty_object(object: &Object) -> String {
    let mut out = String::new();
    write_pretty_object(&mut out, object, 0);
    out
}

/// JSON without spaces, keys sorted, numbers in one spelling.
pub(crate) fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_canonical(&mut out, value);
    out
}

fn write_compact(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => number.push_to(out),
        Value::String(text) => push_quoted(out, text),
        Value::Array(items) => {
            let mut before = '[';
            for item in items {
                out.push(before);
                before = ',';
                write_compact(out, item);
            }
            out.push_str(if items.is_empty() { "[]" } else { "]" });
        }
        Value::Object(object) => write_compact_object(out, object),
    }
}

fn write_compact_object(out: &mut String, object: &Object) {
    let mut before = '{';
    for (key, value) in object {
        out.push(before);
        before = ',';
        push_quoted(out, key);
        out.push(':');
        write_compact(out, value);
    }
    out.push_str(if object.is_empty() { "{}" } else { "}" });
}

fn write_pretty(out: &mut String, value: &Value, level: usize) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let mut before = '[';
            for item in items {
                out.push(before);
                before = ',';
                push_line(out, level + 1);
                write_pretty(out, item, level + 1);
            }
            push_line(out, level);
            out.push(']');
        }
        Value::Object(object) => write_pretty_object(out, object, level),
        _ => write_compact(out, value),
    }
}

fn write_pretty_object(out: &mut String, object: &Object, level: usize) {
    if object.is_empty() {
        out.push_str("{}");
        return;
    }
    let mut before = '{';
    for (key, value) in object {
        out.push(before);
        before = ',';
        push_line(out, level + 1);
        push_quoted(out, key);
        out.push_str(": ");
        write_pretty(out, value, level + 1);
    }
    push_line(out, level);
    out.push('}');
}

fn push_line(out: &mut String, level: usize) {
    out.push('\n');
    for _ in 0..level {
        out.push_str("  ");
    }
}

fn write_canonical(out: &mut String, value: &Value) {
    match value {
        Value::Number(number) => out.push_str(&number.canonical()),
        Value::Array(items) => {
            let mut before = '[';
            for item in items {
                out.push(before);
                before = ',';
                write_canonical(out, item);
            }
            out.push_str(if items.is_empty() { "[]" } else { "]" });
        }
        Value::Object(object) => {
            let mut entries: Vec<_> = object.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            let mut before = '{';
            for (key, value) in entries {
                out.push(before);
                before = ',';
                push_quoted(out, key);
                out.push(':');
                write_canonical(out, value);
            }
            out.push_str(if object.is_empty() { "{}" } else { "}" });
        }
        _ => write_compact(out, value),
    }
}
