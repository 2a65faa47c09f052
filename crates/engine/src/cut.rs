//! Texts that are too long to keep or to show.

/// The text, or its beginning with a mark if it has more than `limit` bytes.
pub(crate) fn cut(text: String, limit: usize) -> String {
    match text.get(..text.floor_char_boundary(limit)) {
        Some(start) if start.len() < text.len() => format!("{start}…"),
        _ => text,
    }
}

/// The most of many alike sentences that anybody reads.
const MAX_TOLD: usize = 8;

/// The first of some sentences as one, and how many more there are.
pub(crate) fn first_of<T: ToString>(sentences: &[T]) -> String {
    let more = sentences.len().saturating_sub(MAX_TOLD);
    let told = sentences.iter().take(MAX_TOLD).map(ToString::to_string);
    told.chain((more > 0).then(|| format!("and {more} more"))).collect::<Vec<_>>().join("; ")
}
