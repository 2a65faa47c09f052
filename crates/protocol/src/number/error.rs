//! Why a text or a float is not a JSON number.

/// Why a text or a float is not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// There is no digit where the grammar wants one: in `-`, `1.`, `1e`, or in a text that is no number at all.
    #[error("a digit is missing")]
    MissingDigit,
    /// `007`: JSON allows a leading zero only in front of a point or an exponent.
    #[error("a number must not start with a zero that other digits follow")]
    LeadingZero,
    /// The exponent has more than 18 digits, so its value could not be compared exactly.
    #[error("the exponent has more than 18 digits")]
    LongExponent,
    /// The text goes on after a complete number.
    #[error("there is other text after the number")]
    TrailingText,
    /// The float is an infinity or not a number; JSON has no spelling for it.
    #[error("infinities and NaN are not JSON numbers")]
    NotFinite,
}
