//! Lines, tables and query strings: `path: /a`, `- **path**: /a`, `path=/a`, `| path | /a |`, `path=%2Fa&new=false`, and nested lines as
//! in YAML.

use percent_encoding::percent_decode_str;
use reknit_protocol::{Object, Value};

use super::{insert, literal};

/// How deeply lines may be nested.
const MAX_DEPTH: usize = 16;

/// What stands between a key and its value on a line.
const SEPARATORS: [&str; 7] = [":=", "->", "=>", "→", ":", "=", "\t"];

/// Reads one entry for each line, or a query string.
pub(super) fn read(text: &str) -> Option<Object> {
    if !text.contains('\n') {
        return query(text).or_else(|| piped(text));
    }
    let lines: Vec<Line<'_>> = text.lines().filter_map(Line::new).collect();
    table(&lines).or_else(|| headings(&lines)).or_else(|| header_and_row(&lines)).or_else(|| {
        let lines = match lines.as_slice() {
            // `[section]` and `---` begin a document.
            [first, rest @ ..] if first.text == "---" || is_section(first.text) => rest,
            all => all,
        };
        match block(&without_marks(lines), 0)? {
            Value::Object(object) => Some(object),
            _ => None,
        }
    })
}

/// A line that is not blank and no comment.
#[derive(Debug, Clone, Copy)]
struct Line<'t> {
    indent: usize,
    text: &'t str,
}

impl<'t> Line<'t> {
    fn new(line: &'t str) -> Option<Self> {
        let text = line.trim();
        let is_comment = text.starts_with("# ");
        let indent = line.len() - line.trim_start().len();
        (!text.is_empty() && !is_comment).then_some(Self { indent, text })
    }
}

fn is_section(text: &str) -> bool {
    let name = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    name.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.'))
    })
}

/// The lines without the bullets, numbers or words that all of them begin with.
fn without_marks<'t>(lines: &[Line<'t>]) -> Vec<Line<'t>> {
    let marked = |mark: fn(usize, &'t str) -> Option<&'t str>| {
        let strip =
            |(number, line): (usize, &Line<'t>)| Some(Line { indent: 0, text: mark(number, line.text)?.trim_start() });
        lines.iter().enumerate().map(strip).collect::<Option<Vec<_>>>()
    };
    let bullet = |_, line: &'t str| ["- ", "* ", "• ", "export "].iter().find_map(|bullet| line.strip_prefix(bullet));
    let number = |number: usize, line: &'t str| {
        line.strip_prefix((number + 1).to_string().as_str())?.strip_prefix(['.', ')'])?.strip_prefix(' ')
    };
    marked(bullet).or_else(|| marked(number)).unwrap_or_else(|| lines.to_vec())
}

