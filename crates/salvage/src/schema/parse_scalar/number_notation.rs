//! Numbers in notations of other languages and scripts, as far as they can be read in one way only.

use reknit_protocol::Number;

use super::number_words::number_of_words;
use super::{is_digits, number, strip_marks};

/// Parses `1 234`, `1'234`, `1.234,56`, `1.234.567`, `5n`, `−5`, full-width digits and English number words.
///
/// `None` if the text is written as [`number`] reads it, or if it can be read in two ways, as `12,34`.
pub(crate) fn number_in_other_notation(text: &str) -> Option<Number> {
    let text = strip_marks(text);
    let narrow: String = text.chars().map(narrow_form).collect();
    if narrow != text
        && let Some(number) = number(&narrow)
    {
        return Some(number);
    }
    if let Some(digits) = narrow.strip_suffix('n') {
        return is_digits(digits.strip_prefix('-').unwrap_or(digits)).then(|| number(digits))?;
    }
    match without_groups(&narrow) {
        Some(plain) => Number::parse(&plain).ok(),
        None => Number::parse(&number_of_words(&narrow)?.to_string()).ok(),
    }
}

/// The ASCII form of full-width digits and signs, of the real minus sign, and of spaces and apostrophes between groups.
fn narrow_form(c: char) -> char {
    match c {
        '\u{ff10}'..='\u{ff19}' => char::from_digit(u32::from(c) - 0xff10, 10).unwrap_or(c),
        '\u{2212}' | '\u{ff0d}' => '-',
        '\u{ff0b}' => '+',
        '\u{ff0e}' => '.',
        '\u{ff0c}' => ',',
        '\u{a0}' | '\u{202f}' | '\u{2009}' => ' ',
        '\u{2019}' => '\'',
        other => other,
    }
}

/// Removes the separators of groups of three digits, and writes a decimal comma as a point.
fn without_groups(text: &str) -> Option<String> {
    let (sign, body) = match text.strip_prefix(['-', '+']) {
        Some(body) => (if text.starts_with('-') { "-" } else { "" }, body),
        None => ("", text),
    };
    let separator = [' ', '\'', '.'].into_iter().find(|separator| body.contains(*separator))?;
    let decimal = body.rfind(|c: char| c == ',' || (c == '.' && separator != '.'));
    let (whole, fraction) = decimal.map_or((body, None), |at| (&body[..at], body.get(at + 1..)));
    let mut groups = whole.split(separator);
    let first = groups.next()?;
    let others: Vec<&str> = groups.collect();
    // `15.500` may be a fraction.
    let is_unmistakable = separator != '.' || fraction.is_some() || others.len() > 1;
    let are_groups = is_digits(first)
        && first.len() <= 3
        && !first.starts_with('0')
        && !others.is_empty()
        && others.iter().all(|group| is_digits(group) && group.len() == 3);
    if !(is_unmistakable && are_groups && fraction.is_none_or(is_digits)) {
        return None;
    }
    let point = fraction.map(|fraction| format!(".{fraction}")).unwrap_or_default();
    Some(format!("{sign}{first}{}{point}", others.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_in_another_notation_is_read_if_there_is_one_way() {
        for (text, expected) in [
            ("1 234", Some("1234")),
            ("1\u{202f}234\u{202f}567", Some("1234567")),
            ("1'234.5", Some("1234.5")),
            ("1’234", Some("1234")),
            ("1.234,56", Some("1234.56")),
            ("-1.234.567", Some("-1234567")),
            ("１，２３４", Some("1234")),
            ("−0.5", Some("-0.5")),
            ("-5n", Some("-5")),
            ("twenty-one", Some("21")),
            ("15.500", None),
            ("12,34", None),
            ("0 123", None),
            ("1 23", None),
            ("1.23.456", None),
            ("1 234 5", None),
            ("1 234,5,6", None),
            ("1 234,", None),
            ("1.5n", None),
            ("n", None),
            ("1.234'567", None),
            ("", None),
        ] {
            let found = number_in_other_notation(text).map(|number| number.to_string());
            assert_eq!(found.as_deref(), expected, "case: {text}");
        }
    }
}
