//! Comparing misspelt names: equality up to case and separators, and the nearest known name.
//!
//! ```
//! use reknit_protocol::spelling::{are_alike, nearest};
//!
//! assert!(are_alike("maxResults", "max_results"));
//! assert_eq!(nearest("get_wether", ["get_weather", "geocode"]), Some("get_weather"));
//! assert_eq!(nearest("book_hotel", ["get_weather", "geocode"]), None);
//! ```

/// Longer names have no nearest name: the work grows with the square of the length.
const MAX_LETTERS: usize = 64;

/// The name in lower case, without spaces, `_` and `-`.
pub fn folded(name: &str) -> String {
    let is_separator = |letter: &char| matches!(letter, '_' | '-') || letter.is_whitespace();
    let letters = name.chars().filter(|letter| !is_separator(letter));
    letters.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Whether two names differ only in case, spaces, `_` and `-`. Names without any letter must be identical.
pub fn are_alike(left: &str, right: &str) -> bool {
    left == right || (folded(left) == folded(right) && !folded(left).is_empty())
}

/// The candidate at the smallest edit distance, at most a third of the name (rounded up) and never more than three.
///
/// Case and separators do not count as edits.
pub fn nearest<T: AsRef<str>>(name: &str, candidates: impl IntoIterator<Item = T>) -> Option<T> {
    let wanted = folded_within_limit(name)?;
    let limit = wanted.chars().count().div_ceil(3).min(3);
    let distances = candidates.into_iter().filter_map(|candidate| {
        let distance = strsim::levenshtein(&wanted, &folded_within_limit(candidate.as_ref())?);
        (distance <= limit).then_some((distance, candidate))
    });
    distances.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// The folded name; `None` if it has no letters or too many.
fn folded_within_limit(name: &str) -> Option<String> {
    Some(folded(name)).filter(|name| (1..=MAX_LETTERS).contains(&name.chars().take(MAX_LETTERS + 1).count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_the_nearest_name_and_another_word_finds_none() {
        for (name, expected) in [
            ("step-2", Some("step-1")),
            ("STEP-1", Some("step-1")),
            ("qoute", Some("quote")),
            ("weather", None),
            ("", None),
            ("__", None),
        ] {
            assert_eq!(nearest(name, ["step-1", "quote"]), expected, "case: {name}");
        }
    }

    #[test]
    fn names_without_a_letter_are_alike_only_if_they_are_the_same() {
        assert!(are_alike("_", "_") && !are_alike("_", "-"));
        assert!(are_alike("Straße", "STRASSE"));
    }
}
