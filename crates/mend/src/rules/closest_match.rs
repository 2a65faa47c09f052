//! The one candidate that a name or a value means. `None` if no candidate, or more than one, is similar.

use reknit_protocol::Value;
use reknit_protocol::spelling::{are_alike, folded};

use super::only;
use crate::value_kind::words_of;

/// Shorter texts are similar to too many others.
const MIN_LETTERS: usize = 3;
/// Longer texts are not compared letter by letter.
const MAX_LETTERS: usize = 64;

/// Words that negate what is beside them: `not active` does not mean `active`.
const NEGATIONS: [&str; 10] = ["not", "no", "non", "never", "without", "except", "un", "in", "dis", "ex"];

/// The candidate that differs only in spelling, is an abbreviation, or is one typo away.
pub(super) fn closest_name<'a>(text: &str, candidates: &[&'a str]) -> Option<&'a str> {
    only_match(candidates, |candidate| are_alike(candidate, text))
        .or_else(|| only_match(candidates, |candidate| is_abbreviation(text, candidate)))
        .or_else(|| only_match(candidates, |candidate| is_typo(text, candidate)))
}

/// The candidate that differs only in spelling, is a whole word of the value, or differs by two transposed letters or one
/// letter too many or too few. Two letters make another value: `Berlin` and `Bern`, `unpaid` and `paid`.
pub(super) fn closest_value<'a>(value: &Value, candidates: &'a [Value]) -> Option<&'a Value> {
    let text = text_of(value)?;
    let texts: Vec<(String, &Value)> = candidates.iter().filter_map(|value| Some((text_of(value)?, value))).collect();
    let mut names: Vec<&str> = texts.iter().map(|(text, _)| text.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let text = text.trim();
    let alike = only_match(&names, |name| are_alike(name, text));
    // A number or a code that differs in one character is another one.
    if value.as_str().is_none() || text.chars().any(|letter| letter.is_ascii_digit()) {
        let alike = alike.filter(|_| value.as_str().is_some())?;
        return texts.iter().find(|(text, _)| text == alike).map(|(_, value)| *value);
    }
    let closest = alike
        .or_else(|| only_match(&names, |name| is_whole_word(text, name)))
        .or_else(|| only_match(&names, |name| is_transposition(text, name) || has_one_letter_more(text, name)))?;
    texts.iter().find(|(text, _)| text == closest).map(|(_, value)| *value)
}

/// Whether a word of the text is the other text, and no word negates it.
fn is_whole_word(text: &str, other: &str) -> bool {
    let is_negation = |word: &str| NEGATIONS.contains(&word.to_lowercase().trim_end_matches('-'));
    text.split_whitespace().any(|word| word == other) && !text.split_whitespace().any(is_negation)
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.canonical()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// Whether one of two words starts with the other: `lat` and `latitude`. A name of several words is no abbreviation:
/// `amount_cents` is not `amount`.
fn is_abbreviation(one: &str, other: &str) -> bool {
    let (one, other) = (words_of(one), words_of(other));
    let ([one], [other]) = (one.as_slice(), other.as_slice()) else { return false };
    one.chars().count().min(other.chars().count()) >= MIN_LETTERS && (one.starts_with(other) || other.starts_with(one))
}

/// Whether two texts differ by two transposed neighbouring letters. In a short code this says more than an edit distance:
/// `ERU` means `EUR`, although `KRW` is at the same distance.
fn is_transposition(one: &str, other: &str) -> bool {
    let (Some(one), Some(other)) = (letters(one), letters(other)) else { return false };
    let differ: Vec<usize> = (0..one.len()).filter(|at| one.get(*at) != other.get(*at)).collect();
    let [first, second] = differ[..] else { return false };
    one.len() == other.len()
        && second == first + 1
        && one.get(first) == other.get(second)
        && one.get(second) == other.get(first)
}

/// The only candidate that matches.
pub(super) fn only_match<'a>(candidates: &[&'a str], is_match: impl Fn(&str) -> bool) -> Option<&'a str> {
    only(candidates.iter().copied().filter(|candidate| is_match(candidate)))
}

