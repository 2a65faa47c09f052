//! Strings that contain JSON structure, because a quote or bracket near them is missing or misplaced:
//! `["key2\": [\"value3", ...]`.

use super::{
    cursor::LOOKAHEAD,
    parser::{Parser, Role},
    quoted::Quote,
};

impl Parser<'_> {
    /// Notes that the repaired string that opens at `open` contains structure, if it does.
    pub(super) fn note_swallowed(&mut self, open: usize, text: &str, quote: Quote) {
        if self.swallowed.is_none() && contains_structure(text, quote) {
            self.swallowed = Some(open);
        }
    }

    /// Whether the quote at `at` ends a key that is not in an object: `["k": "v"]`.
    pub(super) fn is_key_in_list(&self, quote: Quote, start: usize, at: usize, len: usize, role: Role) -> bool {
        matches!(role, Role::Item | Role::TopLevel)
            && at - start <= LOOKAHEAD
            && self.starts_with_colon_and_value(at + len)
            && !self.slice(start, at).contains(quote.mark())
    }
}

/// Whether a text contains a part of JSON: a key with its colon and value or a list outside of brackets, or a bracket
/// that has no partner. A text with whole JSON in it is a text about JSON.
fn contains_structure(text: &str, quote: Quote) -> bool {
    let mark = quote.mark();
    if !text.contains(mark) {
        return false;
    }
    let (mut depth, mut quotes, mut is_unbalanced) = (0_i32, 0_usize, false);
    let (mut has_key, mut has_quote_at_bracket) = (false, false);
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => {
                depth -= 1;
                is_unbalanced |= depth < 0;
            }
            _ if c == mark => {
                quotes += 1;
                let rest = text.get(at + c.len_utf8()..).unwrap_or_default();
                let rest = rest.get(..rest.floor_char_boundary(LOOKAHEAD)).unwrap_or(rest).trim_start();
                let is_key = rest.strip_prefix(':').is_some_and(starts_value);
                let after_comma = rest.strip_prefix(',').map(str::trim_start);
                // A first quote before a comma opens no quotation, so it ends the string.
                let is_list = quotes == 1 && after_comma.is_some_and(|next| next.starts_with(mark));
                if depth <= 0 && (is_key || is_list || after_comma.is_some_and(starts_list_or_key)) {
                    return true;
                }
                has_key |= is_key;
                has_quote_at_bracket |= is_key || rest.starts_with(['}', ']']) || matches!(previous, '{' | '[' | ',');
            }
            _ => {}
        }
        if !c.is_whitespace() {
            previous = c;
        }
    }
    is_unbalanced || (depth != 0 && has_quote_at_bracket) || (quotes % 2 == 1 && has_key)
}

fn starts_value(text: &str) -> bool {
    let text = text.trim_start();
    text.is_empty()
        || text.starts_with(['"', '\'', '{', '[', '-'])
        || text.starts_with(|c: char| c.is_ascii_digit())
        || ["true", "false", "null", "True", "False", "None"].iter().any(|literal| text.starts_with(literal))
}

/// Whether a bracket with a quote after it begins, or a key whose end quote is missing: `"key: 1`.
fn starts_list_or_key(text: &str) -> bool {
    let Some(inside) = text.strip_prefix(['[', '{']) else {
        let word = text.strip_prefix(['"', '\'']).unwrap_or_default();
        let end = word.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(0);
        return end > 0 && word.get(end..).and_then(|rest| rest.strip_prefix(':')).is_some_and(starts_value);
    };
    inside.trim_start().starts_with(['"', '\''])
}
