//! The models in the order in which they are asked, with their prices and how they did.

use maud::{Markup, html};
use reknit_protocol::human_duration;

use crate::frame::{PageFrame, Tab, framed};
use crate::outside_text::{block, one_line};
use crate::run_usage::{ModelUse, RunUsage};
use crate::words::ago;

/// A model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedModel {
    /// Its name in the configuration.
    pub name: String,
    /// What a million tokens cost, sent and received; `None` if no price is known.
    pub prices: Option<(String, String)>,
}

/// The page with the models, the one that is asked first above.
pub fn models_page(frame: &PageFrame<'_>, models: &[ListedModel], usage: &RunUsage, runs: usize) -> Markup {
    let none = ModelUse::default();
    let of = |name: &str| usage.models.get(name).unwrap_or(&none);
    let content = html! {
        h1 { "Models" }
        @if models.is_empty() {
            section.empty {
                h2 { "No model is configured" }
                p { "Plans run without one. " code { "reknit models" } " says which one would be used, and how to add one." }
            }
        } @else {
            p.muted { "In the order in which they are asked; when one fails, the next takes over. Counted over the newest " (runs) " runs." }
            div.scroll {
                table.plain {
                    thead {
                        tr {
                            th scope="col" { "Model" } th.number scope="col" { "Price in, out per million" } th.number scope="col" { "Asked" }
                            th.number scope="col" { "No answer" } th.number scope="col" { "Tokens in, out" } th.number scope="col" { "Mean time" }
                            th scope="col" { "Last failure" }
                        }
                    }
                    tbody { @for model in models { (row(frame, model, of(&model.name))) } }
                }
            }
        }
    };
    framed(frame, "Models", Tab::Models, None, &content)
}

fn row(frame: &PageFrame<'_>, model: &ListedModel, own: &ModelUse) -> Markup {
    html! {
        tr data-item {
            td { strong { (one_line(&model.name, 80)) } }
            td.number { @match &model.prices { Some((input, output)) => { (input) ", " (output) }, None => "not known" } }
            td.number { (own.asked) }
            td.number { @if own.failed > 0 { span.problem { (own.failed) } } @else { "0" } }
            td.number { (own.input_tokens) ", " (own.output_tokens) }
            td.number { @if own.asked > 0 { (human_duration(own.took_ms / own.asked)) } @else { "–" } }
            td { @if let Some((at_ms, error)) = &own.last_failure { (ago(*at_ms, frame.now_ms)) " ago" (block(error)) } @else { "none" } }
        }
    }
}
