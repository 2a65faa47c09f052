//! Nucleus sampling.

use reknit_protocol::Number;
use serde::{Deserialize, Serialize, Serializer};

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
        // The default is unreachable: a test checks that each of the 100 values prints as a JSON number.
        Number::parse(&self.text()).unwrap_or_default()
    }

    fn text(self) -> String {
        if self.0 == 100 { "1".to_owned() } else { format!("0.{:02}", self.0).trim_end_matches('0').to_owned() }
    }
}

impl TryFrom<f64> for TopP {
    type Error = TopPError;

    fn try_from(number: f64) -> Result<Self, Self::Error> {
        let is_it = |share: &Self| (f64::from(share.0) - number * 100.0).abs() < 1e-6;
        (1..=100).map(Self).find(is_it).ok_or(TopPError(number))
    }
}

impl Serialize for TopP {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        if self.0 == 100 { out.serialize_u16(1) } else { out.serialize_f64(f64::from(self.0) / 100.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_share_has_one_text_that_parses_back_to_it() {
        for hundredths in 1..=100 {
            let share = TopP(hundredths);
            assert_eq!(share.to_number().to_string(), share.text());
            assert_eq!(serde_json::to_string(&share).unwrap(), share.text());
            assert_eq!(serde_json::from_str::<TopP>(&share.text()).unwrap(), share);
        }
        for number in [0.0, -0.1, 1.01, 0.955, f64::NAN] {
            assert!(TopP::try_from(number).is_err(), "{number}");
        }
    }
}
