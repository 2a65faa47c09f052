//! Sampling: the temperature, and the share of probability from which tokens are sampled.

use std::fmt;
use std::ops::RangeInclusive;

use reknit_protocol::Number;
use serde::{Deserialize, Serialize, Serializer};

/// Sampling temperature from 0 to 2, in hundredths.
///
/// An integer compares exactly, and 0 is a value like any other, never "not set".
///
/// ```
/// use reknit_model_api::Temperature;
///
/// assert_eq!(Temperature::try_from(0.3)?.to_string(), "0.3");
/// assert_eq!(Temperature::ZERO.to_string(), "0");
/// assert!(Temperature::try_from(2.5).is_err());
/// # Ok::<(), reknit_model_api::TemperatureError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "f64")]
pub struct Temperature(u16);

/// Why a number is not a temperature.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum TemperatureError {
    /// Below 0, above 2, or NaN.
    #[error("a temperature is between 0 and 2, not {0}")]
    OutOfRange(f64),
    #[error("a temperature has at most two decimal places, unlike {0}")]
    TooPrecise(f64),
}

impl Temperature {
    /// The most predictable sampling.
    pub const ZERO: Self = Self(0);

    const MAX_HUNDREDTHS: u16 = 200;

    /// From hundredths: 30 is 0.3. Returns none above 200.
    pub const fn from_hundredths(hundredths: u16) -> Option<Self> {
        if hundredths <= Self::MAX_HUNDREDTHS { Some(Self(hundredths)) } else { None }
    }

    pub const fn hundredths(self) -> u16 {
        self.0
    }

    /// As a JSON number: `0`, `0.3`, `1`.
    pub fn to_number(self) -> Number {
        number(self.0)
    }
}

impl TryFrom<f64> for Temperature {
    type Error = TemperatureError;

    fn try_from(number: f64) -> Result<Self, Self::Error> {
        nearest(number, 0..=Self::MAX_HUNDREDTHS).map(Self).ok_or(if (0.0..=2.0).contains(&number) {
            TemperatureError::TooPrecise(number)
        } else {
            TemperatureError::OutOfRange(number)
        })
    }
}

impl Serialize for Temperature {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        serialize(self.0, out)
    }
}

impl fmt::Display for Temperature {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&text(self.0))
    }
}

/// The hundredths that are a number, if it has no more than two decimal places.
fn nearest(number: f64, mut range: RangeInclusive<u16>) -> Option<u16> {
    range.find(|hundredths| (f64::from(*hundredths) - number * 100.0).abs() < 1e-6)
}

/// `0`, `0.3`, `0.95`, `1`.
fn text(hundredths: u16) -> String {
    match (hundredths / 100, hundredths % 100) {
        (whole, 0) => whole.to_string(),
        (whole, rest) => format!("{whole}.{rest:02}").trim_end_matches('0').to_owned(),
    }
}

fn number(hundredths: u16) -> Number {
    // The default is unreachable: tests check that each value prints as a JSON number.
    Number::parse(&text(hundredths)).unwrap_or_default()
}

fn serialize<S: Serializer>(hundredths: u16, out: S) -> Result<S::Ok, S::Error> {
    match hundredths % 100 {
        0 => out.serialize_u16(hundredths / 100),
        _ => out.serialize_f64(f64::from(hundredths) / 100.0),
    }
}

/// The share of probability from which tokens are sampled, above 0 and at most 1, in hundredths.
///
/// ```
/// use reknit_model_api::TopP;
///
/// assert_eq!(TopP::try_from(0.95)?.to_number().to_string(), "0.95");
/// assert!(TopP::try_from(0.0).is_err());
/// # Ok::<(), reknit_model_api::TopPError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "f64")]
pub struct TopP(u16);

/// Why a number is no such share.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a top-p is above 0 and at most 1, with at most two decimal places, unlike {0}")]
pub struct TopPError(f64);

impl TopP {
    /// As a JSON number: `0.95`, `1`.
    pub fn to_number(self) -> Number {
        number(self.0)
    }
}

impl TryFrom<f64> for TopP {
    type Error = TopPError;

    fn try_from(number: f64) -> Result<Self, Self::Error> {
        nearest(number, 1..=100).map(Self).ok_or(TopPError(number))
    }
}

impl Serialize for TopP {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        serialize(self.0, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_temperature_has_one_text_that_parses_back_to_it() {
        for hundredths in 0..=200 {
            let temperature = Temperature::from_hundredths(hundredths).unwrap();
            let text = temperature.to_string();
            assert_eq!(temperature.to_number().to_string(), text);
            assert_eq!(serde_json::to_string(&temperature).unwrap(), text);
            assert_eq!(serde_json::from_str::<Temperature>(&text).unwrap(), temperature);
        }
        assert_eq!(Temperature::from_hundredths(201), None);
    }

    #[test]
    fn a_number_that_is_not_a_temperature_is_refused_by_its_value() {
        for (number, expected) in [
            (-0.1, "a temperature is between 0 and 2, not -0.1"),
            (2.01, "a temperature is between 0 and 2, not 2.01"),
            (f64::NAN, "a temperature is between 0 and 2, not NaN"),
            (f64::INFINITY, "a temperature is between 0 and 2, not inf"),
            (0.125, "a temperature has at most two decimal places, unlike 0.125"),
        ] {
            assert_eq!(Temperature::try_from(number).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn every_share_has_one_text_that_parses_back_to_it() {
        for hundredths in 1..=100 {
            let share = TopP(hundredths);
            assert_eq!(share.to_number().to_string(), text(hundredths));
            assert_eq!(serde_json::to_string(&share).unwrap(), text(hundredths));
            assert_eq!(serde_json::from_str::<TopP>(&text(hundredths)).unwrap(), share);
        }
        for number in [0.0, -0.1, 1.01, 0.955, f64::NAN] {
            assert!(TopP::try_from(number).is_err(), "{number}");
        }
    }
}
