//! Writes a date in the format that the error asks for.

use reknit_protocol::Value;

use super::{Change, RejectedCall};
use crate::facts::{Fact, FactKind};

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

/// A part of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Year,
    Month,
    Day,
}

/// The order of the parts and the separator between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DateFormat {
    parts: [Part; 3],
    separator: Option<char>,
}

/// Writes a date in the expected format, if the date is unambiguous.
pub(super) fn rule(call: &RejectedCall<'_>, fact: &Fact) -> Option<Change> {
    let FactKind::Format { format, example } = &fact.kind else { return None };
    let (at, value) = call.located_value(fact)?;
    let wanted =
        format.as_deref().and_then(described_format).or_else(|| format_of_example(example.as_ref()?.as_str()?))?;
    let (year, month, day) = parse_date(value.as_str()?)?;
    let parts = wanted.parts.map(|part| match part {
        Part::Year => format!("{year:04}"),
        Part::Month => format!("{month:02}"),
        Part::Day => format!("{day:02}"),
    });
    let text = parts.join(&wanted.separator.map_or_else(String::new, String::from));
    (Some(text.as_str()) != value.as_str()).then(|| Change::Set { at, value: Value::from(text), from: None })
}

/// The format that a text describes: `YYYY-MM-DD`, `%d/%m/%Y`, `ISO 8601`.
fn described_format(text: &str) -> Option<DateFormat> {
    let lower = text.to_ascii_lowercase();
    if lower.contains("iso") && lower.contains("8601") {
        return Some(DateFormat { parts: [Part::Year, Part::Month, Part::Day], separator: Some('-') });
    }
    let word = lower.split_whitespace().find(|word| word.contains("yyyy") || word.contains("%y"))?;
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '%');
    let plain = word.replace("%y", "yyyy").replace("%m", "mm").replace("%d", "dd");
    let separator = plain.chars().find(|letter| !letter.is_ascii_alphabetic());
    let pieces: Vec<&str> = match separator {
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
    Some(DateFormat { parts, separator })
}

fn all_differ([one, two, three]: [Part; 3]) -> bool {
    one != two && two != three && one != three
}

/// The format of an example, if the example is unambiguous.
fn format_of_example(example: &str) -> Option<DateFormat> {
    let separator =
        example.chars().find(|letter| !letter.is_ascii_digit()).filter(|mark| matches!(mark, '-' | '/' | '.'))?;
    let numbers: Vec<&str> = example.split(separator).collect();
    let [first, second, third] = numbers.as_slice() else { return None };
    let two = |text: &str| text.parse::<u32>().ok().filter(|_| text.len() == 2);
    let parts = match (first.len(), two(second)?, third.len()) {
        (4, _, 2) => [Part::Year, Part::Month, Part::Day],
        (2, second, 4) if second > 12 => [Part::Month, Part::Day, Part::Year],
        (2, _, 4) if two(first)? > 12 => [Part::Day, Part::Month, Part::Year],
        _ => return None,
    };
    Some(DateFormat { parts, separator: Some(separator) })
}

/// Year, month and day of an unambiguous date: `2024-01-31`, `31/01/2024`, `Jan 31, 2024`, `31 January 2024`.
fn parse_date(text: &str) -> Option<(u32, u32, u32)> {
    let text = text.trim();
    // Midnight can be dropped; any other time would be lost.
    let text = text.strip_suffix('Z').unwrap_or(text);
    let text = text.strip_suffix("T00:00:00").or_else(|| text.strip_suffix(" 00:00:00")).unwrap_or(text);
    let pieces: Vec<&str> = text.split(['-', '/', '.', ' ', ',']).filter(|piece| !piece.is_empty()).collect();
    let [first, second, third] = pieces.as_slice() else { return None };
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| matches!(text.len(), 1 | 2));
    let year = |text: &str| text.parse::<u32>().ok().filter(|_| text.len() == 4);
    let (year, month, day) = if let Some(year) = year(first) {
        (year, number(second).or_else(|| month_number(second))?, number(third)?)
    } else {
        let year = year(third)?;
        match (month_number(first), month_number(second)) {
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

fn month_number(text: &str) -> Option<u32> {
    let name = text.to_ascii_lowercase();
    let index = MONTHS.iter().position(|month| name.len() >= 3 && month.starts_with(&name))?;
    u32::try_from(index + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unambiguous_date_is_parsed() {
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
            assert_eq!(parse_date(text), expected, "case: {text}");
        }
    }

    #[test]
    fn a_format_is_parsed_from_a_description_or_an_example() {
        use Part::{Day, Month, Year};
        for (text, parts, separator) in [
            ("YYYY-MM-DD", [Year, Month, Day], Some('-')),
            ("%d/%m/%Y", [Day, Month, Year], Some('/')),
            ("the format MM/DD/YYYY", [Month, Day, Year], Some('/')),
            ("YYYYMMDD", [Year, Month, Day], None),
            ("ISO 8601", [Year, Month, Day], Some('-')),
        ] {
            assert_eq!(described_format(text), Some(DateFormat { parts, separator }), "case: {text}");
        }
        assert_eq!(described_format("a date"), None);
        assert_eq!(
            format_of_example("2024-01-31"),
            Some(DateFormat { parts: [Year, Month, Day], separator: Some('-') })
        );
        assert_eq!(
            format_of_example("31/01/2024"),
            Some(DateFormat { parts: [Day, Month, Year], separator: Some('/') })
        );
        assert_eq!(format_of_example("01/02/2024"), None);
    }
}
