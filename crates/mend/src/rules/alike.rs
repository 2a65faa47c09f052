//! Which of some names or values is meant by another. Only one may be.

use reknit_protocol::Value;
use reknit_protocol::spelling::{are_alike, folded};

/// Shorter beginnings are common to too many words.
const SHORTEST: usize = 3;
/// Longer texts are not compared letter by letter: the work grows with the square of the length.
const LONGEST: usize = 64;

/// Words that turn what stands beside them around: what is `not active` is not `active`.
const NEGATIONS: [&str; 10] = ["not", "no", "non", "never", "without", "except", "un", "in", "dis", "ex"];

/// The one name that is meant: the same but for spelling, a short form of it, or a slip away.
pub(super) fn meant_by<'a>(text: &str, candidates: &[&'a str]) -> Option<&'a str> {
    only(candidates, |candidate| are_alike(candidate, text))
        .or_else(|| only(candidates, |candidate| is_short_form(text, candidate)))
        .or_else(|| only(candidates, |candidate| is_slip(text, candidate)))
}

/// The value that is meant, by its text: the same but for spelling, a whole word of it, two neighbours exchanged, or one
/// letter too many or too few. Two letters make another value: `Berlin` and `Bern`, `unpaid` and `paid`.
pub(super) fn value_meant<'a>(value: &Value, candidates: &'a [Value]) -> Option<&'a Value> {
    let text = text_of(value)?;
    let texts: Vec<(String, &Value)> = candidates.iter().filter_map(|value| Some((text_of(value)?, value))).collect();
    let mut names: Vec<&str> = texts.iter().map(|(text, _)| text.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let text = text.trim();
    let alike = only(&names, |name| are_alike(name, text));
    // What is near a number or a code is another one.
    if value.as_str().is_none() || text.chars().any(|letter| letter.is_ascii_digit()) {
        let alike = alike.filter(|_| value.as_str().is_some())?;
        return texts.iter().find(|(text, _)| text == alike).map(|(_, value)| *value);
    }
    let meant = alike
        .or_else(|| only(&names, |name| is_whole_word(text, name)))
        .or_else(|| only(&names, |name| is_exchange(text, name) || is_letter_more(text, name)))?;
    texts.iter().find(|(text, _)| text == meant).map(|(_, value)| *value)
}

/// Whether one of the words of a text is the other, and none of them turns it around.
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

/// Whether one of two words begins with the other: `lat` and `latitude`. Another word behind it makes another thing of it:
/// `amount` and `amount_cents`.
fn is_short_form(one: &str, other: &str) -> bool {
    let (one, other) = (words_of(one), words_of(other));
    let ([one], [other]) = (one.as_slice(), other.as_slice()) else { return false };
    one.chars().count().min(other.chars().count()) >= SHORTEST && (one.starts_with(other) || other.starts_with(one))
}

/// `to`, `currency` of `to_currency` and of `toCurrency`.
pub(super) fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if matches!(letter, '_' | '-' | ' ' | '.') || letter.is_uppercase() && was_lower {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut()
            && letter.is_alphanumeric()
        {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether two neighbouring letters are exchanged and all else is the same. In a short code this says more than that few
/// letters differ: `ERU` is `EUR`, although `KRW` is no farther than two letters away.
fn is_exchange(one: &str, other: &str) -> bool {
    let (Some(one), Some(other)) = (letters(one), letters(other)) else { return false };
    let differ: Vec<usize> = (0..one.len()).filter(|at| one.get(*at) != other.get(*at)).collect();
    let [first, second] = differ[..] else { return false };
    one.len() == other.len()
        && second == first + 1
        && one.get(first) == other.get(second)
        && one.get(second) == other.get(first)
}

fn only<'a>(candidates: &[&'a str], is_meant: impl Fn(&str) -> bool) -> Option<&'a str> {
    let mut meant = candidates.iter().filter(|candidate| is_meant(candidate));
    match (meant.next(), meant.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

/// Whether one has a letter that the other lacks, behind its first one, and all else is the same: `Euro` and `EUR`. A
/// letter in front may be a word of its own, and of two codes in capitals each may be somebody's.
fn is_letter_more(one: &str, other: &str) -> bool {
    let is_code = |text: &str| text.chars().all(char::is_uppercase);
    let (Some(left), Some(right)) = (letters(one), letters(other)) else { return false };
    let (short, long) = if left.len() < right.len() { (left, right) } else { (right, left) };
    let same = short.iter().zip(&long).take_while(|(one, other)| one == other).count();
    short.len() + 1 == long.len()
        && same > 0
        && short.get(same..) == long.get(same + 1..)
        && !(is_code(one) && is_code(other))
}

/// Whether two names are one letter apart, or two neighbours of it are exchanged.
fn is_slip(one: &str, other: &str) -> bool {
    let (Some(left), Some(right)) = (letters(one), letters(other)) else { return false };
    let differ = left.iter().zip(&right).filter(|(one, other)| one != other).count();
    is_exchange(one, other) || is_letter_more(one, other) || left.len() == right.len() && differ == 1
}

fn letters(text: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = folded(text).chars().take(LONGEST + 1).collect();
    (SHORTEST..=LONGEST).contains(&letters.len()).then_some(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_meant_by_a_slip_and_not_by_what_is_near() {
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
            let meant = value_meant(&Value::from(text), &values).and_then(Value::as_str);
            assert_eq!(meant, expected, "case: {text}");
        }
    }

    #[test]
    fn an_opposite_and_a_namesake_are_not_near() {
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
                assert_eq!(value_meant(&Value::from(sent), &[Value::from(offered)]), None, "{sent} for {offered}");
            }
        }
    }

    #[test]
    fn only_what_is_meant_without_doubt_is_found() {
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
            assert_eq!(meant_by(text, candidates), expected, "case: {text} in {candidates:?}");
        }
    }
}
