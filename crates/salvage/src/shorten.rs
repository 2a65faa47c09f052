//! Shortening texts for messages and records.

use std::borrow::Cow;

/// The first `max_chars` characters of `text`, followed by `…` if there are more.
pub(crate) fn shorten(text: &str, max_chars: usize) -> Cow<'_, str> {
    if text.len() <= max_chars {
        return Cow::Borrowed(text);
    }
    match text.char_indices().nth(max_chars) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
    }
}
