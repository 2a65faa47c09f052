//! What stands around the references of a text.

use super::UnbracedReference;

/// Signs that nobody writes around a value on purpose: quotes, and halves of delimiters.
const SIGNS: &str = "\"'`“”‘’=<>[]{}()|^~\\$@#%&:;";

/// Whether only quotes and signs stand around the references of a text: `"$a.name"`, `=$a.name`, `[[a.name]`. They may belong to the
/// language in which the reference was written, and then they must not be sent.
pub(super) fn is_doubtful(text: &str, found: &[UnbracedReference]) -> bool {
    let (Some(first), Some(last)) = (found.first(), found.last()) else { return false };
    let before = text.get(..first.range.start).unwrap_or_default();
    let after = text.get(last.range.end..).unwrap_or_default();
    // A formatted string of Python.
    let before = before.trim();
    let before = before.strip_prefix('f').filter(|rest| rest.starts_with(['"', '\''])).unwrap_or(before);
    let mut signs = before.chars().chain(after.trim().chars()).peekable();
    signs.peek().is_some() && signs.all(|sign| SIGNS.contains(sign))
}
