//! Names of parameters that say too little for wiring, and names whose values belong together.

use reknit_protocol::spelling::folded;

/// Names that many objects have: the `id` of a customer is not that of an order.
const GENERIC: [&str; 9] = ["id", "name", "type", "key", "code", "value", "status", "date", "amount"];

/// Words that make two names parts of one thing: a latitude and a longitude of two places are no place.
const PAIRS: [(&str, &str); 12] = [
    ("lat", "lon"),
    ("lat", "lng"),
    ("lat", "long"),
    ("latitude", "longitude"),
    ("from", "to"),
    ("start", "end"),
    ("min", "max"),
    ("x", "y"),
    ("source", "target"),
    ("source", "destination"),
    ("origin", "destination"),
    ("id", "type"),
];

/// Whether a name alone does not tell which thing a value is of.
pub fn is_generic_name(name: &str) -> bool {
    GENERIC.contains(&folded(name).as_str())
}

/// Whether two names are equal but for one word, in which they form a pair: `start_lat` and `start_lng`.
pub fn belong_together(one: &str, other: &str) -> bool {
    let (one, other) = (words_of(one), words_of(other));
    let mut differing = one.iter().zip(&other).filter(|(one, other)| one != other);
    let (Some((left, right)), None) = (differing.next(), differing.next()) else { return false };
    let is_pair = |(one, other): &(&str, &str)| (one, other) == (&left.as_str(), &right.as_str());
    let is_swapped = |(one, other): &(&str, &str)| (other, one) == (&left.as_str(), &right.as_str());
    one.len() == other.len() && PAIRS.iter().any(|pair| is_pair(pair) || is_swapped(pair))
}

/// The words of a name in snake case, kebab case or camel case, in lower case.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() && after_lower {
            words.push(String::new());
        }
        after_lower = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_belong_together_if_they_differ_in_one_word_of_a_pair() {
        for (one, other, expected) in [
            ("lat", "lng", true),
            ("LAT", "Lon", true),
            ("startLat", "startLon", true),
            ("start_lat", "end_lon", false),
            ("from_currency", "toCurrency", true),
            ("customer_id", "customer_type", true),
            ("customer_id", "order_type", false),
            ("city", "country", false),
            ("lat", "lat", false),
        ] {
            assert_eq!(belong_together(one, other), expected, "{one} {other}");
            assert_eq!(belong_together(other, one), expected, "{other} {one}");
        }
    }
}
