//! Numbers that keep their digits as written and compare by value.

mod conversions;
mod decimal;
mod inline_text;
mod normal_form;
mod push_integer;
mod scanner;

use std::fmt;

pub use decimal::{Decimal, DecimalError, Exactness};
pub use scanner::NumberError;

pub(crate) use conversions::MachineNumber;
pub(crate) use scanner::{NumberToken, scan};

use inline_text::InlineText;
use normal_form::NormalForm;
use push_integer::push_integer;

/// A JSON number that prints exactly as it was written and compares by value.
///
/// `1`, `1.0` and `1e0` are equal and have the same hash, yet each prints as it was read. Comparison works on the
/// decimal digits, so it is exact.
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

/// Most numbers are integers and stored as such. Others are stored as text, without an allocation if it is short.
#[derive(Clone)]
enum Repr {
    /// An integer whose text was its canonical spelling.
    Int(i64),
    /// The length of a text, and the text.
    Short(u32, InlineText),
    Long(Box<str>),
}

impl Number {
    /// Parses a number by the JSON grammar.
    ///
    /// Fails on any other text (`+1`, `.5`, `01`, `NaN`, spaces) and on an exponent of more than 18 digits, with which
    /// values could no longer be compared exactly.
    pub fn parse(text: &str) -> Result<Self, NumberError> {
        let token = scan(text.as_bytes()).map_err(|(_, error)| error)?;
        if token.length < text.len() {
            return Err(NumberError::TrailingText);
        }
        Ok(Self::from_token(&token, text))
    }

    /// The number that `token` describes at the start of `source`, which may be longer.
    #[inline]
    pub(crate) fn from_token(token: &NumberToken, source: &str) -> Self {
        match token.integer {
            Some(integer) => Self(Repr::Int(integer)),
            None if token.is_decimal => Self::from_text(source, token.length),
            None => Self::from_integer(source.get(..token.length).unwrap_or_default()),
        }
    }

    /// The number for an integer text that is `-0` or has more than 18 digits, which may not fit an `i64`.
    fn from_integer(text: &str) -> Self {
        match text.parse() {
            Ok(integer) if integer != 0 => Self(Repr::Int(integer)),
            _ => Self::from_text(text, text.len()),
        }
    }

    #[inline]
    fn from_text(source: &str, length: usize) -> Self {
        match InlineText::new(source.as_bytes(), length) {
            Some((text, length)) => Self(Repr::Short(length, text)),
            None => Self(Repr::Long(source.get(..length).unwrap_or_default().into())),
        }
    }

    /// Whether the value has no fractional part: true for `5`, `5.0` and `1e3`.
    pub fn is_integer(&self) -> bool {
        match &self.0 {
            Repr::Int(_) => true,
            _ => self.with_normal_form(|form| form.is_integer()),
        }
    }

    /// The one spelling of all numbers with this value, for hashing: plain digits if that is short, else `1.5e300`.
    ///
    /// It parses to the same value, unless its exponent exceeds the 18 digits that [`Number::parse`] allows, as for
    /// `10e999999999999999999`.
    pub fn canonical(&self) -> String {
        match &self.0 {
            Repr::Int(integer) => integer.to_string(),
            _ => self.with_normal_form(|form| form.canonical()),
        }
    }

    #[inline]
    pub(crate) fn push_to(&self, out: &mut String) {
        match &self.0 {
            Repr::Int(integer) => push_integer(out, *integer),
            Repr::Short(length, text) => out.push_str(text.as_str(*length)),
            Repr::Long(text) => out.push_str(text),
        }
    }

    pub(crate) fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        match &self.0 {
            Repr::Int(integer) => read(&integer.to_string()),
            Repr::Short(length, text) => read(text.as_str(*length)),
            Repr::Long(long) => read(long),
        }
    }

    fn with_normal_form<T>(&self, read: impl FnOnce(NormalForm<'_>) -> T) -> T {
        self.with_text(|text| read(NormalForm::new(text.as_bytes())))
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
    fn default() -> Self {
        Self(Repr::Int(0))
    }
}
