//! The models in the order in which they are asked: whether they can be asked now, what they cost, and how they did.

use maud::{Markup, html};
use reknit_model_api::{OnAuthError, Price, Prices, RotationPolicy, RotationRules};
use reknit_protocol::human_duration;

use crate::frame::{PageFrame, Tab, framed, table};
use crate::marks::{ListedHealth, health};
use crate::outside_text::{block, one_line};
use crate::run_usage::{ModelUse, RunUsage};
use crate::words::{ago, count, money};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedModel {
    /// Its name in the configuration.
    pub name: String,
    /// Who provides it, and their name for it; `None` if code of the program answers.
    pub model: Option<(String, String)>,
    /// How many tokens a question may have, if that is known.
    pub context_window: Option<u32>,
    /// What a million tokens cost; `None` if no price is known.
    pub prices: Option<Prices>,
    pub health: Option<ListedHealth>,
}

const COLUMNS: [&str; 9] = [
    "Model",
    "State",
    "#Price per million tokens",
    "#Asked",
    "#No answer",
    "#Tokens in, out",
    "#Cost",
    "#Mean time",
    "Last failure",
];

/// The page with the models, the one that is asked first above.
pub fn models_page(
    frame: &PageFrame<'_>,
    models: &[ListedModel],
    rotation: &RotationRules,
    usage: &RunUsage,
) -> Markup {
    let none = ModelUse::default();
    let of = |name: &str| usage.models.get(name).unwrap_or(&none);
    let is_open = |model: &ListedModel| !model.health.is_some_and(|health| health.is_closed_to_calls());
    let first = models.iter().position(is_open);
    let rows = html! {
        @for (index, model) in models.iter().enumerate() { (row(frame, index, model, of(&model.name), first == Some(index))) }
    };
    let content = html! {
        h1 { "Models" }
        @if models.is_empty() {
            section.empty {
                h2 { "No model is configured" }
                p { "Plans run without one. " code { "reknit models" } " says which one would be used, and how to add one." }
            }
        } @else {
            p { (rotation_words(rotation, models.len())) }
            p.muted { "Counted over the newest " (count(usage.runs, "run")) ". Cost is at the prices of now." }
            (table("plain models", &COLUMNS, &rows))
        }
    };
    framed(frame, "Models", Tab::Models, None, &content)
}

/// How the next model is chosen when one does not answer.
fn rotation_words(rules: &RotationRules, models: usize) -> String {
    let order = match rules.policy {
        _ if models < 2 => "There is no other model to ask when this one fails",
        RotationPolicy::Advance => {
            "Every question starts at the first model, and each failed attempt goes to the next one"
        }
        RotationPolicy::PreferPrimary => {
            "Every question starts at the first model, which gets a second attempt where that can help; then the next one is asked"
        }
    };
    let refused = match rules.on_auth_error {
        OnAuthError::End => "A refused key or an exceeded quota ends the question, so that you notice.",
        OnAuthError::Skip => "A model that refuses its key or has no quota left is left out.",
    };
    format!("{order}. A question has at most {}. {refused}", count(rules.max_attempts, "attempt"))
}

fn row(frame: &PageFrame<'_>, index: usize, model: &ListedModel, own: &ModelUse, is_first: bool) -> Markup {
    html! {
        tr data-item {
            td {
                span.muted { (index + 1) ". " } strong { (one_line(&model.name, 80)) }
                @if let Some((provider, name)) = &model.model {
                    div.muted.small { (one_line(provider, 40)) " " code { (one_line(name, 80)) } }
                }
                @if let Some(tokens) = model.context_window { div.muted.small { (tokens) " tokens of context" } }
            }
            td {
                @if let Some(own) = &model.health { (health(frame, own)) }
                @if is_first { div.muted.small { "asked first" } }
            }
            td.number { (prices(model.prices.as_ref())) }
            td.number { (own.asked) }
            td.number { @if own.failed > 0 { span.problem { (own.failed) } } @else { "0" } }
            td.number { (own.input_tokens) ", " (own.output_tokens) }
            td.number { (money(own.nanos)) }
            td.number { @if own.asked > 0 { (human_duration(own.took_ms / own.asked)) } @else { "–" } }
            td { @if let Some((at_ms, error)) = &own.last_failure { (ago(*at_ms, frame.now_ms)) " ago" (block(error)) } @else { "none" } }
        }
    }
}

fn prices(prices: Option<&Prices>) -> Markup {
    let Some(prices) = prices else { return html! { "not known" } };
    let rows = [("sent", Some(prices.input)), ("received", Some(prices.output)), ("from the cache", prices.cached)];
    html! {
        @for (word, price) in rows {
            @if let Some(price) = price { div { (per_million(price)) " " span.muted { (word) } } }
        }
    }
}

/// A price as people write it: `2.50`, `0.075`.
fn per_million(price: Price) -> String {
    let micros = price.micros();
    let digits = format!("{:06}", micros % 1_000_000);
    let digits = digits.trim_end_matches('0');
    format!("{}.{digits:0<2}", micros / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_has_two_digits_or_as_many_as_it_needs() {
        let prices = [0, 75_000, 2_500_000, 15_000_000].map(|micros| per_million(Price::from_micros(micros)));
        assert_eq!(prices, ["0.00", "0.075", "2.50", "15.00"]);
    }
}
