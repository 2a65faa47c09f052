//! What models write around a scalar: tokens of their templates, tags, brackets, quotes of other scripts, punctuation, its own name.

use reknit_protocol::spelling::folded;

use super::strip_marks;

/// Longer texts are no decorated scalars.
const MAX_BYTES: usize = 200;

/// Pairs of marks around a whole scalar. Parentheses and angle brackets are none: `(5)` may be negative, and `<5>` a bound.
const PAIRS: [(char, char); 9] =
    [('[', ']'), ('{', '}'), ('“', '”'), ('”', '”'), ('‘', '’'), ('«', '»'), ('「', '」'), ('『', '』'), ('„', '“')];

/// The tokens with which templates of models end a text, besides those in `<|...|>`.
const TOKENS: [&str; 6] = ["</s>", "<s>", "<eos>", "<bos>", "<pad>", "<end_of_turn>"];

/// The scalar without what is around it, in ASCII where it is full width; `None` if nothing is around it.
///
/// `name` is the name of the property: `days: 3` and `DAYS=3` for `days` are `3`.
pub(crate) fn without_decoration(text: &str, name: Option<&str>) -> Option<String> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let narrow: String = text.chars().filter(|c| !is_invisible(*c)).map(narrow_form).collect();
    let narrow = narrow.replace("\\_", "_").replace("\\\"", "\"");
    let mut inner = narrow.trim();
    loop {
        let before = inner;
        inner = strip_marks(without_tokens(inner));
        inner = without_tag(inner);
        inner = without_punctuation(inner);
        inner = PAIRS.iter().find_map(|(open, close)| inner.strip_prefix(*open)?.strip_suffix(*close)).unwrap_or(inner);
        inner = name.and_then(|name| without_name(inner, name)).unwrap_or(inner).trim();
        if inner == before {
            break;
        }
    }
    (!inner.is_empty() && inner != text).then(|| inner.to_owned())
}

/// Whether nothing is seen of a character.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
}

/// The ASCII form of a character of full width.
pub(crate) fn narrow_form(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3000}' | '\u{a0}' | '\u{2007}' | '\u{202f}' => ' ',
        other => other,
    }
}

/// The text without tokens of templates around it.
pub(crate) fn without_tokens(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let before = text;
        for token in TOKENS {
            text = text.strip_suffix(token).unwrap_or(text);
            text = text.strip_prefix(token).unwrap_or(text);
        }
        let is_token = |inside: &str| !inside.contains(['<', '>', '|']) && !inside.contains(char::is_whitespace);
        if let Some((front, token)) = text.strip_suffix("|>").and_then(|rest| rest.rsplit_once("<|"))
            && is_token(token)
        {
            text = front;
        }
        if let Some((token, rest)) = text.strip_prefix("<|").and_then(|rest| rest.split_once("|>"))
            && is_token(token)
        {
            text = rest;
        }
        text = text.trim();
        if text == before {
            return text;
        }
    }
}

/// `high` of `<value>high</value>`.
fn without_tag(text: &str) -> &str {
    let inner = || {
        let (tag, rest) = text.strip_prefix('<')?.split_once('>')?;
        let inner = rest.strip_suffix('>')?.strip_suffix(tag)?.strip_suffix("</")?;
        (!inner.contains('<')).then_some(inner)
    };
    inner().unwrap_or(text)
}

/// The text without a comma, semicolon, full stop or exclamation mark at its end, or a colon or equals sign at its start.
fn without_punctuation(text: &str) -> &str {
    // A number that ends with a comma or a point may be cut.
    let is_cut = |rest: &str| text.ends_with([',', '.']) && rest.ends_with(|c: char| c.is_ascii_digit());
    let end =
        text.strip_suffix([',', ';', '!', '.']).filter(|rest| !rest.ends_with(['.', '!', ',', ';']) && !is_cut(rest));
    let text = end.unwrap_or(text).trim_end();
    text.strip_prefix([':', '=']).filter(|rest| !rest.starts_with([':', '='])).unwrap_or(text)
}

/// `3` of `days: 3`, `days = 3` and `DAYS_3`.
fn without_name<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    if let Some((left, right)) = text.split_once([':', '=']) {
        return (folded(left) == folded(name) && !right.starts_with(['=', ':'])).then_some(right);
    }
    let (left, right) = text.split_at_checked(name.len())?;
    left.eq_ignore_ascii_case(name).then(|| right.strip_prefix('_'))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_nothing_is_dropped() {
        for (text, expected) in [
            ("high<|im_end|>", Some("high")),
            ("high</s>", Some("high")),
            ("<level>high</level>", Some("high")),
            ("\"high\",", Some("high")),
            ("“high”", Some("high")),
            ("[high]", Some("high")),
            (":high", Some("high")),
            ("level: high", Some("high")),
            ("Level = high", Some("high")),
            ("LEVEL_HIGH", Some("HIGH")),
            ("on\\_hold", Some("on_hold")),
            ("ｈｉｇｈ", Some("high")),
            ("high\u{200b}", Some("high")),
            ("high!", Some("high")),
            ("high", None),
            ("high?", None),
            ("1,", None),
            ("1,234.", None),
            ("(5)", None),
            ("<5>", None),
            (">= 5", None),
            ("...", None),
            ("5 km", None),
            ("not high", None),
            ("level:: high", None),
        ] {
            assert_eq!(without_decoration(text, Some("level")).as_deref(), expected, "case: {text}");
        }
    }
}
