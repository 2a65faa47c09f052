//! Finds the numbers and addresses in a text and decides whether other texts explain them. A model may copy one wrongly into
//! an answer, and a planner may overlook a number.

use std::collections::HashSet;

use reknit_protocol::{Number, Value};

/// Longer numbers are ignored: they would overflow the arithmetic.
const MAX_DIGITS: usize = 30;

/// A number in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextNumber {
    /// The number as it is written: `651,501.51`.
    pub(crate) text: String,
    /// Where it ends in the text, in bytes.
    pub(crate) end: usize,
    mantissa: i128,
    scale: u32,
}

/// The numbers of a text in the notations people use. Digits in a word (`step-1`, `H2O`) and list numbers are skipped.
pub(crate) fn numbers_in(text: &str) -> Vec<TextNumber> {
    let characters: Vec<char> = text.chars().collect();
    let at = |index: usize| characters.get(index).copied().unwrap_or(' ');
    let mut found = Vec::new();
    let mut index = 0;
    // The bytes before the character at the second number.
    let (mut bytes, mut counted) = (0, 0);
    while index < characters.len() {
        if !at(index).is_ascii_digit() {
            index += 1;
            continue;
        }
        let start = index;
        while continues(&at, index) {
            index += 1;
        }
        let in_word = is_in_word(&at, start) || at(index).is_alphabetic() && at(index) != '°';
        let is_item = at(index) == '.' && at(index + 1) == ' ' && starts_line(&characters, start);
        if !in_word && !is_item {
            let number = TextNumber::parse(characters.get(start..index).unwrap_or_default().iter().collect());
            bytes += characters.get(counted..index).unwrap_or_default().iter().map(|c| c.len_utf8()).sum::<usize>();
            counted = index;
            found.extend(number.map(|number| TextNumber { end: bytes, ..number }));
        }
    }
    found
}

fn continues(at: &impl Fn(usize) -> char, index: usize) -> bool {
    let is_group = (1..=3).all(|ahead| at(index + ahead).is_ascii_digit()) && !at(index + 4).is_ascii_digit();
    match at(index) {
        '.' => at(index + 1).is_ascii_digit(),
        ',' => is_group,
        character => character.is_ascii_digit(),
    }
}

fn is_in_word(at: &impl Fn(usize) -> char, start: usize) -> bool {
    let before = |back: usize| start.checked_sub(back).map_or(' ', at);
    before(1).is_alphanumeric() || before(1) == '_' || before(1) == '-' && before(2).is_alphanumeric()
}

fn starts_line(characters: &[char], start: usize) -> bool {
    characters
        .get(..start)
        .unwrap_or_default()
        .iter()
        .rev()
        .take_while(|character| **character != '\n')
        .all(|character| *character == ' ')
}

impl TextNumber {
    fn parse(text: String) -> Option<Self> {
        let plain = text.replace(',', "");
        let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
        if fraction.contains('.') || whole.len() + fraction.len() > MAX_DIGITS {
            return None;
        }
        let mantissa = format!("{whole}{fraction}").parse().ok()?;
        Some(Self { mantissa, scale: u32::try_from(fraction.len()).ok()?, text, end: 0 })
    }

    pub(crate) fn whole(value: i128) -> Self {
        Self { text: value.to_string(), end: 0, mantissa: value, scale: 0 }
    }

