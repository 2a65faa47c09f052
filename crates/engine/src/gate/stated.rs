//! What a request states: a number with the same value, or the same sequence of whole words.

use reknit_protocol::{Number, Value};

use crate::synthesis::numbers_in_text::{has_whole_compound, parse_numbers};
use crate::synthesis::used_numbers::number_word;

/// The longest word in which a typo is looked for.
const MAX_LETTERS: usize = 64;

/// Words in the name of a flag that adds something to what a read returns, or lays it out. `only` and `has` say nothing.
const SHOWING: [&str; 20] = [
    "include", "with", "show", "return", "expand", "verbose", "detail", "details", "detailed", "full", "extended",
    "pretty", "raw", "debug", "explain", "cache", "refresh", "only", "has", "are",
];

/// The texts of a person, read once.
#[derive(Debug, Clone, Default)]
pub(crate) struct StatedText {
    /// As they are written, and in lower case.
    texts: Vec<(String, String)>,
    numbers: Vec<Number>,
}

impl StatedText {
    pub(crate) fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut stated = Self::default();
        for text in texts {
            stated.numbers.extend(parse_numbers(text));
            stated.texts.push((text.to_owned(), text.to_lowercase()));
        }
        stated
    }

    /// Whether a value is stated.
    pub(crate) fn has(&self, value: &Value) -> bool {
        match value {
            Value::Number(number) => self.has_number(number),
            Value::String(text) => match Number::parse(text.trim()) {
                Ok(number) => self.has_number(&number) || self.has_words(text),
                Err(_) => self.has_words(text),
            },
            Value::Bool(_) | Value::Null | Value::Array(_) | Value::Object(_) => false,
        }
    }

    /// Whether a number is stated in digits or as a word.
    fn has_number(&self, number: &Number) -> bool {
        self.numbers.contains(number) || number_word(number).is_some_and(|word| self.has_words(word))
    }

    /// Whether a flag of a read narrows what it returns: the request has a word of its name, or it is set, and its name does not only
    /// say how much is shown.
    pub(crate) fn asks_for_flag(&self, name: &str, flag: bool) -> bool {
        let words = words_of_name(name);
        let shows = words.iter().any(|word| SHOWING.contains(&word.as_str()));
        let mut telling = words.iter().filter(|word| word.len() > 2 && !SHOWING.contains(&word.as_str()));
        let is_form = |word: &str, stated: &str| {
            let (short, long) = if word.len() <= stated.len() { (word, stated) } else { (stated, word) };
            word == stated || short.len() > 3 && long.starts_with(short)
        };
        let has_form = |word: &String| {
            let stated = self.texts.iter().flat_map(|(_, text)| text.split(|letter: char| !letter.is_alphanumeric()));
            stated.into_iter().any(|stated| is_form(word, stated))
        };
        flag && !shows || telling.any(has_form)
    }

    fn has_words(&self, text: &str) -> bool {
        let text = text.trim().to_lowercase();
        !text.is_empty() && self.texts.iter().any(|(_, stated)| has_whole_compound(stated, &text))
    }

    /// The stated word, as it is written, that a text differs from in one letter, if the text itself is not stated.
    pub(crate) fn nearest(&self, text: &str) -> Option<String> {
        // `TSLA` is the code of what the request calls Tesla, and no typo.
        let is_code = text.chars().all(char::is_uppercase);
        if is_code || self.has_words(text) {
            return None;
        }
        let text = text.trim().to_lowercase();
        let count = text.split_whitespace().count();
        self.texts.iter().find_map(|(stated, _)| {
            let words = stated.split_whitespace();
            let words: Vec<&str> =
                words.map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric())).collect();
            let mut phrases = words.windows(count.max(1)).map(|words| words.join(" "));
            // One order and several orders are the same word.
            let is_plural =
                |phrase: &str| phrase.strip_suffix('s') == Some(&text) || text.strip_suffix('s') == Some(phrase);
            phrases.find(|phrase| {
                let phrase = phrase.to_lowercase();
                is_one_edit_away(&text, &phrase) && !is_plural(&phrase)
            })
        })
    }
}

/// The words of a name such as `in_stock` or `inStock`, in lower case.
fn words_of_name(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() && was_lower {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether two different words are equal after one letter is inserted, removed or replaced, or two neighbours are exchanged. Words
/// of one or two letters are near to any other.
pub(crate) fn is_one_edit_away(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let (short, long) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    if one == other || short.len() < 3 || long.len() > MAX_LETTERS || long.len() - short.len() > 1 {
        return false;
    }
    let same = short.iter().zip(long.iter()).take_while(|(one, other)| one == other).count();
    let rest = |word: &[char], from: usize| word.get(from..).map(<[char]>::to_vec).unwrap_or_default();
    if short.len() < long.len() {
        return rest(short, same) == rest(long, same + 1);
    }
    let is_exchanged = short.get(same) == long.get(same + 1) && short.get(same + 1) == long.get(same);
    rest(short, same + 1) == rest(long, same + 1) || is_exchanged && rest(short, same + 2) == rest(long, same + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_stated_as_the_same_number_or_the_same_whole_words() {
        let request = "Cancel order A-12, pay 1,500 to Ann Lee (ann@example.org), two tickets";
        let stated = StatedText::new([request]);
        for (value, expected) in [
            (Value::from("A-12"), true),
            (Value::from("B-12"), false),
            (Value::from("a"), false),
            (Value::from(1500), true),
            (Value::from("1500"), true),
            (Value::from(150), false),
            (Value::from("Ann Lee"), true),
            (Value::from("Anna Lee"), false),
            (Value::from("Lee Ann"), false),
            (Value::from("ann@example.org"), true),
            (Value::from(2), true),
            (Value::from(true), false),
            (Value::from(""), false),
        ] {
            assert_eq!(stated.has(&value), expected, "case: {value}");
        }
    }

    #[test]
    fn a_typo_is_near_a_stated_word_and_a_plural_or_a_code_is_not() {
        let stated = StatedText::new(["Sell Tesla for Jon Doe, cancel orders A-12 and B-7"]);
        for (text, nearest) in [
            ("John Doe", Some("Jon Doe")),
            ("A-13", Some("A-12")),
            ("TSLA", None),
            ("order", None),
            ("Jon Doe", None),
            ("Smith", None),
        ] {
            assert_eq!(stated.nearest(text).as_deref(), nearest, "{text}");
        }
    }

    #[test]
    fn one_edit_is_a_letter_more_less_or_other_or_two_exchanged() {
        for (one, other, expected) in [
            ("jon", "john", true),
            ("maria", "mario", true),
            ("lee", "lee", false),
            ("leigh", "lee", false),
            ("tokio", "tokyo", true),
            ("anne", "anen", true),
            ("de", "db", false),
        ] {
            assert_eq!(is_one_edit_away(one, other), expected, "{one} {other}");
            assert_eq!(is_one_edit_away(other, one), expected, "{other} {one}");
        }
    }
}
