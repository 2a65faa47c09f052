//! Which of some names or values is meant by another. Only one may be.

use reknit_protocol::Value;
use reknit_protocol::spelling::{are_alike, folded};

/// Shorter beginnings are common to too many words.
const SHORTEST: usize = 3;
/// Longer texts are not compared letter by letter: the work grows with the square of the length.
const LONGEST: usize = 64;

/// The one name that is meant: the same but for spelling, a beginning of the other, or nearly the same letters with
/// no other candidate near.
pub(super) fn meant_by<'a>(text: &str, candidates: &[&'a str]) -> Option<&'a str> {
    only(candidates, |candidate| are_alike(candidate, text))
        .or_else(|| only(candidates, |candidate| is_beginning(text, candidate)))
        .or_else(|| nearest(text, candidates))
}

/// The value that is meant, by its text: the same but for spelling, a whole word of it, most of it, two neighbours
/// exchanged, or nearly the same letters. More is asked of values than of names: for those, the type of the value must fit as well.
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
        .or_else(|| only(&names, |name| text.split_whitespace().any(|word| word == name)))
        .or_else(|| only(&names, |name| is_most(text, name)))
        .or_else(|| only(&names, |name| is_exchange(text, name)))
        .or_else(|| nearest(text, &names))?;
    texts.iter().find(|(text, _)| text == meant).map(|(_, value)| *value)
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.canonical()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// Whether one of two names begins with the other: `lat` and `latitude`, `EUR` and `Euro`.
pub(super) fn is_beginning(one: &str, other: &str) -> bool {
    let (one, other) = (folded(one), folded(other));
    let shorter = one.chars().count().min(other.chars().count());
    shorter >= SHORTEST && (one.starts_with(&other) || other.starts_with(&one))
}

/// Whether one begins with the other and leaves less than a third of it: `EUR` of `Euro`, but not `SAP` of `Sapphire`.
fn is_most(one: &str, other: &str) -> bool {
    let (one_length, other_length) = (folded(one).chars().count(), folded(other).chars().count());
    is_beginning(one, other) && one_length.min(other_length) * 3 >= one_length.max(other_length) * 2
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

/// The candidate that is a slip or two away, if the next one is at least two more away.
fn nearest<'a>(text: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let wanted = letters(text)?;
    let mut distances: Vec<(usize, &'a str)> =
        candidates.iter().filter_map(|candidate| Some((distance(&wanted, &letters(candidate)?), *candidate))).collect();
    distances.sort_by_key(|(distance, _)| *distance);
    let limit = (wanted.len() / 3).min(2);
    match distances.as_slice() {
        [(first, candidate), rest @ ..] if *first <= limit => {
            rest.first().is_none_or(|(second, _)| *second >= first + 2).then_some(*candidate)
        }
        _ => None,
    }
}

fn letters(text: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = folded(text).chars().take(LONGEST + 1).collect();
    (SHORTEST..=LONGEST).contains(&letters.len()).then_some(letters)
}

/// How many letters must be put in, dropped, changed or exchanged with their neighbour.
fn distance(left: &[char], right: &[char]) -> usize {
    let width = right.len() + 1;
    let mut rows: [Vec<usize>; 3] = [Vec::new(), (0..width).collect(), Vec::new()];
    for (line, letter) in left.iter().enumerate() {
        let [before_last, last, row] = &mut rows;
        row.clear();
        row.push(line + 1);
        for (column, other) in right.iter().enumerate() {
            let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(last, column) + usize::from(letter != other))
                .min(at(last, column + 1) + 1)
                .min(at(row, column) + 1);
            let swapped =
                line > 0 && column > 0 && left.get(line - 1) == Some(other) && right.get(column - 1) == Some(letter);
            if swapped {
                best = best.min(at(before_last, column - 1) + 1);
            }
            row.push(best);
        }
        rows.rotate_left(1);
    }
    rows.get(1).and_then(|row| row.last()).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_meant_by_most_of_it_and_not_by_a_beginning() {
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
        ] {
            let meant = value_meant(&Value::from(text), &values).and_then(Value::as_str);
            assert_eq!(meant, expected, "case: {text}");
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
            ("US Dollar", &codes, Some("USD")),
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
            ("from_currency", &["from", "to"], Some("from")),
        ] {
            assert_eq!(meant_by(text, candidates), expected, "case: {text} in {candidates:?}");
        }
    }
}
