//! Parsing numbers, booleans and null from whole strings.

mod decoration;
mod number_notation;
mod number_words;

pub(crate) use decoration::{is_invisible, narrow_form, without_decoration, without_tokens};
pub(crate) use number_notation::number_in_other_notation;

use reknit_protocol::Number;

/// The marks that models put around a word to emphasise or quote it.
const MARKS: [char; 5] = ['*', '_', '`', '"', '\''];

/// Digits after a `+` or a `0` are a telephone number or an identifier if there are at least this many.
const TELEPHONE_DIGITS: usize = 10;

/// Parses a number with all its digits: in JSON syntax, with a leading `+`, with zeros before it (`007`), without a digit
/// before or after its point (`.5`, `5.`), or with commas or underscores between groups of three digits.
pub(crate) fn number(text: &str) -> Option<Number> {
    let text = strip_marks(text);
    let text = match text.strip_prefix('+') {
        // `+15551234567` is a telephone number.
        Some(rest) if rest.starts_with('-') || (rest.len() >= TELEPHONE_DIGITS && is_digits(rest)) => return None,
        rest => rest.unwrap_or(text),
    };
    let separator = [',', '_'].into_iter().find(|separator| text.contains(*separator));
    match separator {
        Some(separator) => Number::parse(&without_separators(text, separator)?).ok(),
        None if may_be_grouped_by_point(text) => None,
        None => Number::parse(text).ok().or_else(|| Number::parse(&in_json_syntax(text)?).ok()),
    }
}

/// Whether a point may separate groups of three digits: `15.500`, which no program writes for 15.5.
fn may_be_grouped_by_point(text: &str) -> bool {
    let Some((whole, fraction)) = text.strip_prefix('-').unwrap_or(text).split_once('.') else { return false };
    let is_group = is_digits(whole) && whole.len() <= 3 && !whole.starts_with('0');
    is_group && fraction.len() == 3 && is_digits(fraction) && fraction.ends_with('0')
}

/// Rewrites `.5`, `5.` and `007` as JSON writes them.
fn in_json_syntax(text: &str) -> Option<String> {
    let (sign, body) = text.strip_prefix('-').map_or(("", text), |body| ("-", body));
    let (whole, fraction) = body.split_once('.').unwrap_or((body, ""));
    let is_identifier = whole.len() >= TELEPHONE_DIGITS;
    let are_digits = |part: &str| part.is_empty() || is_digits(part);
    if is_identifier || (whole.is_empty() && fraction.is_empty()) || !are_digits(whole) || !are_digits(fraction) {
        return None;
    }
    let significant = whole.trim_start_matches('0');
    let whole = if significant.is_empty() { "0" } else { significant };
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{sign}{whole}{point}{fraction}"))
}

/// Removes the separators from `1,234,567.89`; `None` if they do not separate groups of three digits.
pub(crate) fn without_separators(text: &str, separator: char) -> Option<String> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    if !is_digits(fraction) {
        return None;
    }
    let mut groups = whole.strip_prefix('-').unwrap_or(whole).split(separator);
    let first = groups.next()?;
    let others: Vec<&str> = groups.collect();
    let is_first_valid = is_digits(first) && first.len() <= 3;
    let are_groups = others.iter().all(|group| is_digits(group) && group.len() == 3);
    let is_valid = is_first_valid && (are_groups || (separator == ',' && are_indian_groups(first, &others)));
    is_valid.then(|| text.replace(separator, ""))
}

/// Whether the groups are those of India: `12,34,567`.
fn are_indian_groups(first: &str, others: &[&str]) -> bool {
    let Some((last, middle)) = others.split_last() else { return false };
    let are_pairs = middle.iter().all(|group| is_digits(group) && group.len() == 2);
    first.len() <= 2 && !first.starts_with('0') && !middle.is_empty() && are_pairs && is_digits(last) && last.len() == 3
}

/// Whether a comma of the number may be a decimal comma as well as one between groups: `87,344` may be 87.344.
pub(crate) fn may_have_decimal_comma(text: &str) -> bool {
    let text = strip_marks(text);
    let Some((whole, fraction)) = text.strip_prefix(['-', '+']).unwrap_or(text).split_once(',') else { return false };
    // No program writes 1 as `1,000`.
    fraction.len() == 3 && is_digits(whole) && is_digits(fraction) && !fraction.ends_with('0')
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses a boolean or a yes-or-no word.
pub(crate) fn boolean(text: &str) -> Option<bool> {
    const YES: &str = "true yes on y t 1 1.0 enabled oui ja si sí sim 是 はい 예 ✓ ✔ ✅ ☑ [x] .true. #t #true $true";
    const NO: &str = "false no off n f 0 0.0 disabled non nein não 否 いいえ 아니요 ✗ ✘ ❌ ☐ .false. #f #false $false";
    let word = strip_marks(text).to_lowercase();
    let is = |words: &str| words.split(' ').any(|candidate| candidate == word);
    if is(YES) {
        return Some(true);
    }
    (is(NO) || word == "[ ]").then_some(false)
}

pub(crate) fn boolean_from_number(number: &Number) -> Option<bool> {
    match number.as_i64() {
        Some(0) => Some(false),
        Some(1) => Some(true),
        _ => None,
    }
}

/// Whether the text is null in JSON or Python.
pub(crate) fn is_null(text: &str) -> bool {
    matches!(text.trim(), "null" | "None")
}

/// Whether the text says that there is no value.
pub(crate) fn is_absent(text: &str) -> bool {
    const ABSENT: [&str; 8] = ["", "null", "none", "nil", "undefined", "n/a", "na", "not applicable"];
    let text = text.trim();
    ABSENT.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Removes white space, emphasis and quotes around the text: `**Paris**` becomes `Paris`.
///
/// Removes marks only in pairs, and never all of the text.
pub(crate) fn strip_marks(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(inner) = MARKS.iter().find_map(|mark| text.strip_prefix(*mark)?.strip_suffix(*mark)) {
        if inner.trim().is_empty() {
            break;
        }
        text = inner.trim();
    }
    text
}
