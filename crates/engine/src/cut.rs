//! Texts that are too long to keep or to show.

/// The text, or its beginning with a mark if it has more than `limit` bytes.
pub(crate) fn cut(text: String, limit: usize) -> String {
    match text.get(..text.floor_char_boundary(limit)) {
        Some(start) if start.len() < text.len() => format!("{start}…"),
        _ => text,
    }
}
