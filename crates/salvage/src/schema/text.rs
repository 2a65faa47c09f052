//! What a text says, if it says exactly that.

use reknit_protocol::Number;

use super::spelling::without_marks;

/// A `+` and at least this many digits are taken for a telephone number.
const TELEPHONE_DIGITS: usize = 10;

/// The number a text holds, with all its digits: by the grammar of JSON, also with a leading `+` or with thousands
/// separators in full groups of three.
pub(crate) fn number(text: &str) -> Option<Number> {
    let text = without_marks(text);
    let text = match text.strip_prefix('+') {
        // `+15551234567` is a telephone number.
        Some(rest) if rest.starts_with('-') || (rest.len() >= TELEPHONE_DIGITS && is_digits(rest)) => return None,
        rest => rest.unwrap_or(text),
    };
    if text.contains(',') { Number::parse(&without_separators(text)?).ok() } else { Number::parse(text).ok() }
}

/// `1,234,567.89` without its commas; `None` if they do not stand where thousands are divided.
fn without_separators(text: &str) -> Option<String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if !is_digits(fraction) {
        return None;
    }
    let mut groups = whole.strip_prefix('-').unwrap_or(whole).split(',');
    let first = groups.next()?;
    let starts_well = is_digits(first) && first.len() <= 3;
    let goes_on_well = groups.all(|group| is_digits(group) && group.len() == 3);
    (starts_well && goes_on_well).then(|| text.replace(',', ""))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The boolean a word stands for.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    const YES: [&str; 6] = ["true", "yes", "on", "y", "t", "1"];
    const NO: [&str; 6] = ["false", "no", "off", "n", "f", "0"];
    let word = without_marks(text);
    let is = |words: [&str; 6]| words.iter().any(|candidate| candidate.eq_ignore_ascii_case(word));
    if is(YES) {
        return Some(true);
    }
    is(NO).then_some(false)
}

/// The boolean that 0 and 1 stand for.
pub(crate) fn boolean_of_number(number: &Number) -> Option<bool> {
    match number.as_i64() {
        Some(0) => Some(false),
        Some(1) => Some(true),
        _ => None,
    }
}

/// Whether the text is the word for null in JSON or Python.
pub(crate) fn is_null(text: &str) -> bool {
    matches!(text.trim(), "null" | "None")
}