    /// Whether two numbers have the same value.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        self.normalized() == other.normalized()
    }

    pub(crate) fn is_whole(&self, value: i128) -> bool {
        self.equals(&Self::whole(value))
    }

    /// Whether this is a whole number below a limit.
    pub(crate) fn is_below(&self, limit: i128) -> bool {
        self.scale == 0 && self.mantissa < limit
    }

    /// The number times a factor; `None` if that overflows.
    pub(crate) fn times(&self, factor: i128) -> Option<Self> {
        Some(Self { mantissa: self.mantissa.checked_mul(factor)?, ..self.clone() })
    }

    pub(crate) fn plus(&self, whole: i128) -> Self {
        let added =
            10_i128.checked_pow(self.scale).and_then(|unit| unit.checked_mul(whole)?.checked_add(self.mantissa));
        Self { mantissa: added.unwrap_or(self.mantissa), ..self.clone() }
    }

    /// A percentage as a factor: 10 is 0.10, 0.90 and 1.10.
    pub(crate) fn percentages(&self) -> Vec<Self> {
        let scale = self.scale.saturating_add(2);
        let Some(one) = 10_i128.checked_pow(scale) else { return Vec::new() };
        let mantissas = [Some(self.mantissa), one.checked_sub(self.mantissa), one.checked_add(self.mantissa)];
        mantissas.into_iter().flatten().map(|mantissa| Self { mantissa, scale, ..self.clone() }).collect()
    }

    /// A whole number of spans as days.
    pub(crate) fn as_days(&self, days: i64) -> Option<i64> {
        let count = i64::try_from(self.mantissa).ok().filter(|_| self.scale == 0)?;
        count.checked_mul(days)
    }

    /// Whether this number equals the other one, exactly or rounded.
    pub(crate) fn can_come_from(&self, other: &Self) -> bool {
        if other.scale >= self.scale {
            let unit = 10_i128.pow(other.scale - self.scale);
            let down = other.mantissa / unit;
            let up = down + i128::from(other.mantissa % unit * 2 >= unit);
            if self.mantissa == down || self.mantissa == up {
                return true;
            }
        }
        // 65,150,000 is 65150150.625 rounded to its trailing zeros.
        let zeros = self.trailing_zeros();
        // 100 is not a rounding of 126.978: at least three digits must remain.
        let zeros = if self.mantissa / 10_i128.pow(zeros) < 100 { 0 } else { zeros };
        let is_rounded = self.scale == 0 && zeros > 0 && other.rounded(zeros) == Some(self.mantissa);
        is_rounded || self.normalized() == other.normalized()
    }

    /// The number rounded to a whole number with this many trailing zeros; `None` if that is zero or overflows.
    fn rounded(&self, zeros: u32) -> Option<i128> {
        let unit = 10_i128.checked_pow(self.scale.checked_add(zeros)?)?;
        let half_up = self.mantissa.checked_add(unit / 2)? / unit;
        half_up.checked_mul(10_i128.checked_pow(zeros)?).filter(|rounded| *rounded > 0)
    }

    fn trailing_zeros(&self) -> u32 {
        let mut rest = self.mantissa;
        let mut zeros = 0;
        while rest != 0 && rest % 10 == 0 && zeros < 12 {
            rest /= 10;
            zeros += 1;
        }
        zeros
    }

    /// The number without trailing zeros in its fraction: 1.50 becomes 1.5.
    pub(crate) fn normalized(&self) -> (i128, u32) {
        let (mut mantissa, mut scale) = (self.mantissa, self.scale);
        while scale > 0 && mantissa % 10 == 0 {
            mantissa /= 10;
            scale -= 1;
        }
        (mantissa, scale)
    }

    /// Whether this can be a count of listed items, which a model may state by itself.
    pub(crate) fn is_count_up_to(&self, count: usize) -> bool {
        self.scale == 0 && u128::try_from(self.mantissa).is_ok_and(|value| value <= count as u128)
    }
}

/// The numbers of a text as values.
pub(crate) fn parse_numbers(text: &str) -> Vec<Number> {
    let parse = |number: &TextNumber| {
        let plain = number.text.replace(',', "");
        // `09:30` has the number 9; JSON has no zeros before a number.
        let significant = plain.trim_start_matches('0');
        let is_cut = significant.starts_with(|letter: char| letter.is_ascii_digit());
        Number::parse(if is_cut { significant } else { plain.as_str() }).ok()
    };
    numbers_in(text).iter().filter_map(parse).collect()
}

/// The numbers in `text` that none of the other texts explains, without duplicates.
fn unexplained_numbers<'a>(text: &str, others: impl IntoIterator<Item = &'a str>, max_count: usize) -> Vec<String> {
    let known: Vec<TextNumber> = others.into_iter().flat_map(numbers_in).collect();
    let is_explained = |number: &TextNumber| known.iter().any(|other| number.can_come_from(other));
    texts_without(numbers_in(text), |number| number.is_count_up_to(max_count) || is_explained(number))
}

/// A sentence about the numbers and e-mail addresses in a text of a model that none of the other texts explains.
pub(crate) fn doubt_about_text(whose: &str, text: &str, others: &[&str], max_count: usize) -> Option<String> {
    let mut found = unexplained_numbers(text, others.iter().copied(), max_count);
    found.extend(unexplained_addresses(text, others));
    (!found.is_empty()).then(|| format!("the {whose} says {}, which no result states", found.join(", ")))
}

/// The e-mail addresses in `text` that none of the other texts has, without duplicates. Letter case does not count.
fn unexplained_addresses(text: &str, others: &[&str]) -> Vec<String> {
    let addresses = addresses_in(text);
    if addresses.is_empty() {
        return Vec::new();
    }
    let known: HashSet<String> = others.iter().flat_map(|other| addresses_in(other)).map(str::to_lowercase).collect();
    let mut seen = HashSet::new();
    let unexplained = addresses.into_iter().filter(|address| !known.contains(&address.to_lowercase()));
    unexplained.filter(|address| seen.insert(*address)).map(str::to_owned).collect()
}

fn addresses_in(text: &str) -> Vec<&str> {
    let is_address = |word: &&str| {
        word.split_once('@').is_some_and(|(user, host)| {
            !user.is_empty()
                && !host.contains('@')
                && host.split('.').count() > 1
                && host.split('.').all(|label| !label.is_empty())
        })
    };
    let words = text.split(|c: char| !(c.is_alphanumeric() || "@.+-_%".contains(c)));
    words.map(|word| word.trim_matches(['.', '-', '_'])).filter(is_address).collect()
}