/// A mapping or a list of lines with the same indentation, each perhaps with deeper lines.
fn block(lines: &[Line<'_>], depth: usize) -> Option<Value> {
    let indent = lines.first()?.indent;
    if depth > MAX_DEPTH {
        return None;
    }
    let (mut object, mut items, mut at) = (Object::new(), Vec::new(), 0);
    while let Some(line) = lines.get(at) {
        let below = lines.iter().skip(at + 1);
        // The items of a list may have the indentation of their key.
        let is_item_of =
            |next: &Line<'_>| !line.text.starts_with("- ") && next.indent == indent && next.text.starts_with("- ");
        let count = below.take_while(|next| next.indent > indent || is_item_of(next)).count();
        let inner = lines.get(at + 1..at + 1 + count)?;
        (line.indent == indent).then_some(())?;
        match line.text.strip_prefix("- ") {
            Some(item) if inner.is_empty() && !is_entry(item) => items.push(plain_value(item)?),
            Some(item) => {
                // An item that is a mapping begins on the line of its bullet.
                let first = Line { indent: indent + 2, text: item.trim_start() };
                let entries: Vec<Line<'_>> = std::iter::once(first).chain(inner.iter().copied()).collect();
                items.push(block(&entries, depth + 1)?);
            }
            None => {
                let (key, value) = split_entry(line.text)?;
                let value = match (value, inner) {
                    (value, []) => plain_value(value)?,
                    ("", inner) => block(inner, depth + 1)?,
                    ("|", inner) => lines_of_text(inner)?,
                    _ => return None,
                };
                insert(&mut object, key, value)?;
            }
        }
        at += 1 + count;
    }
    match (object.is_empty(), items.is_empty()) {
        (false, true) => Some(Value::Object(object)),
        (true, false) => Some(Value::Array(items)),
        _ => None,
    }
}

/// The text of `key: |`, whose lines have the same indentation.
fn lines_of_text(lines: &[Line<'_>]) -> Option<Value> {
    let indent = lines.first()?.indent;
    let are_even = lines.iter().all(|line| line.indent == indent);
    let text: String = lines.iter().flat_map(|line| [line.text, "\n"]).collect();
    are_even.then(|| text.into())
}

fn is_entry(text: &str) -> bool {
    split_entry(text).is_some_and(|(key, _)| key.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-')))
}

/// The key and the value of a line.
fn split_entry(text: &str) -> Option<(&str, &str)> {
    // `**path:** /a`
    if let Some((key, value)) = text.strip_prefix("**").and_then(|rest| rest.split_once(":**")) {
        return Some((key.trim(), value.trim()));
    }
    let starts = SEPARATORS.iter().filter_map(|separator| Some((text.find(separator)?, separator)));
    // At the same place, the longer one is meant.
    let (at, separator) = starts.min_by_key(|(at, separator)| (*at, std::cmp::Reverse(separator.len())))?;
    let value = text.get(at + separator.len()..)?;
    Some((without_emphasis(text.get(..at)?.trim()), value.trim()))
}

/// `path=%2Fa&new=false`, perhaps after a `?`.
fn query(text: &str) -> Option<Object> {
    let text = match text.split_once('?') {
        Some((name, query)) if name.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'/')) => {
            query
        }
        _ => text,
    };
    if text.contains([' ', '"', '\'', '(', '{', '<']) || !text.contains('&') {
        return None;
    }
    let mut object = Object::new();
    for pair in text.split('&') {
        let (key, value) = pair.split_once('=')?;
        let value = value.replace('+', " ");
        insert(&mut object, key, percent_decode_str(&value).decode_utf8().ok()?.into_owned().into())?;
    }
    Some(object)
}

/// `path: /a | new: false`
fn piped(text: &str) -> Option<Object> {
    let mut object = Object::new();
    let parts: Vec<&str> = text.split(" | ").collect();
    for part in &parts {
        let (key, value) = part.split_once(": ")?;
        insert(&mut object, key.trim(), plain_value(value)?)?;
    }
    (parts.len() > 1).then_some(object)
}

/// A table of Markdown with two columns, perhaps with titles.
fn table(lines: &[Line<'_>]) -> Option<Object> {
    let cells = |line: &Line<'_>| {
        let (key, value) = line.text.strip_prefix('|')?.strip_suffix('|')?.split_once('|')?;
        (!value.contains('|')).then(|| (key.trim().to_owned(), value.trim().to_owned()))
    };
    let rows = lines.iter().map(cells).collect::<Option<Vec<_>>>()?;
    let is_rule = |(key, value): &(String, String)| {
        let is_dashes = |cell: &str| !cell.is_empty() && cell.bytes().all(|byte| matches!(byte, b'-' | b':'));
        is_dashes(key) && is_dashes(value)
    };
    let rows = match rows.as_slice() {
        [_, rule, rows @ ..] if is_rule(rule) => rows,
        rows => rows,
    };
    let mut object = Object::new();
    for (key, value) in rows {
        insert(&mut object, without_emphasis(key), plain_value(value)?)?;
    }
    Some(object)
}

/// Headings, each with a value on the line below: `### path`.
fn headings(lines: &[Line<'_>]) -> Option<Object> {
    let (pairs, rest) = lines.as_chunks::<2>();
    let mut object = Object::new();
    for [heading, value] in pairs {
        let name = heading.text.strip_prefix("##")?.trim_start_matches('#').strip_prefix(' ')?;
        insert(&mut object, name.trim_end_matches(':'), plain_value(value.text)?)?;
    }
    rest.is_empty().then_some(object)
}

/// A row of names and a row of values, between commas.
fn header_and_row(lines: &[Line<'_>]) -> Option<Object> {
    let [names, values] = lines else { return None };
    let (names, values): (Vec<&str>, Vec<&str>) = (names.text.split(',').collect(), values.text.split(',').collect());
    if names.len() != values.len() || names.len() < 2 || values.iter().any(|value| value.contains(['"', '\''])) {
        return None;
    }
    let mut object = Object::new();
    for (name, value) in names.into_iter().zip(values) {
        insert(&mut object, name.trim(), plain_value(value)?)?;
    }
    Some(object)
}

/// A quoted text, or the text itself; the schema says what else it may be.
fn plain_value(text: &str) -> Option<Value> {
    let text = without_emphasis(without_comment(text.trim())?);
    let is_syntax =
        text.starts_with(['&', '*', '!', '|', '>']) && text.len() < 3 || text.starts_with(['&', '*', '!', '{']);
    if text.is_empty() || is_syntax {
        return None;
    }
    if text.starts_with(['"', '\'', '[']) {
        return literal(text);
    }
    Some(text.into())
}

/// The value without a comment behind it. Behind a text without quotes, it may belong to the text.
fn without_comment(text: &str) -> Option<&str> {
    if !text.contains(" #") {
        return Some(text);
    }
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (value, comment) = text.get(1..)?.split_once(quote)?;
    comment.trim_start().starts_with('#').then(|| text.get(..value.len() + 2))?
}

/// The text without the marks that emphasise it: `**path**`.
fn without_emphasis(text: &str) -> &str {
    let inner = |mark: &str| text.strip_prefix(mark)?.strip_suffix(mark).filter(|inner| !inner.contains(mark));
    inner("**").or_else(|| inner("`")).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_or_pair_is_an_entry() {
        let expected = Some(r#"{"path":"/a","new":"false"}"#);
        for (text, expected) in [
            ("path: /a\nnew: false\n", expected),
            ("- path: \"/a\"\n- new: false", expected),
            ("* **path**: `/a`\n* **new**: false", expected),
            ("- **path:** /a\n- `new`: false", expected),
            ("- path: /a\n* new: false", expected),
            ("1. path: /a\n2. new: false", expected),
            ("path=/a\nnew=false", expected),
            ("path := /a\nnew := false", expected),
            ("path -> /a\nnew → false", expected),
            ("path\t/a\nnew\tfalse", expected),
            ("[open]\npath = /a\nnew = false", expected),
            ("export path=\"/a\"\nexport new=false", expected),
            ("| Key | Value |\n|---|---|\n| path | /a |\n| new | false |", expected),
            ("## path\n/a\n## new\nfalse", expected),
            ("path,new\n/a,false", expected),
            ("path: /a | new: false", expected),
            ("# the call\npath: \"/a\"  # as asked\nnew: false", expected),
            ("path=%2Fa&new=false", expected),
            ("?path=/a&new=false", expected),
            ("open?path=/a&new=false", expected),
            ("tags:\n  - red\n  - blue\nnew: no", Some(r#"{"tags":["red","blue"],"new":"no"}"#)),
            ("tags:\n- red\n- blue\nnew: no", Some(r#"{"tags":["red","blue"],"new":"no"}"#)),
            ("at:\n  city: Bern\n  zip: 1\nnew: no", Some(r#"{"at":{"city":"Bern","zip":"1"},"new":"no"}"#)),
            (
                "rows:\n  - a: 1\n    b: 2\n  - a: 3\n    b: 4",
                Some(r#"{"rows":[{"a":"1","b":"2"},{"a":"3","b":"4"}]}"#),
            ),
            ("new: no\ntext: |\n  one\n  two\n", Some(r#"{"new":"no","text":"one\ntwo\n"}"#)),
            ("path: /a\npath: /b", None),
            ("path: /a\n  new: false", None),
            ("path: /a # or /b\nnew: false", None),
            ("path: |\nnew: false", None),
            ("path: /a\nand more", None),
            ("path: /a", None),
            ("path=/a", None),
            ("path=a b&new=false", None),
            ("path,new\n/a,b,false", None),
        ] {
            assert_eq!(read(text).map(|object| object.to_string()).as_deref(), expected, "case: {text}");
        }
    }
}
