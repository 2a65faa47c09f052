//! A date in another form.

use reknit_protocol::Value;

use super::{Case, Change};
use crate::facts::{Fact, Says};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The parts of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Year,
    Month,
    Day,
}

/// The order of the parts and what stands between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Form {
    parts: [Part; 3],
    between: Option<char>,
}

/// Writes a date in the form that the error asks for, if it can be read in one way only.
pub(super) fn rule(case: &Case<'_>, fact: &Fact) -> Option<Change> {
    let Says::Format { form, example } = &fact.says else { return None };
    let (at, value) = case.value_of(fact)?;
    let wanted = form.as_deref().and_then(described).or_else(|| shown(example.as_ref()?.as_str()?))?;
    let (year, month, day) = date_of(value.as_str()?)?;
    let parts = wanted.parts.map(|part| match part {
        Part::Year => format!("{year:04}"),
        Part::Month => format!("{month:02}"),
        Part::Day => format!("{day:02}"),
    });
    let text = parts.join(&wanted.between.map_or_else(String::new, String::from));
    (Some(text.as_str()) != value.as_str()).then(|| Change::Set { at, value: Value::from(text), from: None })
}

/// The form that words describe: `YYYY-MM-DD`, `%d/%m/%Y`, `ISO 8601`.
fn described(words: &str) -> Option<Form> {
    let lower = words.to_ascii_lowercase();
    if lower.contains("iso") && lower.contains("8601") {
        return Some(Form { parts: [Part::Year, Part::Month, Part::Day], between: Some('-') });
    }
    let word = lower.split_whitespace().find(|word| word.contains("yyyy") || word.contains("%y"))?;
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '%');
    let plain = word.replace("%y", "yyyy").replace("%m", "mm").replace("%d", "dd");
    let between = plain.chars().find(|letter| !letter.is_ascii_alphabetic());
    let pieces: Vec<&str> = match between {
        Some(mark) => plain.split(mark).collect(),
        None => vec![plain.get(..plain.len().min(4))?, plain.get(4..6)?, plain.get(6..8).filter(|_| plain.len() == 8)?],
    };
    let part = |piece: &&str| match *piece {
        "yyyy" => Some(Part::Year),
        "mm" => Some(Part::Month),
        "dd" => Some(Part::Day),
        _ => None,
    };
    let parts: Vec<Part> = pieces.iter().filter_map(part).collect();
    let parts = <[Part; 3]>::try_from(parts).ok().filter(|parts| pieces.len() == 3 && all_differ(*parts))?;
    Some(Form { parts, between })
}

fn all_differ([one, two, three]: [Part; 3]) -> bool {
    one != two && two != three && one != three
}

/// The form of an example that can be read in one way only.
fn shown(example: &str) -> Option<Form> {
    let between =
        example.chars().find(|letter| !letter.is_ascii_digit()).filter(|mark| matches!(mark, '-' | '/' | '.'))?;
    let numbers: Vec<&str> = example.split(between).collect();
    let [first, second, third] = numbers.as_slice() else { return None };
    let two = |text: &str| text.parse::<u32>().ok().filter(|_| text.len() == 2);
    let parts = match (first.len(), two(second)?, third.len()) {
        (4, _, 2) => [Part::Year, Part::Month, Part::Day],
        (2, second, 4) if second > 12 => [Part::Month, Part::Day, Part::Year],
        (2, _, 4) if two(first)? > 12 => [Part::Day, Part::Month, Part::Year],
        _ => return None,
    };
    Some(Form { parts, between: Some(between) })
}

/// A date that can be read in one way only: `2024-01-31`, `31/01/2024`, `Jan 31, 2024`, `31 January 2024`.
fn date_of(text: &str) -> Option<(u32, u32, u32)> {
    let text = text.trim();
    // A time of midnight adds nothing; any other would be lost.
    let text = text.strip_suffix('Z').unwrap_or(text);
    let text = text.strip_suffix("T00:00:00").or_else(|| text.strip_suffix(" 00:00:00")).unwrap_or(text);
    let pieces: Vec<&str> = text.split(['-', '/', '.', ' ', ',']).filter(|piece| !piece.is_empty()).collect();
    let [first, second, third] = pieces.as_slice() else { return None };
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| matches!(text.len(), 1 | 2));
    let year = |text: &str| text.parse::<u32>().ok().filter(|_| text.len() == 4);
    let (year, month, day) = if let Some(year) = year(first) {
        (year, number(second).or_else(|| month_named(second))?, number(third)?)
    } else {
        let year = year(third)?;
        match (month_named(first), month_named(second)) {
            (Some(month), None) => (year, month, number(second)?),
            (None, Some(month)) => (year, month, number(first)?),
            _ => match (number(first)?, number(second)?) {
                (day, month) if day > 12 || day == month => (year, month, day),
                (month, day) if day > 12 => (year, month, day),
                _ => return None,
            },
        }
    };
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day);
    is_date.then_some((year, month, day))
}

fn month_named(text: &str) -> Option<u32> {
    let name = text.to_ascii_lowercase();
    let index = MONTHS.iter().position(|month| name.len() >= 3 && month.starts_with(&name))?;
    u32::try_from(index + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_date_that_can_be_read_in_one_way_is_read() {
        for (text, expected) in [
            ("2024-01-31", Some((2024, 1, 31))),
            ("2024/1/31", Some((2024, 1, 31))),
            ("31/01/2024", Some((2024, 1, 31))),
            ("01/31/2024", Some((2024, 1, 31))),
            ("31.01.2024", Some((2024, 1, 31))),
            ("05/05/2024", Some((2024, 5, 5))),
            ("Jan 31, 2024", Some((2024, 1, 31))),
            ("31 January 2024", Some((2024, 1, 31))),
            ("2024-01-31T00:00:00Z", Some((2024, 1, 31))),
            ("2024-01-31T10:00:00Z", None),
            ("01/02/2024", None),
            ("next friday", None),
            ("31/01/24", None),
            ("2024-13-01", None),
        ] {
            assert_eq!(date_of(text), expected, "case: {text}");
        }
    }

    #[test]
    fn a_form_is_read_from_words_and_from_examples() {
        use Part::{Day, Month, Year};
        for (words, parts, between) in [
            ("YYYY-MM-DD", [Year, Month, Day], Some('-')),
            ("%d/%m/%Y", [Day, Month, Year], Some('/')),
            ("the format MM/DD/YYYY", [Month, Day, Year], Some('/')),
            ("YYYYMMDD", [Year, Month, Day], None),
            ("ISO 8601", [Year, Month, Day], Some('-')),
        ] {
            assert_eq!(described(words), Some(Form { parts, between }), "case: {words}");
        }
        assert_eq!(described("a date"), None);
        assert_eq!(shown("2024-01-31"), Some(Form { parts: [Year, Month, Day], between: Some('-') }));
        assert_eq!(shown("31/01/2024"), Some(Form { parts: [Day, Month, Year], between: Some('/') }));
        assert_eq!(shown("01/02/2024"), None);
    }
}
