//! Writes a value as YAML that people read and edit.

use std::fmt::Write as _;

use reknit_protocol::{Object, Value};

/// Words that YAML or its readers take for something else than text.
const RESERVED: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// The longest object or list on one line, without what stands before it.
const LINE_CHARS: usize = 100;

/// The keys of an object that stands on one line in a list.
const MAX_LINE_KEYS: usize = 3;

/// The value as YAML, with a line break at its end. Reading it with [`Document`](crate::Document) gives the same value.
///
/// ```
/// use reknit_plan::write_yaml;
/// use reknit_protocol::Value;
///
/// let value = Value::parse(r#"{"call": "bank/refund", "with": {"order": 7}}"#)?;
/// assert_eq!(write_yaml(&value), "call: bank/refund\nwith: {order: 7}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_yaml(value: &Value) -> String {
    let mut text = String::new();
    match value {
        Value::Object(object) if !object.is_empty() => write_object(&mut text, object, 0),
        Value::Array(items) if !items.is_empty() => write_items(&mut text, items, 0),
        other => {
            text.push_str(&yaml_line(other));
            text.push('\n');
        }
    }
    text
}

/// The value as YAML on one line.
pub fn yaml_line(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        Value::Array(items) => format!("[{}]", items.iter().map(yaml_line).collect::<Vec<_>>().join(", ")),
        Value::Object(object) => {
            let entries: Vec<String> =
                object.iter().map(|(key, value)| format!("{}: {}", scalar(key), yaml_line(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

fn write_object(text: &mut String, object: &Object, indent: usize) {
    for (index, (key, value)) in object.iter().enumerate() {
        if index > 0 || indent == 0 {
            push_indent(text, indent);
        }
        text.push_str(&scalar(key));
        text.push(':');
        write_member(text, value, indent);
    }
}

/// Writes what follows a key and its colon.
fn write_member(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::String(string) if is_block(string) => write_block(text, string, indent + 2),
        Value::Object(object) if !fits(value) => {
            text.push('\n');
            push_indent(text, indent + 2);
            write_object(text, object, indent + 2);
        }
        Value::Array(items) if !fits_list(items) => {
            text.push('\n');
            write_items(text, items, indent + 2);
        }
        other => write_line(text, other),
    }
}

fn write_line(text: &mut String, value: &Value) {
    text.push(' ');
    text.push_str(&yaml_line(value));
    text.push('\n');
}

fn write_items(text: &mut String, items: &[Value], indent: usize) {
    for item in items {
        push_indent(text, indent);
        text.push('-');
        match item {
            Value::String(string) if is_block(string) => write_block(text, string, indent + 2),
            Value::Object(object) if !fits_item(object, item) => {
                text.push(' ');
                write_object(text, object, indent + 2);
            }
            Value::Array(inner) if !fits(item) => {
                text.push('\n');
                write_items(text, inner, indent + 2);
            }
            other => write_line(text, other),
        }
    }
}

/// Whether a value is short enough for one line, and has no text that is better read on several.
fn fits(value: &Value) -> bool {
    let is_empty = match value {
        Value::Object(object) => object.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    };
    is_empty || (!has_block(value) && yaml_line(value).chars().count() <= LINE_CHARS)
}

fn fits_item(object: &Object, value: &Value) -> bool {
    object.is_empty() || (object.len() <= MAX_LINE_KEYS && fits(value))
}

/// Lists of objects have one line for each.
fn fits_list(items: &[Value]) -> bool {
    let is_plain = |item: &Value| !matches!(item, Value::Object(_));
    items.is_empty() || (items.iter().all(is_plain) && fits(&Value::Array(items.to_vec())))
}

fn has_block(value: &Value) -> bool {
    match value {
        Value::String(text) => is_block(text),
        Value::Array(items) => items.iter().any(has_block),
        Value::Object(object) => object.values().any(has_block),
        _ => false,
    }
}

/// Whether a text is written on lines of its own. The first line must show how far the text is indented.
fn is_block(text: &str) -> bool {
    let is_plain = |c: char| c == '\n' || !(c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'));
    text.trim_end_matches('\n').contains('\n')
        && !text.starts_with([' ', '\n'])
        && text.chars().all(is_plain)
        && text.lines().all(|line| line.is_empty() || !line.trim().is_empty())
}

fn write_block(text: &mut String, block: &str, indent: usize) {
    let content = block.trim_end_matches('\n');
    let chomping = match block.len() - content.len() {
        0 => "-",
        1 => "",
        _ => "+",
    };
    text.push_str(" |");
    text.push_str(chomping);
    text.push('\n');
    for line in block.strip_suffix('\n').unwrap_or(block).split('\n') {
        if !line.is_empty() {
            push_indent(text, indent);
            text.push_str(line);
        }
        text.push('\n');
    }
}

fn push_indent(text: &mut String, indent: usize) {
    text.extend(std::iter::repeat_n(' ', indent));
}

/// Whether YAML reads a text without quotes as the same text. `also` are further characters that it may have.
pub(crate) fn is_plain_scalar(text: &str, also: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " _-./?!()=+*".contains(c) || also.contains(c);
    let is_reserved = RESERVED.iter().any(|word| text.eq_ignore_ascii_case(word));
    let begins_well = text.starts_with(|c: char| c.is_ascii_alphabetic());
    begins_well && !text.ends_with(' ') && !is_reserved && text.chars().all(is_plain)
}

/// Text without quotes where YAML reads it as the same text, also inside brackets, and in double quotes otherwise.
fn scalar(text: &str) -> String {
    if is_plain_scalar(text, "") {
        return text.to_owned();
    }
    let mut quoted = String::new();
    for c in Value::from(text).to_string().chars() {
        // YAML takes these for line breaks or marks.
        if matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}') {
            // Writing to a string cannot fail.
            let _ = write!(quoted, "\\u{:04x}", u32::from(c));
        } else {
            quoted.push(c);
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;
    use proptest::prelude::*;

    #[test]
    fn short_parts_stand_on_one_line_and_long_texts_on_lines_of_their_own() {
        let value = Value::parse(
            r#"{"request": "Refund order 7?\nNow.\n", "with": {"order": 7, "to": "ann@example.com"}, "empty": {},
            "calls": [{"call": "bank/refund", "step": "pay", "with": {"order": 7}, "reply": {"id": "r-7"}}, {"a": 1}]}"#,
        );
        insta::assert_snapshot!(write_yaml(&value.unwrap()), @r#"
        request: |
          Refund order 7?
          Now.
        with: {order: 7, to: "ann@example.com"}
        empty: {}
        calls:
          - call: bank/refund
            step: pay
            with: {order: 7}
            reply: {id: r-7}
          - {a: 1}
        "#);
    }

    fn values() -> impl Strategy<Value = Value> {
        let text = prop_oneof![
            any::<String>(),
            "[a-z \n:#{}'\"|>-]{0,40}",
            Just("a\nb\n\n".to_owned()),
            Just("no".to_owned()),
            Just("1.50".to_owned()),
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            text.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
                proptest::collection::vec((text.clone(), inner), 0..5)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(inner in values()) {
            let value = Value::from([("value", inner)]);
            let text = write_yaml(&value);
            let read = Document::read(&text).map_err(|problem| TestCaseError::fail(format!("{problem}\n{text}")))?;
            prop_assert_eq!(read.value, value, "{}", text);
        }
    }
}