/// Whether one text has a single further letter, not in front: `Euro` and `EUR`. A letter in front may be a prefix, and two
/// codes in capitals may both exist.
fn has_one_letter_more(one: &str, other: &str) -> bool {
    let is_code = |text: &str| text.chars().all(char::is_uppercase);
    let (Some(left), Some(right)) = (letters(one), letters(other)) else { return false };
    let (short, long) = if left.len() < right.len() { (left, right) } else { (right, left) };
    let same = short.iter().zip(&long).take_while(|(one, other)| one == other).count();
    short.len() + 1 == long.len()
        && same > 0
        && short.get(same..) == long.get(same + 1..)
        && !(is_code(one) && is_code(other))
}

/// Whether two names differ by one letter or by two transposed neighbouring letters.
fn is_typo(one: &str, other: &str) -> bool {
    let (Some(left), Some(right)) = (letters(one), letters(other)) else { return false };
    let differ = left.iter().zip(&right).filter(|(one, other)| one != other).count();
    is_transposition(one, other) || has_one_letter_more(one, other) || left.len() == right.len() && differ == 1
}

fn letters(text: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = folded(text).chars().take(MAX_LETTERS + 1).collect();
    (MIN_LETTERS..=MAX_LETTERS).contains(&letters.len()).then_some(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_matches_after_a_typo_and_not_if_it_is_merely_near() {
        let values = ["TSLA", "AAPL", "SAP", "SONY", "EUR", "metric", "imperial"].map(Value::from);
        for (text, expected) in [
            ("tsla", Some("TSLA")),
            ("TSLA stock", Some("TSLA")),
            ("imperial units", Some("imperial")),
            ("Euro", Some("EUR")),
            ("Tesla", Some("TSLA")),
            ("Sapphire", None),
            ("Sony Ericsson", None),
            ("Apple", None),
            ("HANOK", None),
            ("ERU", Some("EUR")),
            ("metirc", Some("metric")),
            ("SPA", Some("SAP")),
            ("ASP", Some("SAP")),
            ("PAS", None),
            ("not metric", None),
            ("imperials", Some("imperial")),
            ("SAPX", None),
        ] {
            let closest = closest_value(&Value::from(text), &values).and_then(Value::as_str);
            assert_eq!(closest, expected, "case: {text}");
        }
    }

    #[test]
    fn an_opposite_or_another_name_does_not_match() {
        for (text, allowed) in [
            ("inactive", "active"),
            ("unpaid", "paid"),
            ("atypical", "typical"),
            ("nonstop", "stop"),
            ("disabled", "abled"),
            ("Australia", "Austria"),
            ("Berlin", "Bern"),
            ("Niger", "Nigeria"),
            ("maria", "mario"),
            ("Tokio", "Tokyo"),
            ("GOOGL", "GOOG"),
            ("NAD", "NZD"),
        ] {
            for (sent, offered) in [(text, allowed), (allowed, text)] {
                assert_eq!(closest_value(&Value::from(sent), &[Value::from(offered)]), None, "{sent} for {offered}");
            }
        }
    }

    #[test]
    fn a_name_matches_only_without_doubt() {
        let codes = ["EUR", "GBP", "JPY", "KRW", "USD"];
        for (text, candidates, expected) in [
            ("Euro", &codes[..], Some("EUR")),
            ("euro", &codes, Some("EUR")),
            ("usd", &codes, Some("USD")),
            ("UDS", &codes, Some("USD")),
            ("US Dollar", &codes, None),
            ("Dollar", &codes, None),
            ("Won", &codes, None),
            ("XXX", &codes, None),
            ("", &codes, None),
            ("latitude", &["lat", "lon"], Some("lat")),
            ("longitude", &["lat", "lon"], Some("lon")),
            ("Tesla", &["TSLA", "AAPL", "MSFT"], Some("TSLA")),
            ("imperil", &["metric", "imperial"], Some("imperial")),
            ("cat", &["car", "cab"], None),
            ("GM", &["GE", "GS"], None),
            ("from_currency", &["from", "to"], None),
            ("amount", &["amount_cents"], None),
            ("price_min", &["price_max"], None),
            ("amout", &["amount", "currency"], Some("amount")),
        ] {
            assert_eq!(closest_name(text, candidates), expected, "case: {text} in {candidates:?}");
        }
    }
}
