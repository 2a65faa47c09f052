//! Writes a date in the format that the error asks for.

use reknit_protocol::Value;
use reknit_salvage::UnambiguousDate;

use super::{Change, RejectedCall};
use crate::facts::{Fact, FactKind};

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
    let UnambiguousDate { year, month, day } = parse_date(value.as_str()?)?;
    let parts = wanted.parts.map(|part| match part {
        Part::Year => format!("{year:04}"),
        Part::Month => format!("{month:02}"),
        Part::Day => format!("{day:02}"),
    });
    let text = parts.join(&wanted.separator.map_or_else(String::new, String::from));
    (Some(text.as_str()) != value.as_str()).then(|| Change::Set { at, value: Value::from(text), from: None })
}

/// The format that a text describes: `YYYY-MM-DD`, `%d/%m/%Y`, `ISO 8601`, `date` in JSON Schema.
fn described_format(text: &str) -> Option<DateFormat> {
    let lower = text.to_ascii_lowercase();
    if lower == "date" || (lower.contains("iso") && lower.contains("8601")) {
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

/// The unambiguous date of a text. Midnight can be dropped; any other time would be lost.
fn parse_date(text: &str) -> Option<UnambiguousDate> {
    let text = text.trim();
    let text = text.strip_suffix('Z').unwrap_or(text);
    UnambiguousDate::parse(text.strip_suffix("T00:00:00").or_else(|| text.strip_suffix(" 00:00:00")).unwrap_or(text))
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
            let date = parse_date(text).map(|date| (date.year, date.month, date.day));
            assert_eq!(date, expected, "case: {text}");
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
