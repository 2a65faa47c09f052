//! A question to a model, word for word, with its answer, tokens and cost.

use maud::{Markup, html};
use reknit_protocol::human_duration;
use reknit_telemetry::Interaction;

use crate::outside_text::{block, one_line};

/// A question with its answer.
pub(super) fn question(interaction: &Interaction) -> Markup {
    let answer = interaction.outcome.as_ref().ok();
    let system = interaction.system_prompt();
    html! {
        details.exchange {
            summary { "What the model saw and answered" }
            dl.facts {
                dt { "Asked for" } dd { (interaction.purpose.as_str().replace('_', " ")) }
                dt { "Model" }
                dd {
                    (one_line(interaction.target.as_str(), 60))
                    @if let Some(answer) = answer { " (" (one_line(&answer.model, 60)) ")" }
                }
                @if let Some(answer) = answer {
                    dt { "Tokens" } dd { (answer.usage.input_tokens) " sent, " (answer.usage.output_tokens) " received" }
                    dt { "Cost" }
                    dd { @match answer.cost { Some(cost) => (cost), None => "no price is known" } }
                }
                dt { "Took" } dd { (human_duration(interaction.duration_ms)) }
            }
            @if !system.is_empty() { p.sub { "Instructions" } (block(&system)) }
            p.sub { "Question" } (block(&interaction.prompt()))
            @match interaction.error() {
                Some(error) => { p.sub { "No answer" } (block(&error)) }
                None => { p.sub { "Answer" } (block(&interaction.response())) }
            }
        }
    }
}

/// Why prompts are not shown, and what to do about it.
pub(super) fn hidden(run: &str) -> Markup {
    html! {
        p.muted {
            "The texts are hidden: " code { "llm-debug.enabled" } " was off when the run started, and you are not the owner. The owner sees them with "
            code { "reknit runs show " (one_line(run, 40)) " --llm" } "."
        }
    }
}
