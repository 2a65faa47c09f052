//! The page of a run: what was asked, how it ended, and why every value is what it is.

mod answer;
mod graph;
mod header;
mod history;
mod session;
mod step_panel;
mod timeline;

use maud::{Markup, html};
use reknit_engine::{BareOverview, Overview, RunOverview, Spent};
use reknit_plan::PlanAuthor;
use reknit_telemetry::Interaction;
use timeline::{critical_path, step_times};

use crate::frame::{PageFrame, Tab, framed};
use crate::outside_text::{block, one_line, plain_text};
use crate::question_card::{AskedQuestion, question_card};
use crate::sourced_value::tree;
use crate::words::run_path;

#[derive(Debug, Clone, Copy)]
pub struct RunFacts<'a> {
    pub overview: &'a Overview,
    pub run: &'a str,
    pub status: &'a str,
    /// When it started, in milliseconds since 1970.
    pub created_ms: i64,
    pub updated_ms: i64,
    pub questions: &'a [AskedQuestion],
    /// What models were asked and answered; `None` if the reader may not see it.
    pub interactions: Option<&'a [Interaction]>,
    pub step: Option<&'a str>,
    /// Only steps of this capability are in the timeline.
    pub only: Option<&'a str>,
    pub from: usize,
}

impl RunFacts<'_> {
    fn has_ended(&self) -> bool {
        !matches!(self.status, "running" | "waiting" | "stopped" | "parked")
    }
}

pub fn run_page(frame: &PageFrame<'_>, facts: &RunFacts<'_>) -> Markup {
    let (title, content) = match facts.overview {
        Overview::Run(run) => (&run.request, of_run(frame, facts, run)),
        Overview::Session(session) => (&session.input, session::page(frame, facts, session)),
        Overview::Bare(bare) => (&bare.title, of_bare_run(frame, facts, bare)),
    };
    let live = (!facts.has_ended()).then(|| format!("/ui{}/changes", run_path(facts.run)));
    framed(frame, &one_line(title, 60), Tab::Runs, live.as_deref(), &content)
}

/// The panel of the opened step; `None` for what is not a run of a plan.
pub fn run_panel(facts: &RunFacts<'_>) -> Option<Markup> {
    if let Overview::Run(run) = facts.overview { Some(panel(facts, run)) } else { None }
}

fn of_run(frame: &PageFrame<'_>, facts: &RunFacts<'_>, run: &RunOverview) -> Markup {
    let times = step_times(run);
    let critical = critical_path(run, &times);
    html! {
        (header::of_run(frame, facts, run))
        @for question in facts.questions { (question_card(frame, question, false)) }
        @if let Some(answer) = &run.answer { (answer::section(facts, run, answer)) }
        div.columns {
            div.main-column {
                @if !run.steps.is_empty() {
                    section #graph aria-labelledby="graph-title" {
                        h2 #graph-title { "Steps" }
                        (graph::graph(run, facts.step, &times, &critical))
                    }
                    (timeline::section(frame, facts, run, &times, &critical))
                }
                (planning(facts, run))
            }
            (panel(facts, run))
        }
    }
}

fn panel(facts: &RunFacts<'_>, run: &RunOverview) -> Markup {
    let step = facts.step.and_then(|id| run.steps.iter().find(|step| step.id.as_str() == id));
    html! {
        section #panel tabindex="-1" aria-label="Details" {
            @match step {
                Some(step) => (step_panel::panel(facts, run, step)),
                None => (step_panel::summary(facts)),
            }
        }
    }
}

/// How the plan was made: the questions for it, rejected plans, and second plans.
fn planning(facts: &RunFacts<'_>, run: &RunOverview) -> Markup {
    let author = match run.planned_by {
        Some(PlanAuthor::Model) => "A model planned the request.",
        Some(PlanAuthor::Person) => "The plan was given; no model planned it.",
        None => "",
    };
    html! {
        section #planning aria-labelledby="planning-title" {
            h2 #planning-title { "Plan and answer" }
            @if !author.is_empty() { p { (author) } }
            @if let Some(tools) = &run.planning.tool_selection {
                p { "The planner was shown " (tools.shown.len()) " of " (run.planning.capabilities) " capabilities." }
            }
            @if !run.planning.plan_repairs.is_empty() { p { "The text of the plan was repaired: " (plain_text(&run.planning.plan_repairs.join("; "))) "." } }
            @for (index, rejected) in run.planning.rejected_plans.iter().enumerate() {
                h3 { "Plan " (index + 1) " was rejected" }
                p { (plain_text(&rejected.words)) }
                @if !rejected.problems.is_empty() { (block(&rejected.problems.join("\n"))) }
            }
            @for replanning in &run.planning.replannings { p { "Planned again " (one_line(&replanning.to_string(), 400)) "." } }
            @if !run.run_history.is_empty() { (history::entries(facts, None, &run.run_history)) }
        }
    }
}

const MAX_REPLIES: usize = 50;

/// A run that this build cannot restore: what is known without its machine.
fn of_bare_run(frame: &PageFrame<'_>, facts: &RunFacts<'_>, bare: &BareOverview) -> Markup {
    html! {
        (header::head(frame, facts, &bare.title, None, &Spent::default()))
        section.card {
            h2 { "This build cannot continue the run" }
            @if let Some(problem) = &bare.problem { (block(problem)) }
            @if let Some(closed) = &bare.closed { p { "Closed by a person: " (plain_text(closed)) } }
            @for call in &bare.open_calls { p.problem { "The call " code { (one_line(call, 80)) } " may have been made; its outcome is unknown." } }
        }
        @for (step, entries) in &bare.history {
            section { h2 { (one_line(step.as_str(), 80)) } (history::entries(facts, Some(step.as_str()), entries)) }
        }
        @if !bare.replies.is_empty() {
            section {
                h2 { "Replies of tools" }
                @for reply in bare.replies.iter().take(MAX_REPLIES) { h3 { (one_line(&reply.effect, 80)) } (tree(&reply.reply)) }
            }
        }
    }
}
