//! Folding the spellings of a word to one form.

/// The marks that models put around a word to emphasise or quote it.
const MARKS: [char; 5] = ['*', '_', '`', '"', '\''];

/// An allowed value without case, white space, `_`, `-` and the marks around it. Empty if nothing else is left.
pub(crate) fn fold_word(word: &str) -> String {
    fold_key(strip_marks(word))
}

/// A key without case, white space, `_` and `-`. Empty if nothing else is left.
pub(crate) fn fold_key(key: &str) -> String {
    let is_separator = |letter: &char| matches!(letter, '_' | '-') || letter.is_whitespace();
    // Upper case first, because `straße` and `STRASSE` are equal only in upper case.
    let letters = key.chars().filter(|letter| !is_separator(letter));
    letters.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Removes white space, emphasis and quotes around the text: `**Paris**` becomes `Paris`.
///
/// Removes marks only in pairs, and never all of the text.
pub(crate) fn strip_marks(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(inner) = MARKS.iter().find_map(|mark| text.strip_prefix(*mark)?.strip_suffix(*mark)) {
        if inner.trim().is_empty() {
            break;
        }
        text = inner.trim();
    }
    text
}
