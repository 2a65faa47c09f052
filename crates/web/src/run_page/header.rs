//! The head of a run's page: what was asked, how far it is, what it spent, and what can be done with it.

use maud::{Markup, html};
use reknit_engine::{RunOverview, Spent, StepState};

use super::RunFacts;
use crate::frame::PageFrame;
use crate::marks::{badge, run_mark};
use crate::outside_text::{one_line, plain_text};
use crate::words::{ago, between, compare_path, cost, count, run_path};

/// Longer requests are folded.
const TITLE_CHARS: usize = 200;

pub(super) fn of_run(frame: &PageFrame<'_>, facts: &RunFacts<'_>, run: &RunOverview) -> Markup {
    let done = run.steps.iter().filter(|step| step.state == StepState::Done).count();
    let steps = (!run.steps.is_empty()).then(|| format!("{done} of {}", count(run.steps.len(), "step")));
    let metadata: Vec<(String, String)> =
        run.metadata.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    html! {
        (head(frame, facts, &run.request, steps.as_deref(), &run.spent))
        @if run.retries > 0 { p.muted { "Retried " (count(run.retries, "time")) "." } }
        @if !run.attachments.is_empty() { p.muted { "Attached: " (one_line(&run.attachments.join(", "), 300)) } }
        @if !metadata.is_empty() {
            dl.metadata { @for (key, value) in &metadata { dt { (plain_text(key)) } dd { (plain_text(value)) } } }
        }
    }
}

pub(super) fn head(
    frame: &PageFrame<'_>,
    facts: &RunFacts<'_>,
    request: &str,
    steps: Option<&str>,
    spent: &Spent,
) -> Markup {
    let end_ms = if facts.status == "running" { frame.now_ms } else { facts.updated_ms };
    html! {
        header.run {
            h1 { (title(request)) }
            ul.figures {
                li { (badge(run_mark(facts.status))) }
                @if let Some(steps) = steps { li { (steps) } }
                li title="From the first event to the last" { (between(facts.created_ms, end_ms)) }
                li { (count(spent.tool_calls, "tool call")) }
                li { (count(spent.model_calls, "model call")) }
                @if spent.input_tokens + spent.output_tokens > 0 {
                    li title="Tokens sent and received" { (spent.input_tokens) " + " (spent.output_tokens) " tokens" }
                }
                li title="What models cost, in the currency of their prices" { "cost " (cost(spent)) }
                li { "started " (ago(facts.created_ms, frame.now_ms)) @if frame.now_ms > facts.created_ms + 5_000 { " ago" } }
            }
            (actions(frame, facts))
        }
    }
}

fn title(request: &str) -> Markup {
    let shown = plain_text(request);
    let line = one_line(request, TITLE_CHARS);
    html! {
        @if shown.trim().is_empty() {
            "(no request)"
        } @else if line == shown.trim() {
            (line)
        } @else {
            details.title { summary { (line) } div.whole { (shown) } }
        }
    }
}

/// Buttons for what can be done in this state, and what happens then.
fn actions(frame: &PageFrame<'_>, facts: &RunFacts<'_>) -> Markup {
    let path = run_path(facts.run);
    let button = |action: &str, word: &str, why: &str| {
        html! {
            form method="post" action={(path) "/" (action)} { button type="submit" title=(why) { (word) } }
        }
    };
    let can_retry = matches!(facts.status, "partial" | "failed" | "budget_exhausted");
    html! {
        div.actions {
            @if frame.may_run {
                @if can_retry {
                    (button("retry", "Retry what failed", "Failed and skipped steps are tried again; done steps stay done"))
                }
                @if facts.status == "stopped" { (button("resume", "Resume", "The run goes on where its process ended")) }
                @if !facts.has_ended() && facts.status != "parked" {
                    (button("cancel", "Cancel", "The run ends with what it has; calls in progress may still complete"))
                }
            }
            a.button href=(compare_path(facts.run)) title="Two runs side by side: what differs in steps, results, cost and time" { "Compare with…" }
            a.button href={"/ui" (path) "/events.jsonl"} download={(one_line(facts.run, 80)) ".jsonl"} { "Download events" }
            span.id { "run " code { (one_line(facts.run, 80)) } button.copy type="button" hidden data-copy=(facts.run) { "Copy" } }
        }
    }
}
