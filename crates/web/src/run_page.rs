//! The page of a run: what was asked, how it ended, and why every value is what it is.

mod answer;
mod bare;
mod graph;
mod header;
mod history;
mod model_question;
mod planning;
mod session;
mod step_panel;
mod step_times;
mod timeline;

use maud::{Markup, html};
use reknit_engine::{Overview, RunOverview};
use reknit_telemetry::Interaction;

use crate::frame::{PageFrame, Tab, framed};
use crate::links::run_path;
use crate::outside_text::one_line;
use crate::question_card::{AskedQuestion, question_card};
use step_times::{critical_path, step_times};

/// What the page of a run shows.
#[derive(Debug, Clone, Copy)]
pub struct RunFacts<'a> {
    /// The run.
    pub overview: &'a Overview,
    /// The id of the run.
    pub run: &'a str,
    /// The word for its status.
    pub status: &'a str,
    /// When it started, in milliseconds since 1970.
    pub created_ms: i64,
    /// When its last event happened.
    pub updated_ms: i64,
    /// Its open questions to a person.
    pub questions: &'a [AskedQuestion],
    /// What models were asked and answered; `None` if the reader may not see it.
    pub interactions: Option<&'a [Interaction]>,
    /// The step that is opened.
    pub step: Option<&'a str>,
    /// Only steps of this capability are in the timeline.
    pub only: Option<&'a str>,
    /// The first row of the timeline.
    pub from: usize,
}

impl RunFacts<'_> {
    fn has_ended(&self) -> bool {
        !matches!(self.status, "running" | "waiting" | "stopped" | "parked")
    }
}

/// How much of a page is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PagePart {
    /// All of it.
    #[default]
    Whole,
    /// The panel of the opened step.
    Panel,
}

/// The page of a run, or a part of it.
pub fn run_page(frame: &PageFrame<'_>, facts: &RunFacts<'_>, part: PagePart) -> Markup {
    let (title, content) = match facts.overview {
        Overview::Run(run) if part == PagePart::Panel => return panel(facts, run),
        Overview::Run(run) => (&run.request, of_run(frame, facts, run)),
        Overview::Session(session) => (&session.input, session::page(frame, facts, session)),
        Overview::Bare(bare) => (&bare.title, bare::page(frame, facts, bare)),
    };
    let live = (!facts.has_ended()).then(|| format!("/ui{}/changes", run_path(facts.run)));
    framed(frame, &one_line(title, 60), Tab::Runs, live.as_deref(), &content)
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
                (planning::section(facts, run))
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
