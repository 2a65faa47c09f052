//! The request, and the replies of the scripted model.
//!
//! The rules of the script match the first line of the system message (`purpose: plan_generation`, `error_analysis`, `semantic_retry`,
//! `synthesis`) and the line `capability: <name>` in the user message.

use reknit_fakes::Reply;
use reknit_fakes::model::{RequestMatcher, Script};
use reknit_protocol::Number;

use crate::currency::exact_product;
use crate::data::Data;

pub const REQUEST: &str = "I want to sell 100 Tesla shares to pay for a trip to Seoul. How much is that in won, and what is \
    the weather like there? And what does a share of Hanok Tours cost?";

/// The plan as a careless model writes it: in prose, in a code fence, with trailing commas, and with an amount that the
/// model could not know.
pub const PLAN: &str = r#"Sure! To answer this I need a share price, the coordinates of Seoul, its weather and a conversion.
Here is the plan:

```json
{
  "plan_id": "trip-to-seoul",
  "original_request": "I want to sell 100 Tesla shares to pay for a trip to Seoul. How much is that in won, and what is the weather like there? And what does a share of Hanok Tours cost?",
  "mode": "autonomous",
  "steps": [
    {
      "step_id": "step-1",
      "agent_name": "stock-tool",
      "instruction": "Get the price of a Tesla share",
      "depends_on": [],
      "metadata": {"capability": "get_stock_quote", "parameters": {"symbol": "TSLA",}}
    },
    {
      "step_id": "step-2",
      "agent_name": "geocoding-tool",
      "instruction": "Find the coordinates of Seoul",
      "depends_on": [],
      "metadata": {"capability": "geocode", "parameters": {"location": "Seoul"}}
    },
    {
      "step_id": "step-3",
      "agent_name": "weather-tool",
      "instruction": "Get the weather in Seoul",
      "depends_on": ["step-2"],
      "metadata": {"capability": "get_weather", "parameters": {"lat": "{{step-2.lat}}", "lon": "{{step-2.lon}}"}}
    },
    {
      "step_id": "step-4",
      "agent_name": "currency-tool",
      "instruction": "Convert the proceeds of 100 Tesla shares to won",
      "depends_on": ["step-1"],
      "metadata": {"capability": "convert_currency", "parameters": {"from": "USD", "to": "KRW", "amount": 0}}
    },
    {
      "step_id": "step-5",
      "agent_name": "stock-tool",
      "instruction": "Get the price of a share of Hanok Tours",
      "depends_on": [],
      "metadata": {"capability": "get_stock_quote", "parameters": {"symbol": "HANOK"}}
    },
  ]
}
```

Let me know if you would like me to change anything!"#;

/// The first repair of `amount must be greater than 0`, which sees the error alone: it gives up, because nothing shows the
/// right amount.
pub const AMOUNT_FEEDBACK: &str = r#"{"should_retry": false, "reason": "The amount must be positive, but nothing here says what it should be.", "suggested_changes": {}, "is_transient_error": false}"#;

/// The second repair, which also sees the results of other steps: it computes the amount with an expression.
pub const AMOUNT_CONTEXT: &str = r#"{"should_retry": true, "analysis": "The user sells 100 shares and step-1 has the price of one, so the amount is their product.", "corrected_parameters": {"amount": "{{100 * step-1.current_price}}"}}"#;

/// The first repair of the unknown symbol gives up: a company that is not listed has no symbol.
pub const SYMBOL_FEEDBACK: &str = r#"{"should_retry": false, "reason": "Hanok Tours is not among the known symbols; another symbol would be the price of another company.", "suggested_changes": {}, "is_transient_error": false}"#;

/// The second repair of the unknown symbol gives up as well.
pub const SYMBOL_CONTEXT: &str = r#"{"should_retry": false, "analysis": "Neither the request nor any result names a symbol for Hanok Tours. It does not seem to be listed.", "corrected_parameters": {}}"#;

/// The answer, with the figures of the embedded data: a model would read them in the results.
pub(crate) fn synthesis(data: &Data) -> Option<String> {
    let price = &data.shares.iter().find(|share| share.symbol == "TSLA")?.current_price.0;
    let rate = &data.rates.iter().find(|rate| rate.from == "USD" && rate.to == "KRW")?.rate.0;
    let proceeds = exact_product(&Number::from(100), price)?;
    let won = exact_product(&proceeds, rate)?;
    let weather = data.weather.iter().find(|weather| weather.station == "Seoul")?;
    Some(format!(
        "100 Tesla shares bring {} US dollars, which is {} won. In Seoul it is {}, at {} °C. No price was found for a share of \
         Hanok Tours, which does not seem to be listed.",
        grouped(&proceeds),
        grouped(&won),
        weather.condition,
        weather.celsius.0,
    ))
}

/// A number with commas between its thousands.
fn grouped(number: &Number) -> String {
    let text = number.to_string();
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let digits: Vec<char> = whole.chars().collect();
    let groups: Vec<String> = digits.rchunks(3).rev().map(|group| group.iter().collect()).collect();
    groups.join(",") + fraction
}

/// The rules of the scripted model.
pub(crate) fn script(answer: &str) -> Script {
    let about = |purpose: &str, capability: &str| {
        RequestMatcher::any().purpose(purpose).says(format!("capability: {capability}"))
    };
    Script::new()
        .on(RequestMatcher::any().purpose("plan_generation"), Reply::text(PLAN))
        .on(about("error_analysis", "convert_currency"), Reply::text(AMOUNT_FEEDBACK))
        .on(about("semantic_retry", "convert_currency"), Reply::text(AMOUNT_CONTEXT))
        .on(about("error_analysis", "get_stock_quote"), Reply::text(SYMBOL_FEEDBACK))
        .on(about("semantic_retry", "get_stock_quote"), Reply::text(SYMBOL_CONTEXT))
        .on(RequestMatcher::any().purpose("synthesis"), Reply::text(answer))
}
