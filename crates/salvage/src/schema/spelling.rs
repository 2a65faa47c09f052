//! What two spellings of one word have in common.

use std::borrow::Cow;

/// The marks that models put around a word to stress or quote it.
const MARKS: [char; 5] = ['*', '_', '`', '"', '\''];

/// A key without what only its spelling adds: case, spaces, `_` and `-`. Empty if there is nothing else.
pub(crate) fn key_form(key: &str) -> String {
    folded(key)
}

/// An allowed value without case, spaces, `_`, `-` and marks around it. Empty if there is nothing else.
pub(crate) fn word_form(word: &str) -> String {
    folded(without_marks(word))
}

fn folded(text: &str) -> String {
    let is_joint = |letter: &char| matches!(letter, '_' | '-') || letter.is_whitespace();
    // Up and down again, because `straße` and `STRASSE` meet only in the upper case.
    let letters = text.chars().filter(|letter| !is_joint(letter));
    letters.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// The text without white space and without emphasis or quotes around it: `Paris` for `**Paris**`.
///
/// Marks come off in pairs only, and never so many that nothing is left.
pub(crate) fn without_marks(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(inner) = MARKS.iter().find_map(|mark| text.strip_prefix(*mark)?.strip_suffix(*mark)) {
        if inner.trim().is_empty() {
            break;
        }
        text = inner.trim();
    }
    text
}

/// The text on one line of a message: cut after 60 characters.
pub(crate) fn short(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(60) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
    }
}
