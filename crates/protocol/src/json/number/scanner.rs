//! The scanner for the JSON number grammar, shared by `Number::parse` and the JSON parser, and its errors.

/// More digits could overflow the 64-bit arithmetic of comparison.
const MAX_EXPONENT_DIGITS: usize = 18;

/// An integer of up to this many digits always fits an `i64` and needs no overflow check.
const SAFE_DIGITS: usize = 18;

/// The result of scanning a number.
pub(crate) struct NumberToken {
    pub(crate) length: usize,
    /// Its value if it is an integer of at most 18 digits in canonical spelling.
    pub(crate) integer: Option<i64>,
    pub(crate) is_decimal: bool,
}

/// Scans the number at the start of `bytes`; an error carries the offset of the problem.
pub(crate) fn scan(bytes: &[u8]) -> Result<NumberToken, (usize, NumberError)> {
    let negative = bytes.first() == Some(&b'-');
    let start = usize::from(negative);
    let mut at = start;
    let mut magnitude = 0_i64;
    while let Some(digit @ b'0'..=b'9') = bytes.get(at) {
        // This wraps only after more than 18 digits, where the result is not used.
        magnitude = magnitude.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
        at += 1;
    }
    let digits = at - start;
    if digits == 0 {
        return Err((at, NumberError::MissingDigit));
    }
    if digits > 1 && bytes.get(start) == Some(&b'0') {
        return Err((start, NumberError::LeadingZero));
    }
    if let Some(b'.' | b'e' | b'E') = bytes.get(at) {
        return Ok(NumberToken { length: scan_fraction_and_exponent(bytes, at)?, integer: None, is_decimal: true });
    }
    let canonical = digits <= SAFE_DIGITS && !(negative && magnitude == 0);
    let integer = canonical.then(|| if negative { -magnitude } else { magnitude });
    Ok(NumberToken { length: at, integer, is_decimal: false })
}

/// Scans the fraction and the exponent from `at` on; returns where they end.
fn scan_fraction_and_exponent(bytes: &[u8], mut at: usize) -> Result<usize, (usize, NumberError)> {
    if bytes.get(at) == Some(&b'.') {
        at = skip_digits(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = bytes.get(at) {
            at += 1;
        }
        let end = skip_digits(bytes, at)?;
        if end - at > MAX_EXPONENT_DIGITS {
            return Err((at, NumberError::LongExponent));
        }
        at = end;
    }
    Ok(at)
}

fn skip_digits(bytes: &[u8], start: usize) -> Result<usize, (usize, NumberError)> {
    let mut at = start;
    while let Some(b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    if at == start { Err((at, NumberError::MissingDigit)) } else { Ok(at) }
}

/// Why a text or a float is not a JSON number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// A digit is missing: in `-`, `1.`, `1e`, or in a text that is not a number at all.
    #[error("a digit is missing")]
    MissingDigit,
    #[error("a number must not have leading zeros")]
    LeadingZero,
    #[error("the exponent has more than 18 digits")]
    LongExponent,
    #[error("there is other text after the number")]
    TrailingText,
    #[error("infinities and NaN are not JSON numbers")]
    NotFinite,
}
