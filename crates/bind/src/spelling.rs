//! What two spellings of one name have in common.

/// A name without what only its spelling adds: case, spaces, `_` and `-`. The same that fitting goes by.
pub(crate) fn folded(name: &str) -> String {
    let is_joint = |letter: &char| matches!(letter, '_' | '-') || letter.is_whitespace();
    let letters = name.chars().filter(|letter| !is_joint(letter));
    letters.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Whether two names are the same but for their spelling.
pub(crate) fn are_alike(left: &str, right: &str) -> bool {
    left == right || (folded(left) == folded(right) && !folded(left).is_empty())
}
