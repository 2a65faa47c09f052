//! Which known name is spelt most like an unknown one.

/// Names longer than this are not compared: the work grows with the square of the length.
const LONGEST: usize = 64;

/// The candidate with the fewest edits, if those are few beside the length of the name. Case counts for nothing.
pub(crate) fn nearest<T: AsRef<str>>(name: &str, candidates: impl IntoIterator<Item = T>) -> Option<T> {
    let wanted = letters(name)?;
    let limit = wanted.len().div_ceil(3).min(3);
    let distances = candidates.into_iter().filter_map(|candidate| {
        let distance = distance(&wanted, &letters(candidate.as_ref())?);
        (distance <= limit).then_some((distance, candidate))
    });
    distances.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

fn letters(name: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = name.chars().flat_map(char::to_lowercase).take(LONGEST + 1).collect();
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
        ] {
            assert_eq!(nearest(name, ["step-1", "quote"]), expected, "case: {name}");
        }
        assert_eq!(distance(&['a', 'b', 'c'], &['a', 'c']), 1);
        assert_eq!(distance(&[], &['a', 'c']), 2);
    }
}
