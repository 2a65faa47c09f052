//! Numbers in notations of other languages and scripts, as far as they can be read in one way only.

use reknit_protocol::Number;

use super::number_words::number_of_words;
use super::{is_digits, number, strip_marks};

/// Parses `1 234`, `1'234`, `1.234,56`, `1.234.567`, `5n`, `−5`, full-width digits and English number words.
///
/// `None` if the text is written as [`number`] reads it, or if it can be read in two ways, as `12,34`.
pub(crate) fn number_in_other_notation(text: &str) -> Option<Number> {
    let text = strip_marks(text);
    let mut narrow: String = text.chars().map(narrow_form).collect();
    if let Some(digits) = narrow.strip_prefix('–').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        narrow = format!("-{digits}");
    }
    if narrow != text
        && let Some(number) = number(&narrow)
    {
        return Some(number);
    }
    let literal = LITERAL_SUFFIXES.iter().find_map(|suffix| Some((suffix, narrow.strip_suffix(suffix)?)));
    if let Some((suffix, digits)) = literal
        && (suffix.starts_with('f') || !digits.contains('.'))
        && let Ok(number) = Number::parse(digits)
    {
        return Some(number);
    }
    if let Some(digits) = narrow.strip_prefix('#') {
        return is_digits(digits).then(|| number(digits))?;
    }
    if let Some(number) = in_another_base(&narrow).or_else(|| stated_twice(&narrow)) {
        return Some(number);
    }
    if let Some(plain) = without_groups(&narrow) {
        return Number::parse(&plain).ok();
    }
    let (sign, rest) = ["minus ", "negative ", "- "]
        .iter()
        .find_map(|word| narrow.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word)))
        .map_or(("", narrow.as_str()), |word| ("-", narrow.get(word.len()..).unwrap_or_default().trim_start()));
    let unsigned = if sign.is_empty() { None } else { number(rest).map(|number| number.to_string()) };
    let unsigned = unsigned.or_else(|| number_of_words(rest).map(|number| number.to_string()))?;
    Number::parse(&format!("{sign}{unsigned}")).ok()
}

/// The suffixes of integers and floats in programming languages that cannot be units.
const LITERAL_SUFFIXES: [&str; 18] = [
    "n", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64", "UL",
    "LL", "ULL",
];

/// `0x1f`, `0b101` and `0o17`.
fn in_another_base(text: &str) -> Option<Number> {
    let lower = text.to_ascii_lowercase();
    let (sign, body) = lower.strip_prefix('-').map_or(("", lower.as_str()), |body| ("-", body));
    let (digits, base) = [("0x", 16), ("0b", 2), ("0o", 8)]
        .iter()
        .find_map(|(prefix, base)| body.strip_prefix(prefix).map(|digits| (digits, *base)))?;
    let value = u64::from_str_radix(digits, base).ok().filter(|_| !digits.starts_with('+'))?;
    Number::parse(&format!("{sign}{value}")).ok()
}

/// `five (5)` and `5 (five)`: a number with itself in parentheses.
fn stated_twice(text: &str) -> Option<Number> {
    let (first, second) = text.strip_suffix(')')?.split_once('(')?;
    let read = |text: &str| {
        let text = text.trim();
        number(text).or_else(|| Number::parse(&number_of_words(text)?.to_string()).ok())
    };
    read(first).filter(|number| read(second).as_ref() == Some(number))
}

/// The ASCII form of full-width digits and signs, of the real minus sign, and of spaces and apostrophes between groups.
fn narrow_form(c: char) -> char {
    match c {
        // Full width, Arabic (two forms), Devanagari, Bengali and Thai.
        '\u{ff10}'..='\u{ff19}' => digit(c, 0xff10),
        '\u{660}'..='\u{669}' => digit(c, 0x660),
        '\u{6f0}'..='\u{6f9}' => digit(c, 0x6f0),
        '\u{966}'..='\u{96f}' => digit(c, 0x966),
        '\u{9e6}'..='\u{9ef}' => digit(c, 0x9e6),
        '\u{e50}'..='\u{e59}' => digit(c, 0xe50),
        '\u{2212}' | '\u{ff0d}' => '-',
        '\u{ff0b}' => '+',
        '\u{ff0e}' => '.',
        '\u{ff0c}' => ',',
        '\u{a0}' | '\u{202f}' | '\u{2009}' => ' ',
        '\u{2019}' => '\'',
        other => other,
    }
}

fn digit(c: char, zero: u32) -> char {
    char::from_digit(u32::from(c) - zero, 10).unwrap_or(c)
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
            ("Eighteen", Some("18")),
            ("minus 5", Some("-5")),
            ("negative twelve", Some("-12")),
            ("five (5)", Some("5")),
            ("5 (six)", None),
            ("0x1F", Some("31")),
            ("0b101", Some("5")),
            ("0x", None),
            ("10usize", Some("10")),
            ("5L", None),
            ("#42", Some("42")),
            ("٤٢", Some("42")),
            ("४२", Some("42")),
            ("–90", Some("-90")),
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
