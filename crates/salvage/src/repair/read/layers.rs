//! Layers around a whole text: entities of HTML, the marks of a quoted block, and punctuation of East Asian scripts.

use super::cursor::is_unusual_space;
use crate::fix::FixKind;

/// The text without a layer, and the fix that removed it. `None` if there is no such layer.
pub(super) fn without_layer(text: &str) -> Option<(String, FixKind)> {
    let inner =
        text.trim_start_matches(|c: char| c.is_ascii_whitespace() || matches!(c, '{' | '[') || is_unusual_space(c));
    if inner.starts_with("&quot;") && !text.contains('"') {
        return Some((without_entities(text), FixKind::EscapedText));
    }
    if text.starts_with('>') {
        return without_quote_marks(text).map(|inner| (inner, FixKind::SurroundingText));
    }
    // All these marks begin with the same byte.
    if text.starts_with(['{', '[']) && text.as_bytes().contains(&0xEF) && text.contains(['：', '，', '；']) {
        return with_ascii_punctuation(text).map(|inner| (inner, FixKind::WidePunctuation));
    }
    None
}

fn without_entities(text: &str) -> String {
    let text = text.replace("&quot;", "\"").replace("&#39;", "'").replace("&apos;", "'");
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

fn without_quote_marks(text: &str) -> Option<String> {
    let mut inner = String::with_capacity(text.len());
    for line in text.lines() {
        inner.push_str(line.trim_start().strip_prefix('>')?);
        inner.push('\n');
    }
    inner.contains(['{', '[']).then_some(inner)
}

fn with_ascii_punctuation(text: &str) -> Option<String> {
    let mut result = String::with_capacity(text.len());
    let (mut in_string, mut is_escaped, mut is_changed) = (false, false, false);
    for c in text.chars() {
        let narrow = match c {
            '：' => ':',
            '，' | '；' => ',',
            other => other,
        };
        let is_replaced = !in_string && narrow != c;
        is_changed |= is_replaced;
        result.push(if is_replaced { narrow } else { c });
        if matches!(c, '"' | '“' | '”') && !is_escaped {
            in_string = !in_string;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    (is_changed && !in_string).then_some(result)
}
