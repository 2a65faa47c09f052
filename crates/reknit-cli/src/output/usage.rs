//! Text about what a run used: calls, time and cost.

use reknit_engine::Spent;
use reknit_model_api::Money;
use reknit_protocol::Value;

/// Replaces the costs of a serialized [`Spent`], which are in billionths, by decimal amounts.
pub(crate) fn with_decimal_costs(value: Value) -> Value {
    let Value::Object(mut fields) = value else { return value };
    for name in ["cost", "estimated_cost", "reserved_cost"] {
        let nanos = fields.get(name).and_then(|nanos| nanos.to_string().parse().ok());
        let amount = nanos.and_then(|nanos| Value::parse(&Money::from_nanos(nanos).to_string()).ok());
        if let Some(amount) = amount {
            fields.insert(name, amount);
        }
    }
    Value::Object(fields)
}

/// `1 tool call, 2 model calls, 0.0012 for models`.
pub(crate) fn usage_summary(spent: &Spent) -> String {
    let calls = [count(spent.tool_calls, "tool call"), count(spent.model_calls, "model call")];
    calls.into_iter().chain(cost_summary(spent)).collect::<Vec<_>>().join(", ")
}

/// `0.0012 for models (0.0004 of it estimated)`; `None` if the models have no prices.
fn cost_summary(spent: &Spent) -> Option<String> {
    if spent.cost.is_zero() {
        return None;
    }
    let notes = [
        Some(format!("{} of it estimated", spent.estimated_cost)).filter(|_| !spent.estimated_cost.is_zero()),
        Some(format!("{} without a price", count(spent.unpriced_calls, "call"))).filter(|_| spent.unpriced_calls > 0),
    ];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    Some(format!("{} for models{notes}", spent.cost))
}

/// `1 step`, `2 steps`, `2 capabilities`.
pub(crate) fn count(number: impl std::fmt::Display, thing: &str) -> String {
    let number = number.to_string();
    match thing.strip_suffix("ity") {
        _ if number == "1" => format!("1 {thing}"),
        Some(stem) => format!("{number} {stem}ities"),
        None => format!("{number} {thing}s"),
    }
}

/// `12 ms`, `4.2 s`.
pub(crate) fn duration(ms: u64) -> String {
    if ms < 1_000 { format!("{ms} ms") } else { seconds(ms) }
}

/// `4.2 s`.
pub(crate) fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1_000, ms % 1_000 / 100)
}
