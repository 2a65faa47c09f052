//! The name somebody may have meant.

/// The known name that is nearest to an unknown one, if one is near at all: the same but for case and separators, or at
/// most a third of its letters away.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = normal(name);
    let distances = known.into_iter().map(|one| (distance(&wanted, &normal(one)), one));
    let (away, found) = distances.min_by_key(|(away, _)| *away)?;
    (away <= wanted.len().max(found.chars().count()) / 3).then_some(found)
}

fn normal(name: &str) -> Vec<char> {
    // Names come from outside; nobody means a name of a thousand letters.
    name.chars().take(64).filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How many letters to insert, drop or replace; the Levenshtein distance, row by row.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, letter) in left.iter().enumerate() {
        let mut diagonal = index;
        let mut last = index + 1;
        for (other, cell) in right.iter().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = *cell;
            last = replaced.min(last + 1).min(diagonal + 1);
            *cell = last;
        }
        if let Some(first) = row.first_mut() {
            *first = index + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_finds_the_name_that_was_meant() {
        let known = ["amount", "from", "to", "max_results"];
        for (written, meant) in [
            ("amout", Some("amount")),
            ("Amount", Some("amount")),
            ("maxResults", Some("max_results")),
            ("form", None),
            ("frm", Some("from")),
            ("currency", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, known), meant, "written: {written}");
        }
    }

    #[test]
    fn the_distance_is_counted_in_letters() {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        for (left, right, away) in [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("héllo", "hello", 1)] {
            assert_eq!(distance(&letters(left), &letters(right)), away, "{left} {right}");
            assert_eq!(distance(&letters(right), &letters(left)), away, "{right} {left}");
        }
    }
}
