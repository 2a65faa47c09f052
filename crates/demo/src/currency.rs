//! `currency-tool`: converts amounts of money exactly.

use std::sync::Arc;

use reknit_protocol::tool::codes;
use reknit_protocol::{Category, Decimal, Exactness, Number, Retryable, SideEffect, ToolError, Value};
use reknit_tool_service::{CallContext, CapabilityDefinition, ExactNumber, Handler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::{Data, ExchangeRate};
use crate::faults::{FailureCountdown, unavailable};

#[derive(Debug, Deserialize, JsonSchema)]
struct Args {
    /// The currency the amount is in, as a code of three letters.
    #[schemars(example = &"USD")]
    from: String,
    /// The currency wanted, as a code of three letters.
    #[schemars(example = &"KRW")]
    to: String,
    /// The amount to convert; greater than 0.
    #[schemars(example = 1500.5)]
    amount: ExactNumber,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Conversion {
    /// The currency the amount is in.
    from: String,
    /// The currency wanted.
    to: String,
    /// The amount as it came.
    amount: ExactNumber,
    /// What one unit is worth.
    rate: ExactNumber,
    /// The amount in the currency wanted, not rounded.
    converted: ExactNumber,
}

#[derive(Debug)]
struct ConversionHandler {
    data: Arc<Data>,
    down: FailureCountdown,
}

pub(crate) fn capability(data: &Arc<Data>, down: u32) -> CapabilityDefinition {
    let handler = ConversionHandler { data: Arc::clone(data), down: FailureCountdown::new(down) };
    CapabilityDefinition::new("convert_currency", SideEffect::Read, handler)
        .description("Converts an amount of money from one currency to another")
        .output::<Conversion>()
}

impl Handler<Args> for ConversionHandler {
    type Output = Conversion;

    async fn call(&self, _: CallContext, args: Args) -> Result<Conversion, ToolError> {
        if self.down.next_fails() {
            return Err(unavailable("the list of rates"));
        }
        if args.amount.0 <= Number::default() {
            return Err(not_positive(&args.amount));
        }
        let rate = self.rate(&args.from, &args.to).ok_or_else(|| self.unknown_rate(&args.from, &args.to))?;
        let converted = exact_product(&args.amount.0, &rate.rate.0).ok_or_else(|| too_long(&args.amount))?;
        Ok(Conversion {
            from: rate.from.clone(),
            to: rate.to.clone(),
            rate: rate.rate.clone(),
            converted: converted.into(),
            amount: args.amount,
        })
    }
}

impl ConversionHandler {
    fn rate(&self, from: &str, to: &str) -> Option<&ExchangeRate> {
        let is = |code: &str, input: &str| code.eq_ignore_ascii_case(input.trim());
        self.data.rates.iter().find(|rate| is(&rate.from, from) && is(&rate.to, to))
    }

    fn unknown_rate(&self, from: &str, to: &str) -> ToolError {
        let mut known: Vec<&str> = self.data.rates.iter().map(|rate| rate.from.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        let message = format!("there is no rate from `{from}` to `{to}`");
        ToolError::new(codes::RESOURCE_NOT_FOUND, message, Category::NotFound)
            .retryable(Retryable::Yes)
            .detail("known_currencies", known.into_iter().map(Value::from).collect::<Vec<_>>())
            .detail("hint", "use two different codes of three letters, for example USD and KRW")
    }
}

fn not_positive(amount: &ExactNumber) -> ToolError {
    ToolError::new("INVALID_AMOUNT", "amount must be greater than 0", Category::InputError)
        .retryable(Retryable::Yes)
        .detail("field", "amount")
        .detail("amount", amount.0.clone())
}

fn too_long(amount: &ExactNumber) -> ToolError {
    ToolError::new(codes::INVALID_FORMAT, "amount has too many digits", Category::InputError)
        .retryable(Retryable::Yes)
        .detail("field", "amount")
        .detail("digits", amount.to_string().len())
        .detail("hint", "send an amount of at most 24 digits")
}

/// Enough for any amount of money.
const MAX_DIGITS: usize = 24;

/// The exact product; `None` if a factor has more than [`MAX_DIGITS`] digits.
pub(crate) fn exact_product(left: &Number, right: &Number) -> Option<Number> {
    let (product, exactness) = decimal(left)?.checked_mul(decimal(right)?).ok()?;
    product.to_number().ok().filter(|_| exactness == Exactness::Exact)
}

fn decimal(number: &Number) -> Option<Decimal> {
    // The canonical text has an exponent only if the number is far outside the accepted range.
    let text = number.canonical();
    let is_accepted = text.len() <= MAX_DIGITS && !text.contains('e');
    Decimal::from_number(number).ok().map(|(decimal, _)| decimal).filter(|_| is_accepted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap()
    }

    #[test]
    fn a_product_keeps_every_digit() {
        for (left, right, expected) in [
            ("46828.5", "1391.25", "65150150.625"),
            ("3", "19.99", "59.97"),
            ("0.1", "0.2", "0.02"),
            ("4.68285e4", "2", "93657"),
            ("-1.5", "2", "-3"),
            ("1000", "0.001", "1"),
            ("0", "7.5", "0"),
            ("0.000001", "0.00071878", "7.1878e-10"),
        ] {
            assert_eq!(exact_product(&number(left), &number(right)).unwrap().to_string(), expected, "{left} * {right}");
        }
    }

    #[test]
    fn a_number_with_too_many_digits_is_refused() {
        for long in ["1e300", "1234567890123456789012345", "1e-30"] {
            assert_eq!(exact_product(&number(long), &number("2")), None, "{long}");
        }
    }

    proptest! {
        #[test]
        fn hundredths_multiply_like_integers(left in -1_000_000_i64..1_000_000, right in -1_000_000_i64..1_000_000) {
            let hundredths = |value: i64| number(&format!("{value}e-2"));
            let expected = number(&format!("{}e-4", left * right));
            prop_assert_eq!(exact_product(&hundredths(left), &hundredths(right)), Some(expected));
        }
    }
}
