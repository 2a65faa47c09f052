//! Names that are meant and not hit: what two spellings have in common, and which known name is nearest.
//!
//! ```
//! use reknit_protocol::spelling::{are_alike, nearest};
//!
//! assert!(are_alike("maxResults", "max_results"));
//! assert_eq!(nearest("get_wether", ["get_weather", "geocode"]), Some("get_weather"));
//! assert_eq!(nearest("book_hotel", ["get_weather", "geocode"]), None);
//! ```

/// Names longer than this are not compared: the work grows with the square of the length.
const LONGEST: usize = 64;

/// A name without what only its spelling adds: case, spaces, `_` and `-`. The same that fitting goes by.
pub fn folded(name: &str) -> String {
    let is_joint = |letter: &char| matches!(letter, '_' | '-') || letter.is_whitespace();
    let letters = name.chars().filter(|letter| !is_joint(letter));
    letters.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

/// Whether two names are the same but for their spelling.
pub fn are_alike(left: &str, right: &str) -> bool {
    left == right || (folded(left) == folded(right) && !folded(left).is_empty())
}

/// The candidate with the fewest edits, if those are few beside the length of the name. Spelling counts for nothing.
pub fn nearest<T: AsRef<str>>(name: &str, candidates: impl IntoIterator<Item = T>) -> Option<T> {
    let wanted = letters(name)?;
    let limit = wanted.len().div_ceil(3).min(3);
    let distances = candidates.into_iter().filter_map(|candidate| {
        let distance = distance(&wanted, &letters(candidate.as_ref())?);
        (distance <= limit).then_some((distance, candidate))
    });
    distances.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

fn letters(name: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = folded(name).chars().take(LONGEST + 1).collect();
    (1..=LONGEST).contains(&letters.len()).then_some(letters)
}

/// How many letters must be put in, dropped or changed (Levenshtein).
fn distance(left: &[char], right: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, letter) in left.iter().enumerate() {
        let mut diagonal = line;
        let mut before = line + 1;
        for (slot, other) in row.iter_mut().skip(1).zip(right) {
            let changed = diagonal + usize::from(letter != other);
            diagonal = *slot;
            before = changed.min(before + 1).min(diagonal + 1);
            *slot = before;
        }
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_finds_its_name_and_another_word_finds_none() {
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
    fn distance_counts_edits_both_ways() {
        for (left, right, expected) in [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("ab", "ba", 2)] {
            let [left, right] = [left, right].map(|text: &str| text.chars().collect::<Vec<_>>());
            assert_eq!(distance(&left, &right), expected);
            assert_eq!(distance(&right, &left), expected);
        }
    }

    #[test]
    fn names_without_a_letter_are_alike_only_if_they_are_the_same() {
        assert!(are_alike("_", "_") && !are_alike("_", "-"));
        assert!(are_alike("Straße", "STRASSE"));
    }
}
