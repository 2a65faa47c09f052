//! Token prices and costs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{ModelRequest, Usage};

/// Price of a million tokens, in millionths of the currency's unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Price(u64);

/// Why a number is not a price.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a price for a million tokens is between 0 and 1000000, not {0}")]
pub struct PriceError(f64);

impl Price {
    /// From millionths: 2.50 for a million tokens is 2500000.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    pub const fn micros(self) -> u64 {
        self.0
    }
}

impl TryFrom<f64> for Price {
    type Error = PriceError;

    /// Rounds to the nearest millionth.
    fn try_from(units: f64) -> Result<Self, Self::Error> {
        scaled(units, 1e6, 1e6).map(Self).ok_or(PriceError(units))
    }
}

/// `units * scale`, rounded; none if `units` is not between 0 and `max`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "callers pass `max * scale` up to 1e18")]
fn scaled(units: f64, max: f64, scale: f64) -> Option<u64> {
    (0.0..=max).contains(&units).then(|| (units * scale).round() as u64)
}

/// Token prices of a target.
///
/// ```
/// use reknit_model_api::{Price, Prices, Usage};
///
/// let prices = Prices::new(Price::try_from(0.15)?, Price::try_from(0.60)?);
/// assert_eq!(prices.cost(&Usage::reported(2_000, 500)).to_string(), "0.0006");
/// # Ok::<(), reknit_model_api::PriceError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prices {
    pub input: Price,
    /// Price of answer tokens, reasoning included.
    pub output: Price,
    /// Price of request tokens read from the provider's cache; `input` if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<Price>,
    /// Price of request tokens written to the provider's cache; `input` if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_written: Option<Price>,
    /// Above this number of request tokens the request costs twice as much and its answer 1.5 times as much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_input_threshold: Option<u64>,
}

impl Prices {
    /// Prices without special rates for caches and long requests.
    pub const fn new(input: Price, output: Price) -> Self {
        Self { input, output, cached: None, cache_written: None, long_input_threshold: None }
    }

    /// Cost of this usage, rounded up so that a budget is never exceeded.
    pub fn cost(&self, usage: &Usage) -> Money {
        let cache_tokens = usage.cached_tokens.saturating_add(usage.cache_written_tokens);
        // Factors in halves, so that 1.5 is an integer.
        let (input_factor, output_factor) =
            if self.long_input_threshold.is_some_and(|threshold| usage.input_tokens > threshold) {
                (4, 3)
            } else {
                (2, 2)
            };
        let parts = [
            (usage.input_tokens.saturating_sub(cache_tokens), self.input, input_factor),
            (usage.cached_tokens, self.cached.unwrap_or(self.input), input_factor),
            (usage.cache_written_tokens, self.cache_written.unwrap_or(self.input), input_factor),
            (usage.output_tokens, self.output, output_factor),
        ];
        let halves = parts
            .iter()
            .map(|(tokens, price, factor)| (u128::from(*tokens) * u128::from(price.0)).saturating_mul(*factor))
            .fold(0, u128::saturating_add);
        Money(u64::try_from(halves.div_ceil(2_000)).unwrap_or(u64::MAX))
    }

    /// An upper bound for the cost of an attempt at this request.
    pub fn max_cost(&self, request: &ModelRequest) -> Money {
        let input = self.input.max(self.cached.unwrap_or(self.input)).max(self.cache_written.unwrap_or(self.input));
        Self { input, ..*self }.cost(&Usage::upper_bound(request))
    }
}

/// Amount of money, in billionths of the currency's unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(u64);

impl Money {
    /// From billionths of the currency's unit.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Saturating subtraction: 0 if `other` is more.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Integer division, rounded down; the whole amount if `parts` is 0.
    #[must_use]
    pub const fn divided_by(self, parts: u32) -> Self {
        Self(self.0 / if parts == 0 { 1 } else { parts as u64 })
    }

    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// Saturating addition.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Why a number is not an amount of money.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("an amount of money is between 0 and 1000000000, not {0}")]
pub struct MoneyError(f64);

impl TryFrom<f64> for Money {
    type Error = MoneyError;

    /// Rounds to the nearest billionth.
    fn try_from(units: f64) -> Result<Self, Self::Error> {
        scaled(units, 1e9, 1e9).map(Self).ok_or(MoneyError(units))
    }
}

impl fmt::Display for Money {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{}.{:09}", self.0 / 1_000_000_000, self.0 % 1_000_000_000);
        out.pad(digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Message;

    #[test]
    fn a_cost_is_exact_to_a_billionth_and_rounded_up_beyond() {
        let prices = Prices::new(Price::from_micros(1), Price::from_micros(2_500_000));
        for (input, output, nanos) in [(0, 0, 0), (1, 0, 1), (1000, 0, 1), (1001, 0, 2), (0, 1_000_000, 2_500_000_000)]
        {
            assert_eq!(prices.cost(&Usage::reported(input, output)), Money::from_nanos(nanos), "{input} {output}");
        }
        let expensive = Prices::new(Price::from_micros(u64::MAX), Price::from_micros(0));
        assert_eq!(expensive.cost(&Usage::reported(u64::MAX, 0)), Money::from_nanos(u64::MAX));
    }

    #[test]
    fn cached_tokens_have_their_own_prices() {
        let million = |units: u64| Price::from_micros(units * 1_000_000);
        let usage = Usage { cached_tokens: 500_000, cache_written_tokens: 200_000, ..Usage::reported(1_000_000, 0) };
        let plain = Prices::new(million(10), million(0));
        assert_eq!(plain.cost(&usage).to_string(), "10");
        let with_cache = Prices { cached: Some(million(1)), cache_written: Some(million(20)), ..plain };
        assert_eq!(with_cache.cost(&usage).to_string(), "7.5");
    }

    #[test]
    fn the_maximum_cost_of_a_request_uses_its_highest_token_price() {
        let million = |units: u64| Price::from_micros(units * 1_000_000);
        let prices = Prices { cache_written: Some(million(2)), ..Prices::new(million(1), million(5)) };
        let request = ModelRequest::new(vec![Message::user("x".repeat(968))], 100);
        assert_eq!(prices.max_cost(&request), Money::from_nanos(2_000 * 2_000 + 100 * 5_000));
    }

    #[test]
    fn a_number_that_is_not_an_amount_of_money_or_a_price_is_refused() {
        for number in [-0.01, f64::NAN, f64::INFINITY, 1e10] {
            assert!(Money::try_from(number).is_err() && Price::try_from(number).is_err(), "{number}");
        }
        assert!(Price::try_from(1e7).is_err());
        assert_eq!(Money::try_from(0.05).map(Money::nanos), Ok(50_000_000));
        assert_eq!(Price::try_from(0.15), Ok(Price::from_micros(150_000)));
    }

    #[test]
    fn money_is_displayed_without_trailing_zeros() {
        for (nanos, expected) in [(0, "0"), (2_500_000_000, "2.5"), (1, "0.000000001"), (10_000_000_000, "10")] {
            assert_eq!(Money::from_nanos(nanos).to_string(), expected);
        }
    }
}
