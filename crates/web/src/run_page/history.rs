//! What happened to a step, in order: calls with what changed, waits, questions to models and people, repairs.

use maud::{Markup, html};
use reknit_engine::{Decision, HistoryEntry, HistoryKind};
use reknit_mend::MendAction;
use reknit_protocol::{Object, human_duration};
use reknit_telemetry::Interaction;

use super::RunFacts;
use crate::marks::{rung_chip, rung_words};
use crate::outside_text::{block, one_line, plain_text};
use crate::parameter_diff::diff;
use crate::sourced_value::inline;

const MAX_ENTRIES: usize = 60;

pub(super) fn entries(facts: &RunFacts<'_>, step: Option<&str>, entries: &[HistoryEntry]) -> Markup {
    let mut exchanges: Vec<&Interaction> =
        facts.interactions.into_iter().flatten().filter(|known| known.step.as_deref() == step).collect();
    let mut before: Option<&Object> = None;
    let mut calls = 0;
    let mut shown = Vec::new();
    for entry in entries {
        if shown.len() == MAX_ENTRIES {
            break;
        }
        shown.push(match &entry.kind {
            HistoryKind::Called { parameters, status, error, mended } => {
                calls += 1;
                let outcome = CallOutcome { number: calls, status: *status, error: error.as_deref(), mended };
                let item = call(entry, parameters, before, &outcome);
                before = Some(parameters);
                item
            }
            HistoryKind::Asked { rung, target, usage, error } => {
                let is_own = |known: &&Interaction| known.asked_ms == entry.at_ms && known.target == *target;
                let exchange = exchanges.iter().position(is_own).map(|at| exchanges.remove(at));
                let tokens = usage.map(|usage| format!("{} + {} tokens", usage.input_tokens, usage.output_tokens));
                asked(facts, entry, (rung, target.as_str()), tokens.as_deref(), error.as_deref(), exchange)
            }
            _ => other(entry),
        });
    }
    html! {
        ol.history { @for item in &shown { (item) } }
        @if entries.len() > MAX_ENTRIES { p.muted { (entries.len() - MAX_ENTRIES) " more entries are in the events." } }
    }
}

struct CallOutcome<'c> {
    number: usize,
    status: Option<u16>,
    error: Option<&'c str>,
    mended: &'c [String],
}

fn call(entry: &HistoryEntry, parameters: &Object, before: Option<&Object>, outcome: &CallOutcome<'_>) -> Markup {
    let CallOutcome { number, status, error, mended } = outcome;
    html! {
        li.call.failed[error.is_some()] id={"attempt-" (number)} {
            p {
                strong { "Call " (number) } " "
                @match (error, status) {
                    (None, Some(status)) => { span.badge.done { "● " (status) } },
                    (None, None) => { span.badge.done { "● accepted" } },
                    (Some(_), Some(status)) => { span.badge.failed { "✕ " (status) } },
                    (Some(_), None) => { span.badge.failed { "✕ no reply" } },
                }
                " " span.muted { (human_duration(entry.took_ms)) }
            }
            @match before {
                Some(before) => (diff(before, parameters)),
                None if parameters.is_empty() => { p.muted { "Without parameters." } },
                None => { dl.values { @for (name, value) in parameters { dt { (plain_text(name)) } dd { (inline(value)) } } } },
            }
            @if let Some(error) = error { (block(error)) }
            @if !mended.is_empty() { p { "The JSON of the reply was repaired: " (plain_text(&mended.join("; "))) } }
        }
    }
}

fn asked(
    facts: &RunFacts<'_>,
    entry: &HistoryEntry,
    (rung, target): (&str, &str),
    tokens: Option<&str>,
    error: Option<&str>,
    exchange: Option<&Interaction>,
) -> Markup {
    let about = match rung {
        "plan" => "for a plan",
        "tool_selection" => "which tools the plan may need",
        "answer" => "to write the answer",
        _ => "how to mend the call",
    };
    html! {
        li.model {
            p {
                strong { "Model " (one_line(target, 60)) } " was asked " (about) " "
                @if !rung_words(rung).is_empty() { (rung_chip(rung)) " " }
                span.muted { @if let Some(tokens) = tokens { (tokens) ", " } (human_duration(entry.took_ms)) }
            }
            @if let Some(error) = error { (block(error)) }
            @match (exchange, facts.interactions) {
                (Some(exchange), _) => (question(exchange)),
                (None, None) => (hidden(facts.run)),
                (None, Some(_)) => {},
            }
        }
    }
}

fn other(entry: &HistoryEntry) -> Markup {
    let took = human_duration(entry.took_ms);
    match &entry.kind {
        HistoryKind::Mended(mend) => {
            let done = match mend.action() {
                MendAction::Changed => "Changed by ",
                MendAction::SentAgain => "Sent again by ",
                MendAction::Settled => "Settled by ",
                MendAction::NoHelp => "No help by ",
            };
            html! {
                li.mend {
                    p { strong { (done) } (rung_chip(mend.rung.as_str())) " " span.muted { (rung_words(mend.rung.as_str())) } }
                    (block(&mend.description))
                }
            }
        }
        HistoryKind::Waited => html! { li.wait { p { "Waited " (took) " before the next attempt." } } },
        HistoryKind::AwaitedJob { asked } => html! {
            li.wait { p { "Waited " (took) " for a job of the tool, which was asked " (crate::words::count(*asked, "time")) "." } }
        },
        HistoryKind::Checked { capability, parameters, status } => html! {
            li.call {
                p {
                    (one_line(capability, 80)) " was asked whether the call took effect: "
                    @match status { Some(status) => { "status " (status) }, None => "no answer" }
                    " " span.muted { (took) }
                }
                dl.values { @for (name, value) in parameters { dt { (plain_text(name)) } dd { (inline(value)) } } }
            }
        },
        HistoryKind::BreakerOpen => html! { li.wait { p { "Not sent: a circuit breaker was open." } } },
        HistoryKind::KeyFound(finding) => {
            html! { li.wait { p { "Not sent: " (plain_text(&finding.to_string())) "." } } }
        }
        HistoryKind::Interrupted => html! {
            li.call.failed { p { "The process ended during the call; its outcome is unknown." } }
        },
        HistoryKind::Decided { decision, by } => decided(decision, by.as_str(), &took),
        HistoryKind::Called { .. } | HistoryKind::Asked { .. } => html! {},
    }
}

fn decided(decision: &Decision, by: &str, took: &str) -> Markup {
    html! {
        li.person {
            p {
                @match decision {
                    Decision::Approve => { strong { "Approved" } " by " (by) },
                    Decision::Edit { .. } => { strong { "Approved with other parameters" } " by " (by) },
                    Decision::Deny { .. } => { strong { "Denied" } " by " (by) },
                    Decision::Happened { .. } => { strong { "Settled" } " by " (by) ": the call took effect" },
                    Decision::DidNotHappen => { strong { "Settled" } " by " (by) ": the call did not take effect" },
                    Decision::Check => { "Another check was asked for by " (by) },
                }
                " " span.muted { "after " (took) }
            }
            @match decision {
                Decision::Deny { reason: Some(reason) } => (block(reason)),
                Decision::Edit { parameters } => (block(&parameters.to_string())),
                _ => {},
            }
        }
    }
}

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
