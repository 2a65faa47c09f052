//! Limits of calls, and the rules of circuit breakers.

use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use reknit_model_api::BreakerRules;

/// How many calls may be in progress at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// To all tools together.
    pub in_all: usize,
    pub per_tool: usize,
    pub per_model: usize,
}

/// The limits of one tool, beside those of all tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolLimits {
    /// How many calls may be in progress at the same time, instead of [`CallLimits::per_tool`].
    pub concurrent: Option<usize>,
    /// How many calls may be started in a time.
    pub rate: Option<CallRate>,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { in_all: 256, per_tool: 64, per_model: 64 }
    }
}

/// The rules of the circuit breakers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakerPolicy {
    /// For tools; each tool has its own breaker.
    pub tools: BreakerRules,
    /// For models; each target has its own breaker.
    pub models: BreakerRules,
}

impl Default for BreakerPolicy {
    /// For models that are asked in turn.
    fn default() -> Self {
        Self { tools: BreakerRules::for_service(), models: BreakerRules::for_model() }
    }
}

/// The highest number of calls in a rate. The time of each call is kept until it no longer counts.
const MAX_CALLS: u32 = 100_000;

/// How many calls may be started in a time: in every window of that length, not on average.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRate {
    calls: NonZeroU32,
    per: Duration,
}

/// A text is not a rate like `10/s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write a number from 1 to 100000 per second, minute or hour, like `10/s`, `100/m` or `1000/h`")]
pub struct InvalidRate;

impl CallRate {
    /// A rate of so many calls in a time. Fails if the number is 0 or above 100,000, or the time is below a millisecond.
    pub fn new(calls: u32, per: Duration) -> Result<Self, InvalidRate> {
        let calls = NonZeroU32::new(calls).filter(|calls| calls.get() <= MAX_CALLS).ok_or(InvalidRate)?;
        if per < Duration::from_millis(1) { Err(InvalidRate) } else { Ok(Self { calls, per }) }
    }

    pub fn calls(self) -> usize {
        self.calls.get() as usize
    }

    pub fn per(self) -> Duration {
        self.per
    }
}

impl FromStr for CallRate {
    type Err = InvalidRate;

    /// Reads `10/s`, `100/m` or `1000/h`.
    fn from_str(text: &str) -> Result<Self, InvalidRate> {
        let (calls, unit) = text.split_once('/').ok_or(InvalidRate)?;
        let seconds = match unit.trim() {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            _ => return Err(InvalidRate),
        };
        Self::new(calls.trim().parse().map_err(|_| InvalidRate)?, Duration::from_secs(seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_per_second_minute_or_hour() {
        for (text, calls, seconds) in [("10/s", 10, 1), ("100/m", 100, 60), ("1/h", 1, 3_600), (" 2 / s ", 2, 1)] {
            assert_eq!(text.parse(), CallRate::new(calls, Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "10", "0/s", "-1/s", "1.5/s", "10/d", "10/", "/s", "100001/s", "10/s/s"] {
            assert_eq!(text.parse::<CallRate>(), Err(InvalidRate), "{text}");
        }
    }
}
