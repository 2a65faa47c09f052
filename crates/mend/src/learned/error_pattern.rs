//! A kind of error: its code, and its message without the parts that vary.

use reknit_protocol::Object;
use serde::{Deserialize, Serialize};

use super::FaultyCall;
use crate::fault::FaultOrigin;

/// Longer messages are compared only up to here, in characters.
const MAX_MESSAGE: usize = 240;

/// Stands for any text in a pattern.
const ANY: char = '*';

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorPattern {
    /// The status; without one, any, also that of a call that was not sent because of its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The code of the error; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// The message, with `*` for any text.
    pub message: String,
    /// The parameters that the error must refer to, perhaps among others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
}

impl ErrorPattern {
    /// The kind of a call's error. `changed` are the parameters that the correction changed.
    pub(super) fn of(call: &FaultyCall, changed: &[&str]) -> Self {
        let message = match call.fault.origin {
            // Our own message: what follows the colon are the parameters.
            FaultOrigin::Local => call
                .fault
                .message
                .split_once(": ")
                .map_or_else(|| call.fault.message.clone(), |(head, _)| format!("{head}: {ANY}")),
            _ => message_pattern(call),
        };
        let fields = call.fields.iter().filter(|field| changed.contains(&field.as_str())).cloned().collect();
        Self { status: call.status(), code: call.fault.code.clone(), message, fields }
    }

    pub fn matches(&self, call: &FaultyCall) -> bool {
        self.status.is_none_or(|status| Some(status) == call.status())
            && self.code == call.fault.code
            && self.fields.iter().all(|field| call.fields.contains(field))
            && glob(&self.message, &shortened(&call.fault.message))
    }

    /// Whether it says more than that some call failed.
    pub(super) fn is_specific(&self) -> bool {
        let letters = self.message.chars().filter(|letter| letter.is_alphabetic()).count();
        !self.code.is_empty() || !self.fields.is_empty() || letters >= 3
    }
}

fn shortened(message: &str) -> String {
    message.chars().take(MAX_MESSAGE).collect()
}

/// The message without the values of the call, quoted texts and numbers. The names of parameters stay.
fn message_pattern(call: &FaultyCall) -> String {
    let message = shortened(&call.fault.message);
    let names = known_names(call);
    let mut pattern = String::new();
    let mut rest = message.as_str();
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let (part, length) = match quoted(rest, before) {
            Some((inner, length)) if names.contains(&inner) => (rest.get(..length).unwrap_or_default(), length),
            Some((_, length)) => ("*", length),
            None if first.is_whitespace() => (rest.get(..first.len_utf8()).unwrap_or_default(), first.len_utf8()),
            None => {
                let length = word_length(rest);
                let word = rest.get(..length).unwrap_or_default();
                (if varies(word, &call.parameters) { "*" } else { word }, length)
            }
        };
        pattern.push_str(part);
        before = rest.get(..length).and_then(|taken| taken.chars().next_back()).unwrap_or(' ');
        rest = rest.get(length..).unwrap_or_default();
    }
    if call.fault.message.chars().count() > MAX_MESSAGE {
        pattern.push(ANY);
    }
    collapse(&pattern)
}

/// The names of parameters that the call has, the schema declares or the error refers to.
fn known_names(call: &FaultyCall) -> Vec<&str> {
    let declared = call.schema.as_ref().and_then(|schema| schema.source().get("properties")?.as_object());
    let declared = declared.into_iter().flat_map(Object::keys);
    call.parameters.keys().chain(declared).chain(call.fields.iter().map(String::as_str)).collect()
}

/// The text in quotes at the start of a text, and its length with the quotes. An apostrophe in a word is no quote.
fn quoted(text: &str, before: char) -> Option<(&str, usize)> {
    let open = text.chars().next()?;
    let close = match open {
        '`' | '"' => open,
        '\'' if !before.is_alphanumeric() => open,
        '“' => '”',
        '‘' => '’',
        _ => return None,
    };
    let inner = text.get(open.len_utf8()..)?;
    let end = inner.find(close)?;
    Some((inner.get(..end)?, open.len_utf8() + end + close.len_utf8()))
}

/// The length of the word at the start of a text, which has at least one character. A mark is a word of its own.
fn word_length(text: &str) -> usize {
    let is_word = |letter: char| letter.is_alphanumeric() || "_-./:@+".contains(letter);
    let length = text.find(|letter: char| !is_word(letter)).unwrap_or(text.len());
    let word = text.get(..length).unwrap_or_default();
    // The mark at the end of a sentence does not belong to its last word.
    let length = word.trim_end_matches(['.', ':', '-', '/']).len();
    if length > 0 { length } else { text.chars().next().map_or(1, char::len_utf8) }
}

/// Whether a word may be another one in the next error: it has digits, or is a value of the call.
fn varies(word: &str, parameters: &Object) -> bool {
    word.starts_with(ANY)
        || word.chars().any(|letter| letter.is_ascii_digit() || letter == '@')
        || parameters.values().any(|value| value.as_str().is_some_and(|text| has_word_part(text, word)))
}

/// Whether a word is one of the words of a value that was sent. Short ones are too common in prose.
fn has_word_part(value: &str, word: &str) -> bool {
    word.chars().count() >= 3 && value.split_whitespace().any(|part| part == word)
}

/// Several marks in a row are one, also with spaces or commas between them.
fn collapse(pattern: &str) -> String {
    let mut collapsed = pattern.trim().to_owned();
    for between in ["**", "* *", "*, *", "*,*"] {
        while collapsed.contains(between) {
            collapsed = collapsed.replace(between, "*");
        }
    }
    collapsed
}

/// Whether a text matches a pattern in which `*` stands for any text, in time proportional to their product.
fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.trim().chars().collect(), text.trim().chars().collect());
    let (mut at, mut in_text) = (0, 0);
    // Where the last mark is, and up to where it covers the text.
    let mut last: Option<(usize, usize)> = None;
    while let Some(letter) = text.get(in_text) {
        match pattern.get(at) {
            Some(&ANY) => {
                last = Some((at, in_text));
                at += 1;
            }
            Some(wanted) if wanted == letter => {
                at += 1;
                in_text += 1;
            }
            _ => {
                let Some((mark, covered)) = last else { return false };
                last = Some((mark, covered + 1));
                at = mark + 1;
                in_text = covered + 1;
            }
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|letter| *letter == ANY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, is_match) in [
            ("no rate from * to *", "no rate from `Pounds` to `EUR`", true),
            ("no rate from * to *", "no rate from `Pounds` for `EUR`", false),
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abbcd", false),
            ("a", "a ", true),
            ("", "a", false),
        ] {
            assert_eq!(glob(pattern, text), is_match, "{pattern} {text}");
        }
    }
}
