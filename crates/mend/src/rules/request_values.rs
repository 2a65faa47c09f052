//! Values that a request gives after a name: `amount: 5`, `city=Paris`.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Number, Value};

/// Words that negate what follows them.
const NEGATIONS: [&str; 10] =
    ["not", "no", "never", "without", "except", "avoid", "cannot", "unless", "instead", "than"];

/// The values after a name. A value counts only if it is the whole phrase, since the end of `5 million`, `5 * price` or
/// `New York` is unclear, and only if no word before it negates it.
pub(super) fn values_after(text: &str, name: &str) -> Vec<Value> {
    sentences(text).flat_map(|sentence| in_sentence(sentence, name)).collect()
}

/// The sentences and lines of a text. A dot inside a number or a name does not end a sentence.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.split(['\n', ';']);
    lines.flat_map(|line| line.split(". ")).flat_map(|line| line.split("! ")).flat_map(|line| line.split("? "))
}

fn in_sentence(sentence: &str, name: &str) -> Vec<Value> {
    let mut found = Vec::new();
    for (at, sign) in sentence.match_indices([':', '=']) {
        let (before, rest) =
            (sentence.get(..at).unwrap_or_default(), sentence.get(at + sign.len()..).unwrap_or_default());
        let mut words = before.split_whitespace().rev();
        let is_name = words.next().is_some_and(|key| are_alike(key.trim_start_matches(['(', '"', '`']), name));
        if is_name && !words.any(is_negation) {
            found.extend(value(rest));
        }
    }
    found
}

fn is_negation(word: &str) -> bool {
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    NEGATIONS.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n’t")
}

/// The phrase up to the end of the sentence, a comma with a space, or `and`, if it is one number or one word.
fn value(rest: &str) -> Option<Value> {
    let end = [", ", " and "].iter().filter_map(|end| Some((rest.find(end)?, end.len()))).min();
    let (phrase, next) = match end {
        Some((end, length)) => (rest.get(..end)?, rest.get(end + length..)?.trim_start()),
        None => (rest, ""),
    };
    // `5, 6 and 7`, `5 and a half`: the value goes on.
    if next.starts_with(|letter: char| letter.is_ascii_digit()) || next.starts_with("a ") || next.starts_with("half") {
        return None;
    }
    let phrase = phrase.trim().trim_end_matches(['.', '!', '?', ',', ')']);
    let word = phrase.trim_matches(['"', '\'', '`']);
    if word.is_empty() || word.contains(char::is_whitespace) {
        return None;
    }
    match Number::parse(word) {
        Ok(number) => Some(Value::Number(number)),
        Err(_) if is_like_number(word) => None,
        Err(_) => Some(Value::from(word)),
    }
}

/// Whether a word may be a number in an unclear notation: `1,234.50`, `5k`, `$5`, `100*x`. A date or a time is not.
fn is_like_number(word: &str) -> bool {
    let bare = word.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    bare.starts_with(|letter: char| letter.is_ascii_digit()) && !bare.contains(['-', ':', '/'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_only_if_it_is_the_whole_phrase() {
        for (text, expected) in [
            ("amount: 5", Some("5")),
            ("Pay it, amount: 5.", Some("5")),
            ("amount: 5. Then tell me", Some("5")),
            ("amount=5.50, currency: EUR", Some("5.50")),
            ("amount: 5 and currency: EUR", Some("5")),
            ("from: USD amount: 5", Some("5")),
            ("Amount: all, please", Some("\"all\"")),
            ("amount: \"five\"", Some("\"five\"")),
            ("amount: 2024-01-31", Some("\"2024-01-31\"")),
            ("amount: 1,234.50", None),
            ("amount: 12,50", None),
            ("amount: 5 million", None),
            ("amount: 5k", None),
            ("amount: $5", None),
            ("amount: 5%", None),
            ("amount: 100 * price", None),
            ("amount: 100*price", None),
            ("amount: 5 or 6", None),
            ("amount: 5, 6 and 7", None),
            ("amount: 5 and a half", None),
            ("amount: New York", None),
            ("do not use amount: 5", None),
            ("don't send amount: 5", None),
            ("anything except amount: 5", None),
            ("amount != 5", None),
            ("amount >= 5", None),
            ("amount: ", None),
            ("my amount is 5", None),
        ] {
            let found = values_after(text, "amount").first().map(ToString::to_string);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
