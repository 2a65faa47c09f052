//! Lines and query strings: `path: /a`, `- **path**: /a`, `path=/a` and `path=%2Fa&new=false`.

use percent_encoding::percent_decode_str;
use reknit_protocol::{Object, Value};

use super::{insert, literal};

/// Reads one entry for each line, or a query string.
pub(super) fn read(text: &str) -> Option<Object> {
    if !text.contains('\n') {
        return query(text);
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_bulleted = |bullet| lines.iter().all(|line| line.trim_start().starts_with(bullet));
    let bullet = ["- ", "* ", "• "].into_iter().find(|bullet| is_bulleted(*bullet));
    let mut object = Object::new();
    let mut lines = lines.into_iter().peekable();
    while let Some(line) = lines.next() {
        let entry = bullet.map_or(line, |bullet| line.trim_start().strip_prefix(bullet).unwrap_or(line));
        // Deeper lines are parts of a value.
        if entry.starts_with([' ', '\t']) || entry.starts_with('-') {
            return None;
        }
        let (key, value) = entry.split_once([':', '='])?;
        let mut items = Vec::new();
        let is_item = |line: &&str| line.trim_start().starts_with("- ");
        while let Some(item) = lines.next_if(|line| bullet.is_none() && value.trim().is_empty() && is_item(line)) {
            items.push(plain_value(item.trim().strip_prefix("- ")?)?);
        }
        let value = if items.is_empty() { plain_value(value)? } else { Value::Array(items) };
        insert(&mut object, without_emphasis(key.trim()), value)?;
    }
    Some(object)
}

/// `path=%2Fa&new=false`, perhaps after a `?`.
fn query(text: &str) -> Option<Object> {
    let text = text.strip_prefix('?').unwrap_or(text);
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

/// A quoted text, or the text itself; the schema says what else it may be.
fn plain_value(text: &str) -> Option<Value> {
    let text = without_emphasis(text.trim());
    if text.is_empty() || matches!(text, "|" | ">") || text.contains(" #") || text.starts_with(['&', '*', '!', '{']) {
        return None;
    }
    if text.starts_with(['"', '\'', '[']) {
        return literal(text);
    }
    Some(text.into())
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
            ("path=/a\nnew=false", expected),
            ("path=%2Fa&new=false", expected),
            ("?path=/a&new=false", expected),
            ("tags:\n  - red\n  - blue\nnew: no", Some(r#"{"tags":["red","blue"],"new":"no"}"#)),
            ("path: /a\npath: /b", None),
            ("path: /a\n  new: false", None),
            ("path: /a # or /b\nnew: false", None),
            ("path: |\n  text", None),
            ("path: /a\nand more", None),
            ("path: /a", None),
            ("path=/a", None),
            ("path=a b&new=false", None),
        ] {
            assert_eq!(read(text).map(|object| object.to_string()).as_deref(), expected, "case: {text}");
        }
    }
}