/// The texts of the numbers that are not explained, without duplicates.
pub(super) fn texts_without(numbers: Vec<TextNumber>, is_explained: impl Fn(&TextNumber) -> bool) -> Vec<String> {
    let mut seen = HashSet::new();
    let unexplained = numbers.into_iter().filter(|number| !is_explained(number));
    unexplained.map(|number| number.text).filter(|text| seen.insert(text.clone())).collect()
}

/// Whether a text has another one as whole words.
pub(crate) fn has_words(text: &str, words: &str) -> bool {
    has_between(text, words, |next, _| next.is_some_and(is_of_word))
}

/// The same, where a part of a compound such as `A-12` or `ann@example.org` is no word of its own.
pub(crate) fn has_whole_compound(text: &str, words: &str) -> bool {
    has_between(text, words, |next, beyond| {
        next.is_some_and(is_of_word)
            || next.is_some_and(|joint| "-.@/:+#&".contains(joint)) && beyond.is_some_and(is_of_word)
    })
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Whether a text has another one in a place where the two characters on neither side continue it.
fn has_between(text: &str, words: &str, continues: impl Fn(Option<char>, Option<char>) -> bool) -> bool {
    text.match_indices(words).any(|(at, found)| {
        let mut before = text.get(..at).unwrap_or_default().chars().rev();
        let mut after = text.get(at + found.len()..).unwrap_or_default().chars();
        !continues(before.next(), before.next()) && !continues(after.next(), after.next())
    })
}

/// Calls `visit` with every value inside a value that is neither a list nor an object.
pub(crate) fn visit_scalars<'v>(value: &'v Value, visit: &mut impl FnMut(&'v Value)) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| visit_scalars(item, visit)),
        Value::Object(object) => object.values().for_each(|value| visit_scalars(value, visit)),
        scalar => visit(scalar),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_found_in_the_notations_people_use() {
        for (text, expected) in [
            ("651,501.51 won, 14.5°C and 48%.", &["651,501.51", "14.5", "48"][..]),
            ("1. first\n2. second of step-1, H2O and model_3", &[]),
            ("It is 2,50 and 1,2345 and 10.", &["2", "50", "1", "2345", "10"]),
            ("$468.29, 2026-11-15, 09:30", &["468.29", "2026", "09", "30"]),
            ("", &[]),
        ] {
            let found: Vec<String> = numbers_in(text).into_iter().map(|number| number.text).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_number_is_explained_by_a_number_that_rounds_to_it() {
        for (number, known, expected) in [
            ("468.29", "468.285", true),
            ("468.28", "468.285", true),
            ("468", "468.285", true),
            ("468.30", "468.285", false),
            ("65,150,000", "65150150.625", true),
            ("65,150,151", "65150150.625", true),
            ("65,160,000", "65150150.625", false),
            ("100", "126.978", false),
            ("400", "468.285", false),
            ("1.5", "1.50", true),
            ("1.50", "1.5", true),
            ("46828.5", "468.285", false),
            ("100", "0.4", false),
            ("0", "0", true),
            ("12,300,000,000,000", "0.3333333333333333333333333333", false),
        ] {
            assert_eq!(unexplained_numbers(number, [known], 0).is_empty(), expected, "{number} from {known}");
        }
    }

    #[test]
    fn an_address_that_no_other_text_has_is_a_doubt() {
        for (text, known, expected) in [
            ("The mail to eve@example.com is sent.", "Write to ann@example.com.", Some("eve@example.com")),
            ("Sent to Ann@Example.com, and to <bob.b@example.com>.", "ann@example.com; bob.b@example.com", None),
            ("Sent to ann@example.co", "to ann@example.com", Some("ann@example.co")),
            ("Ask @ann, 3@4 or a@b about it.", "", None),
        ] {
            let doubt = doubt_about_text("report", text, &[known], 9);
            let expected = expected.map(|address| format!("the report says {address}, which no result states"));
            assert_eq!(doubt, expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_number_explains_itself_and_its_truncations(
            whole in "[1-9][0-9]{0,14}(,[0-9]{3}){0,5}0{0,14}", fraction in "[0-9]{1,29}", other in "[0-9]{1,30}", kept in 1_usize..29,
        ) {
            let number = format!("{whole}.{fraction}");
            prop_assert!(unexplained_numbers(&number, [number.as_str()], 0).is_empty());
            let cut = format!("{whole}.{}", fraction.get(..kept).unwrap_or(&fraction));
            if numbers_in(&number).iter().map(|found| found.text.clone()).collect::<Vec<_>>() == [number.clone()] {
                prop_assert!(unexplained_numbers(&cut, [number.as_str()], 0).is_empty(), "{cut} of {number}");
            }
            // Any other combination must not panic.
            unexplained_numbers(&whole, [format!("0.{fraction}").as_str(), other.as_str()], 0);
            unexplained_numbers(&other, [number.as_str(), format!("0.{other}").as_str()], 0);
        }
    }
}
