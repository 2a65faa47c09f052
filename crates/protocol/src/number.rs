//! Numbers that keep their digits as written and compare by value.

mod carrier;
mod compare;
mod convert;
mod decimal;
mod error;
mod scan;
mod text;

use std::fmt;

pub use error::NumberError;

pub(crate) use carrier::Carrier;
pub(crate) use scan::{Token, scan};

use crate::print::push_integer;
use decimal::Decimal;
use text::{Digits, ShortText};

/// A JSON number: prints exactly as it was written, compares by what it is worth.
///
/// `1`, `1.0` and `1e0` are equal, hash alike and sort alike, yet each prints as it was read. No digit is ever lost:
/// comparison works on the decimal digits, not on a float.
///
/// ```
/// use reknit_protocol::Number;
///
/// let price = Number::parse("19.990")?;
/// assert_eq!(price.to_string(), "19.990");
/// assert_eq!(price, Number::parse("1999e-2")?);
/// # Ok::<(), reknit_protocol::NumberError>(())
/// ```
#[derive(Clone)]
pub struct Number(Repr);

/// Integers are kept as such because most numbers are; everything else is its own text, without an allocation where it
/// is short.
#[derive(Clone)]
enum Repr {
    /// The text was the canonical spelling of this integer.
    Int(i64),
    /// This many bytes of that text.
    Short(u32, ShortText),
    Long(Box<str>),
}

impl Number {
    /// Reads a number by the JSON grammar.
    ///
    /// Fails on anything else (`+1`, `.5`, `01`, `NaN`, spaces), and on an exponent of more than 18 written digits:
    /// beyond that values could no longer be compared exactly.
    pub fn parse(text: &str) -> Result<Self, NumberError> {
        let token = scan(text.as_bytes()).map_err(|(_, error)| error)?;
        if token.length < text.len() {
            return Err(NumberError::TrailingText);
        }
        Ok(Self::from_token(&token, text))
    }

    /// The number that `token` found at the start of `source`, which may go on behind it.
    #[inline]
    pub(crate) fn from_token(token: &Token, source: &str) -> Self {
        match token.integer {
            Some(integer) => Self(Repr::Int(integer)),
            None if token.has_tail => Self::from_text(source, token.length),
            None => Self::from_integer(source.get(..token.length).unwrap_or_default()),
        }
    }

    /// An integer that is `-0` or has more than 18 digits; nineteen may or may not fit.
    fn from_integer(text: &str) -> Self {
        match text.parse() {
            Ok(integer) if integer != 0 => Self(Repr::Int(integer)),
            _ => Self::from_text(text, text.len()),
        }
    }

    #[inline]
    fn from_text(source: &str, length: usize) -> Self {
        match ShortText::new(source.as_bytes(), length) {
            Some((text, length)) => Self(Repr::Short(length, text)),
            None => Self(Repr::Long(source.get(..length).unwrap_or_default().into())),
        }
    }

    /// Whether the value has no fractional part, however it is spelt: true for `5`, `5.0` and `1e3`.
    pub fn is_integer(&self) -> bool {
        match &self.0 {
            Repr::Int(_) => true,
            _ => self.with_decimal(|decimal| decimal.is_integer()),
        }
    }

    /// The spelling shared by all numbers of the same value: plain digits where that is short, `1.5e300` elsewhere.
    ///
    /// Meant for hashing. It reads back as the same value unless its exponent has outgrown the 18 digits that
    /// [`Number::parse`] allows, as that of `10e999999999999999999` does.
    ///
    /// ```
    /// # use reknit_protocol::Number;
    /// assert_eq!(Number::parse("1.50e1")?.canonical(), "15");
    /// # Ok::<(), reknit_protocol::NumberError>(())
    /// ```
    pub fn canonical(&self) -> String {
        match &self.0 {
            Repr::Int(integer) => integer.to_string(),
            _ => self.with_decimal(|decimal| decimal.canonical()),
        }
    }

    /// Appends the text as written.
    #[inline]
    pub(crate) fn push_to(&self, out: &mut String) {
        match &self.0 {
            Repr::Int(integer) => push_integer(out, *integer),
            Repr::Short(length, text) => out.push_str(text.as_str(*length)),
            Repr::Long(text) => out.push_str(text),
        }
    }

    /// Gives `read` the text as written; borrowed where there is a text, spelt out on the stack where there is not.
    pub(crate) fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        match &self.0 {
            Repr::Int(integer) => read(Digits::new(*integer).as_str()),
            Repr::Short(length, text) => read(text.as_str(*length)),
            Repr::Long(long) => read(long),
        }
    }

    fn with_decimal<T>(&self, read: impl FnOnce(Decimal<'_>) -> T) -> T {
        match &self.0 {
            Repr::Int(integer) => read(Decimal::new(Digits::new(*integer).as_bytes())),
            Repr::Short(length, text) => read(Decimal::new(text.as_bytes(*length))),
            Repr::Long(long) => read(Decimal::new(long.as_bytes())),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| out.pad(text))
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl Default for Number {
    /// Zero.
    fn default() -> Self {
        Self(Repr::Int(0))
    }
}
