//! The JSON number grammar over bytes, shared by `Number::parse` and the JSON parser.

use super::NumberError;

/// More written digits in an exponent could overflow the 64-bit arithmetic that comparison relies on.
const MAX_EXPONENT_DIGITS: usize = 18;

/// Up to this many digits always fit an `i64`, so they need no overflow check.
const SAFE_DIGITS: usize = 18;

/// A number at the start of some bytes.
pub(crate) struct Token {
    /// How many bytes it takes.
    pub(crate) length: usize,
    /// Its value, when the text is an integer of at most 18 digits in canonical spelling.
    pub(crate) integer: Option<i64>,
    /// Whether it has a fraction or an exponent.
    pub(crate) has_tail: bool,
}

/// Finds the number at the start of `bytes`; an error carries the offset of the defect.
pub(crate) fn scan(bytes: &[u8]) -> Result<Token, (usize, NumberError)> {
    let negative = bytes.first() == Some(&b'-');
    let start = usize::from(negative);
    let mut at = start;
    let mut magnitude = 0_i64;
    while let Some(digit @ b'0'..=b'9') = bytes.get(at) {
        // Wraps past 18 digits only, where the result is not used.
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
        return Ok(Token { length: scan_tail(bytes, at)?, integer: None, has_tail: true });
    }
    let canonical = digits <= SAFE_DIGITS && !(negative && magnitude == 0);
    let integer = canonical.then(|| if negative { -magnitude } else { magnitude });
    Ok(Token { length: at, integer, has_tail: false })
}

/// Reads the fraction and the exponent from `at` on; returns where they end.
fn scan_tail(bytes: &[u8], mut at: usize) -> Result<usize, (usize, NumberError)> {
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
