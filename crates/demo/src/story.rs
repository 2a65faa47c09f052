//! The request, and what the scripted model says to it.
//!
//! Rules look at the first line of the system message (`purpose: plan_generation`, `error_analysis`, `semantic_retry`,
//! `synthesis`) and at the line `capability: <name>` in the user message.

use reknit_testing::Reply;
use reknit_testing::model::{Script, When};

/// What the user asks for.
pub const REQUEST: &str = "I want to sell 100 Tesla shares to pay for a trip to Seoul. How much is that in won, and what is \
    the weather like there? And what does a share of Hanok Tours cost?";

/// The plan as a careless model writes it: in prose, in a fence, with commas that do not belong there, and with an amount
/// it could not know.
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

/// The first look at `amount must be greater than 0`: without the other steps there is nothing to compute from.
pub const AMOUNT_FEEDBACK: &str = r#"{"should_retry": false, "reason": "The amount must be positive, but nothing here says what it should be.", "suggested_changes": {}, "is_transient_error": false}"#;

/// The second look, with the quote in sight: an expression, not a number.
pub const AMOUNT_CONTEXT: &str = r#"{"should_retry": true, "analysis": "The user sells 100 shares and step-1 has the price of one, so the amount is their product.", "corrected_parameters": {"amount": "{{100 * step-1.current_price}}"}}"#;

/// A company that is not listed has no symbol, at the first look and at the second.
pub const SYMBOL_FEEDBACK: &str = r#"{"should_retry": false, "reason": "Hanok Tours is not among the known symbols; another symbol would be the price of another company.", "suggested_changes": {}, "is_transient_error": false}"#;

/// See [`SYMBOL_FEEDBACK`].
pub const SYMBOL_CONTEXT: &str = r#"{"should_retry": false, "analysis": "Neither the request nor any result names a symbol for Hanok Tours. It does not seem to be listed.", "corrected_parameters": {}}"#;

/// An answer in words. It names no number, because a fixed text cannot know any.
pub const SYNTHESIS: &str = "Your Tesla shares were priced and the proceeds converted to won, and the weather in Seoul was \
    looked up; the figures are in the results. No price was found for Hanok Tours, which does not seem to be listed.";

/// The rules of the scripted model.
pub fn script() -> Script {
    let about =
        |purpose: &str, capability: &str| When::any().purpose(purpose).says(format!("capability: {capability}"));
    Script::new()
        .on(When::any().purpose("plan_generation"), Reply::text(PLAN))
        .on(about("error_analysis", "convert_currency"), Reply::text(AMOUNT_FEEDBACK))
        .on(about("semantic_retry", "convert_currency"), Reply::text(AMOUNT_CONTEXT))
        .on(about("error_analysis", "get_stock_quote"), Reply::text(SYMBOL_FEEDBACK))
        .on(about("semantic_retry", "get_stock_quote"), Reply::text(SYMBOL_CONTEXT))
        .on(When::any().purpose("synthesis"), Reply::text(SYNTHESIS))
}
