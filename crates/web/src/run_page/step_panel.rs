//! The panel of a step: its parameters and where they come from, what happened, and its result.

use maud::{Markup, html};
use reknit_engine::{ExplainedStep, RunOverview, StepState, StepView, explain};
use reknit_expressions::Provenance;
use reknit_plan::PlanAuthor;

use super::{RunFacts, history};
use crate::marks::{badge, rung_chip, step_mark};
use crate::outside_text::{block, one_line, plain_text};
use crate::sourced_value::{inline, origin, step_link, tree};
use crate::words::{between, count, run_path, step_path};

/// More lines of a section of the summary are not shown.
const MAX_LINES: usize = 10;
const MAX_ITEMS: usize = 100;

pub(super) fn panel(facts: &RunFacts<'_>, run: &RunOverview, step: &StepView) -> Markup {
    let entries = run.history.get(&step.id).map(Vec::as_slice).unwrap_or_default();
    html! {
        div.step data-step=(step.id.as_str()) {
            header {
                h2 { (one_line(step.id.as_str(), 80)) " " (badge(step_mark(step))) }
                a.close href=(run_path(facts.run)) aria-label="Close the panel" { "✕" }
            }
            p.muted {
                @if !step.tool.as_str().is_empty() { (one_line(step.tool.as_str(), 60)) "/" }
                (one_line(step.capability.as_str(), 60))
                @for rung in crate::marks::mended_by(step) { " " (rung_chip(rung.as_str())) }
            }
            @if !step.instruction.is_empty() { p { (plain_text(&step.instruction)) } }
            (state(facts, step))
            @if let Some(session) = &step.session {
                p { "Its agent works in " a href=(run_path(session.as_str())) { "a session of its own" } "." }
            }
            (parameters(facts, run, step))
            @if !step.needs.is_empty() {
                p.muted { "Needs " @for (index, need) in step.needs.iter().enumerate() { @if index > 0 { ", " } (step_link(facts.run, need.as_str())) } }
            }
            @if !entries.is_empty() {
                h3 { "What happened" }
                (history::entries(facts, Some(step.id.as_str()), entries))
            }
            @if let Some(result) = run.result(&step.id) { h3 { "Result" } (tree(&result)) }
            (items(facts, run, step))
        }
    }
}

/// Why the step is in its state, where that is not plain.
fn state(facts: &RunFacts<'_>, step: &StepView) -> Markup {
    let until = |until_ms: i64| between(facts.updated_ms, until_ms);
    html! {
        @match &step.state {
            StepState::Failed { reason } | StepState::Unconfirmed { reason } => (block(reason)),
            StepState::Skipped { reason } => { p { "Skipped: " (plain_text(reason)) } },
            StepState::BackingOff { until_ms } => { p { "Waits " (until(*until_ms)) " before the same call is sent again." } },
            StepState::Polling { polls, until_ms } => {
                p { "Its result is not yet as wished after " (count(*polls, "call")) "; the next one in " (until(*until_ms)) "." }
            },
            StepState::BreakerOpen { until_ms } => {
                p { "The tool failed too often or is at its limit; it is called again in " (until(*until_ms)) "." }
            },
            StepState::KeyHeld { by, .. } => {
                p { "Another call for the same deed has an unknown outcome: run " a href=(run_path(by.as_str())) { (one_line(by.as_str(), 40)) } "." }
            },
            StepState::Mending(rung) => { p { "A model is asked how to mend the call " (rung_chip(rung.as_str())) "." } },
            StepState::AwaitingJob { asked, problem, .. } => {
                p { "The tool works on a job; it was asked " (count(*asked, "time")) "." }
                @if let Some(problem) = problem { (block(problem)) }
            },
            StepState::AwaitingApproval(_) => { p { "Waits for a person: see the question above." } },
            _ => {},
        }
        @if step.replaced { p { "A second plan does in another way what this step was for." } }
    }
}

fn parameters(facts: &RunFacts<'_>, run: &RunOverview, step: &StepView) -> Markup {
    if step.parameters.is_empty() {
        return html! {};
    }
    let is_calculated = step.provenance.iter().any(|(_, from)| matches!(from, Provenance::Expression { .. }));
    let author = run.planned_by.filter(|_| is_calculated).map(|author| match author {
        PlanAuthor::Model => "A model wrote the calculations, in the plan or in a correction; Reknit computed them.",
        PlanAuthor::Person => "The calculations stand in the plan or in a correction; Reknit computed them.",
    });
    html! {
        h3 { "Parameters" }
        @if let Some(author) = author { p.muted { (author) } }
        dl.values.sources {
            @for (name, value) in &step.parameters {
                dt { (plain_text(name)) }
                dd {
                    (inline(value))
                    @if let Some((_, from)) = step.provenance.iter().find(|(known, _)| known == name) {
                        div.origin {
                            (origin(facts.run, from))
                            @if let Some(written) = step.written_in_plan(name) {
                                ", where it is " code.value { (one_line(written, 300)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn items(facts: &RunFacts<'_>, run: &RunOverview, step: &StepView) -> Markup {
    let items: Vec<&StepView> = run.steps.iter().filter(|item| item.item_of.as_ref() == Some(&step.id)).collect();
    html! {
        @if !items.is_empty() {
            h3 { (count(items.len(), "item")) }
            ul.items {
                @for item in items.iter().take(MAX_ITEMS) {
                    li { (badge(step_mark(item))) " " a href=(step_path(facts.run, item.id.as_str())) data-step=(item.id.as_str()) { (one_line(item.id.as_str(), 60)) } }
                }
            }
            @if items.len() > MAX_ITEMS { p.muted { (items.len() - MAX_ITEMS) " more items are in the timeline." } }
        }
    }
}

/// The run in plain words, while no step is opened.
pub(super) fn summary(facts: &RunFacts<'_>) -> Markup {
    let explanation = explain(facts.overview, facts.status);
    let sections = [
        ("Failed", &explanation.failed),
        ("Mended", &explanation.mended),
        ("Tried", &explanation.tried),
        ("Missing", &explanation.missing),
        ("Decided", &explanation.decided),
        ("Cost", &explanation.cost),
    ];
    html! {
        header { h2 { "In plain words" } }
        p { (plain_text(&explanation.outcome)) }
        @for (title, lines) in sections {
            @if !lines.is_empty() {
                h3 { (title) }
                ul { @for line in lines.iter().take(MAX_LINES) { li { (one_line(line, 400)) } } }
                @if lines.len() > MAX_LINES { p.muted { "and " (lines.len() - MAX_LINES) " more" } }
            }
        }
        @if explanation.steps.iter().any(|step: &ExplainedStep| !step.lines.is_empty()) {
            p.muted { "Choose a step to see its parameters, where they come from, and every attempt." }
        }
    }
}
