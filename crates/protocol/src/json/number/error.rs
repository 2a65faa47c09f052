//! The error for text or floats that are not JSON numbers.

/// Why a text or a float is not a JSON number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// A digit is missing: in `-`, `1.`, `1e`, or in a text that is not a number at all.
    #[error("a digit is missing")]
    MissingDigit,
    /// The number has leading zeros, like `007`.
    #[error("a number must not have leading zeros")]
    LeadingZero,
    /// The exponent has more than 18 digits, with which values could not be compared exactly.
    #[error("the exponent has more than 18 digits")]
    LongExponent,
    /// A complete number is followed by other text.
    #[error("there is other text after the number")]
    TrailingText,
    /// The float is infinite or NaN, which JSON cannot express.
    #[error("infinities and NaN are not JSON numbers")]
    NotFinite,
}
