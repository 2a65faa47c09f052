//! Shortening texts that are too long to store or show.

use std::borrow::Cow;

/// The text, or its beginning and `…` if it has more than `limit` bytes.
pub fn truncate(text: String, limit: usize) -> String {
    match text.get(..text.floor_char_boundary(limit)) {
        Some(start) if start.len() < text.len() => format!("{start}…"),
        _ => text,
    }
}

/// The first `max_chars` characters of a text, followed by `…` if there are more.
pub fn shorten(text: &str, max_chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max_chars).filter(|_| text.len() > max_chars) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
    }
}

const MAX_SENTENCES: usize = 8;

/// The first sentences joined with `; `, and the number of those left out.
pub fn join_first<T: ToString>(sentences: &[T]) -> String {
    let omitted = sentences.len().saturating_sub(MAX_SENTENCES);
    let kept = sentences.iter().take(MAX_SENTENCES).map(ToString::to_string);
    kept.chain((omitted > 0).then(|| format!("and {omitted} more"))).collect::<Vec<_>>().join("; ")
}
