//! Sampling temperature.

use std::fmt;

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
    /// More than two decimal places.
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

    /// The temperature in hundredths.
    pub const fn hundredths(self) -> u16 {
        self.0
    }

    /// As a JSON number: `0`, `0.3`, `1`.
    pub fn to_number(self) -> Number {
        // The default is unreachable: a test checks that each of the 201 values prints as a JSON number.
        Number::parse(&self.to_string()).unwrap_or_default()
    }
}

impl TryFrom<f64> for Temperature {
    type Error = TemperatureError;

    fn try_from(number: f64) -> Result<Self, Self::Error> {
        (0..=Self::MAX_HUNDREDTHS)
            .map(Self)
            .find(|candidate| (f64::from(candidate.0) - number * 100.0).abs() < 1e-6)
            .ok_or(if (0.0..=2.0).contains(&number) {
                TemperatureError::TooPrecise(number)
            } else {
                TemperatureError::OutOfRange(number)
            })
    }
}

impl Serialize for Temperature {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.0 % 100 {
            0 => out.serialize_u16(self.0 / 100),
            _ => out.serialize_f64(f64::from(self.0) / 100.0),
        }
    }
}

impl fmt::Display for Temperature {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match (self.0 / 100, self.0 % 100) {
            (whole, 0) => whole.to_string(),
            (whole, rest) if rest % 10 == 0 => format!("{whole}.{}", rest / 10),
            (whole, rest) => format!("{whole}.{rest:02}"),
        };
        out.pad(&text)
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
}
