//! `currency-tool`: amounts in another currency, exact to the last digit.

mod product;

use std::sync::Arc;

use reknit_protocol::tool::codes;
use reknit_protocol::{Category, Effect, Number, Retryable, ToolError, Value};
use reknit_toolkit::{CallContext, Capability, Exact, Handler, Service};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::{Data, ExchangeRate};
use crate::faults::{Countdown, unavailable};
use product::product;

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
    amount: Exact,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Conversion {
    /// The currency the amount is in.
    from: String,
    /// The currency wanted.
    to: String,
    /// The amount as it came.
    amount: Exact,
    /// What one unit is worth.
    rate: Exact,
    /// The amount in the currency wanted, not rounded.
    converted: Exact,
}

#[derive(Debug)]
struct Bureau {
    data: Arc<Data>,
    down: Countdown,
}

/// The tool.
pub(crate) fn service(data: &Arc<Data>, down: u32) -> Service {
    let bureau = Bureau { data: Arc::clone(data), down: Countdown::new(down) };
    Service::new("currency-tool").describe("Amounts of money in another currency").capability(
        Capability::new("convert_currency", Effect::Read, bureau)
            .describe("Converts an amount of money from one currency to another")
            .answers_with::<Conversion>(),
    )
}

impl Handler<Args> for Bureau {
    type Output = Conversion;

    async fn call(&self, _: CallContext, args: Args) -> Result<Conversion, ToolError> {
        if self.down.fails() {
            return Err(unavailable("the list of rates"));
        }
        if args.amount.0 <= Number::default() {
            return Err(not_positive(&args.amount));
        }
        let rate = self.rate(&args.from, &args.to).ok_or_else(|| self.unknown(&args.from, &args.to))?;
        let converted = product(&args.amount.0, &rate.rate.0).ok_or_else(|| too_long(&args.amount))?;
        Ok(Conversion {
            from: rate.from.clone(),
            to: rate.to.clone(),
            rate: rate.rate.clone(),
            converted: converted.into(),
            amount: args.amount,
        })
    }
}

impl Bureau {
    fn rate(&self, from: &str, to: &str) -> Option<&ExchangeRate> {
        let is = |code: &str, written: &str| code.eq_ignore_ascii_case(written.trim());
        self.data.rates.iter().find(|rate| is(&rate.from, from) && is(&rate.to, to))
    }

    fn unknown(&self, from: &str, to: &str) -> ToolError {
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

fn not_positive(amount: &Exact) -> ToolError {
    ToolError::new("INVALID_AMOUNT", "amount must be greater than 0", Category::InputError)
        .retryable(Retryable::Yes)
        .detail("field", "amount")
        .detail("amount", amount.0.clone())
}

fn too_long(amount: &Exact) -> ToolError {
    ToolError::new(codes::INVALID_FORMAT, "amount has more digits than money has", Category::InputError)
        .retryable(Retryable::Yes)
        .detail("field", "amount")
        .detail("digits", amount.to_string().len())
        .detail("hint", "send an amount of at most 24 digits")
}
