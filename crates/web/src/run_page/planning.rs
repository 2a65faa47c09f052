//! How the plan was made: the questions for it, rejected plans, and second plans.

use maud::{Markup, html};
use reknit_engine::RunOverview;
use reknit_plan::PlanAuthor;

use super::RunFacts;
use super::history;
use crate::outside_text::{block, one_line, plain_text};

pub(super) fn section(facts: &RunFacts<'_>, run: &RunOverview) -> Markup {
    let author = match run.planned_by {
        Some(PlanAuthor::Model) => "A model planned the request.",
        Some(PlanAuthor::Person) => "The plan was given; no model planned it.",
        None => "",
    };
    html! {
        section #planning aria-labelledby="planning-title" {
            h2 #planning-title { "Plan and answer" }
            @if !author.is_empty() { p { (author) } }
            @if let Some(tools) = &run.tool_selection {
                p { "The planner was shown " (tools.shown.len()) " of " (run.capabilities) " capabilities." }
            }
            @if !run.plan_repairs.is_empty() { p { "The text of the plan was repaired: " (plain_text(&run.plan_repairs.join("; "))) "." } }
            @for (index, rejected) in run.rejected_plans.iter().enumerate() {
                h3 { "Plan " (index + 1) " was rejected" }
                p { (plain_text(&rejected.words)) }
                @if !rejected.problems.is_empty() { (block(&rejected.problems.join("\n"))) }
            }
            @for replanning in &run.replannings { p { "Planned again " (one_line(&replanning.to_string(), 400)) "." } }
            @if !run.run_history.is_empty() { (history::entries(facts, None, &run.run_history)) }
        }
    }
}
