//! Names with one typo: what a writer meant although a letter is missing, doubled, swapped or wrong.

/// Longer names are not compared.
const MAX_BYTES: usize = 64;

/// The only candidate from which the name differs by one typo.
pub(crate) fn only_typo<'c, T: AsRef<str> + ?Sized + 'c>(
    name: &str,
    candidates: impl IntoIterator<Item = &'c T>,
) -> Option<&'c T> {
    let words = words_of(name)?;
    let mut alike = candidates.into_iter().filter(|candidate| is_typo(&words, candidate.as_ref()));
    alike.next().filter(|_| alike.next().is_none())
}

/// Whether exactly one word of the candidate is written with a typo, and the others are the same.
fn is_typo(words: &[Vec<char>], candidate: &str) -> bool {
    let Some(wanted) = words_of(candidate).filter(|wanted| wanted.len() == words.len()) else { return false };
    let mut different = words.iter().zip(&wanted).filter(|(written, wanted)| written != wanted);
    let first = different.next();
    first.is_some_and(|(written, wanted)| is_typo_of(written, wanted)) && different.next().is_none()
}

/// The words of a name in lower case: `maxResults` and `max_results` have two. `None` if the name is too long.
fn words_of(name: &str) -> Option<Vec<Vec<char>>> {
    if name.len() > MAX_BYTES {
        return None;
    }
    let mut words: Vec<Vec<char>> = vec![Vec::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let begins_word = was_lower && c.is_uppercase();
        was_lower = c.is_lowercase();
        if !c.is_alphanumeric() || begins_word {
            words.push(Vec::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    Some(words)
}

/// Whether a word differs from another one by a typo and is hardly another word. The first letter is the same, and so is the
/// last one; short words need the more usual typos: `county` is no `country`, and `weight` no `height`.
fn is_typo_of(written: &[char], wanted: &[char]) -> bool {
    let has_digit = |word: &[char]| word.iter().any(|c| !c.is_alphabetic());
    if written.first() != wanted.first() || has_digit(written) || has_digit(wanted) {
        return false;
    }
    let same = written.iter().zip(wanted).take_while(|(left, right)| left == right).count();
    let (left, right) = (written.get(same..).unwrap_or_default(), wanted.get(same..).unwrap_or_default());
    let length = written.len().max(wanted.len());
    match (left, right) {
        ([a, b, left @ ..], [c, d, right @ ..]) if a == d && b == c && left == right => length >= 5,
        ([_, left @ ..], [_, right @ ..]) if left == right => length >= 8 && !left.is_empty(),
        // One word lacks a letter of the other.
        _ => {
            let (long, rest, short) =
                if left.len() > right.len() { (written, left, right) } else { (wanted, right, left) };
            let Some((letter, after)) = rest.split_first().filter(|(_, after)| *after == short) else { return false };
            let is_doubled = same.checked_sub(1).and_then(|at| long.get(at)) == Some(letter);
            let least = match letter {
                _ if is_doubled => 5,
                _ if after.is_empty() => return false,
                'a' | 'e' | 'i' | 'o' | 'u' => 6,
                _ => 8,
            };
            length >= least
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_is_one_usual_mistake_in_a_word_of_some_length() {
        for (written, wanted, expected) in [
            ("qurey", "query", true),
            ("max_reslts", "max_results", true),
            ("maxResullts", "max_results", true),
            ("enviroment", "environment", true),
            ("destinetion", "destination", true),
            ("cancelledd", "cancelled", true),
            ("adress", "address", true),
            ("query", "query", false),
            ("weight", "height", false),
            ("altitude", "latitude", false),
            ("county", "country", false),
            ("with", "width", false),
            ("form", "from", false),
            ("data", "date", false),
            ("complete", "completed", false),
            ("receiver", "received", false),
            ("address1", "address2", false),
            ("start_y", "start_x", false),
            ("max_reslts", "min_results", false),
            ("maxreslts", "max_results", false),
        ] {
            assert_eq!(only_typo(written, [wanted]).is_some(), expected, "{written} for {wanted}");
        }
    }

    #[test]
    fn a_typo_of_two_names_is_none() {
        assert_eq!(only_typo("reslts", ["results", "reslits"]), None);
    }
}
