//! What tokens cost.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Request, Usage};

/// The price of a million tokens, in millionths of the currency's unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Price(u64);

/// Why a number is no price.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a price for a million tokens is between 0 and 1000000, not {0}")]
pub struct PriceError(f64);

impl Price {
    /// 2.50 for a million tokens is 2500000.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// In millionths of the currency's unit.
    pub const fn micros(self) -> u64 {
        self.0
    }
}

impl TryFrom<f64> for Price {
    type Error = PriceError;

    /// Rounds to the nearest millionth.
    fn try_from(units: f64) -> Result<Self, Self::Error> {
        if !(0.0..=1e6).contains(&units) {
            return Err(PriceError(units));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 1e12, checked above"
        )]
        let micros = (units * 1e6).round() as u64;
        Ok(Self(micros))
    }
}

/// What a target asks for its tokens.
///
/// ```
/// use reknit_dialogue::{Price, Prices, Usage};
///
/// let prices = Prices::new(Price::try_from(0.15)?, Price::try_from(0.60)?);
/// assert_eq!(prices.cost(&Usage::reported(2_000, 500)).to_string(), "0.0006");
/// # Ok::<(), reknit_dialogue::PriceError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prices {
    /// For tokens of the question.
    pub input: Price,
    /// For tokens of the answer.
    pub output: Price,
    /// For tokens of the question that the provider had in its cache; as for others if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<Price>,
    /// For tokens of the question that the provider has put into its cache; as for others if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_written: Option<Price>,
    /// The longest question, in tokens, at these prices. A longer one costs twice as much, and its answer half as much again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dearer_above: Option<u64>,
}

impl Prices {
    /// The same for tokens in a cache as for others.
    pub const fn new(input: Price, output: Price) -> Self {
        Self { input, output, cached: None, cache_written: None, dearer_above: None }
    }

    /// The most that an attempt at this request can cost.
    pub fn most(&self, request: &Request) -> Money {
        let input = self.input.max(self.cached.unwrap_or(self.input)).max(self.cache_written.unwrap_or(self.input));
        Self { input, ..*self }.cost(&Usage::most(request))
    }

    /// What this usage costs, rounded up: a limit of money is kept, not nearly kept.
    pub fn cost(&self, usage: &Usage) -> Money {
        let in_caches = usage.cached_tokens.saturating_add(usage.cache_written_tokens);
        // In halves of a price.
        let (question, answer) =
            if self.dearer_above.is_some_and(|most| usage.input_tokens > most) { (4, 3) } else { (2, 2) };
        let parts = [
            (usage.input_tokens.saturating_sub(in_caches), self.input, question),
            (usage.cached_tokens, self.cached.unwrap_or(self.input), question),
            (usage.cache_written_tokens, self.cache_written.unwrap_or(self.input), question),
            (usage.output_tokens, self.output, answer),
        ];
        let halves = parts
            .iter()
            .map(|(tokens, price, times)| (u128::from(*tokens) * u128::from(price.0)).saturating_mul(*times))
            .fold(0, u128::saturating_add);
        Money(u64::try_from(halves.div_ceil(2_000)).unwrap_or(u64::MAX))
    }
}

/// An amount of money, in billionths of the currency's unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(u64);

impl Money {
    /// From billionths.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// In billionths.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// What is left of it without the other; nothing if that is more.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// One of so many equal parts, rounded down; all of it if there are none.
    #[must_use]
    pub const fn part(self, parts: u32) -> Self {
        Self(self.0 / if parts == 0 { 1 } else { parts as u64 })
    }

    /// Whether it is nothing.
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// Both together; the largest amount there is if that is more.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Why a number is no amount of money.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("an amount of money is between 0 and 1000000000, not {0}")]
pub struct MoneyError(f64);

impl TryFrom<f64> for Money {
    type Error = MoneyError;

    /// Rounds to the nearest billionth.
    fn try_from(units: f64) -> Result<Self, Self::Error> {
        if !(0.0..=1e9).contains(&units) {
            return Err(MoneyError(units));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and 1e18, checked above"
        )]
        let nanos = (units * 1e9).round() as u64;
        Ok(Self(nanos))
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
        let dear = Prices::new(Price::from_micros(u64::MAX), Price::from_micros(0));
        assert_eq!(dear.cost(&Usage::reported(u64::MAX, 0)), Money::from_nanos(u64::MAX));
    }

    #[test]
    fn tokens_in_a_cache_have_prices_of_their_own() {
        let million = |units: u64| Price::from_micros(units * 1_000_000);
        let usage = Usage { cached_tokens: 500_000, cache_written_tokens: 200_000, ..Usage::reported(1_000_000, 0) };
        let plain = Prices::new(million(10), million(0));
        assert_eq!(plain.cost(&usage).to_string(), "10");
        let cheaper = Prices { cached: Some(million(1)), cache_written: Some(million(20)), ..plain };
        assert_eq!(cheaper.cost(&usage).to_string(), "7.5");
    }

    #[test]
    fn the_most_that_a_request_can_cost_is_at_the_dearest_price_of_its_tokens() {
        let million = |units: u64| Price::from_micros(units * 1_000_000);
        let prices = Prices { cache_written: Some(million(2)), ..Prices::new(million(1), million(5)) };
        let request = Request::new(vec![Message::user("x".repeat(968))], 100);
        assert_eq!(prices.most(&request), Money::from_nanos(2_000 * 2_000 + 100 * 5_000));
    }

    #[test]
    fn what_is_no_amount_of_money_is_refused() {
        for number in [-0.01, f64::NAN, f64::INFINITY, 1e10] {
            assert!(Money::try_from(number).is_err(), "{number}");
        }
        assert_eq!(Money::try_from(0.05).map(Money::nanos), Ok(50_000_000));
    }

    #[test]
    fn what_is_no_price_is_refused() {
        for number in [-0.01, f64::NAN, f64::INFINITY, 1e7] {
            assert!(Price::try_from(number).is_err(), "{number}");
        }
        assert_eq!(Price::try_from(0.15), Ok(Price::from_micros(150_000)));
    }

    #[test]
    fn money_shows_the_digits_it_has() {
        for (nanos, expected) in [(0, "0"), (2_500_000_000, "2.5"), (1, "0.000000001"), (10_000_000_000, "10")] {
            assert_eq!(Money::from_nanos(nanos).to_string(), expected);
        }
    }
}
