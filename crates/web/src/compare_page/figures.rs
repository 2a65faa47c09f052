//! What two runs did as a whole: how they ended, what they spent, and what they answered.

use maud::{Markup, html};
use reknit_engine::{Ending, Overview, Spent, StepState};
use reknit_protocol::human_duration;

use super::{ComparedRun, Row, body, takes_longer};
use crate::frame::PageFrame;
use crate::links::run_path;
use crate::marks::{badge, is_mended, run_mark};
use crate::outside_text::{block, cut, one_line};
use crate::words::{ago, cost};

const MAX_CHARS: usize = 4_000;

/// The table, and the names of what differs in it.
pub(super) fn table(frame: &PageFrame<'_>, left: &ComparedRun<'_>, right: &ComparedRun<'_>) -> (Markup, Vec<String>) {
    let rows = rows(left, right);
    let differing = rows.iter().filter(|row| row.differs).map(|row| row.about.0.to_lowercase()).collect();
    let table = html! {
        div.scroll tabindex="0" role="group" aria-label="Table" {
            table.compare {
                thead { tr { th scope="col" { span.hidden { "What" } } th scope="col" { (name(frame, left)) } th scope="col" { (name(frame, right)) } } }
                (body(&rows))
            }
        }
    };
    (table, differing)
}

fn name(frame: &PageFrame<'_>, run: &ComparedRun<'_>) -> Markup {
    html! {
        a href=(run_path(run.run)) { (one_line(run.run, 40)) }
        div.muted.small { "started " (ago(run.created_ms, frame.now_ms)) " ago" }
    }
}

fn rows(left: &ComparedRun<'_>, right: &ComparedRun<'_>) -> Vec<Row> {
    let none = Spent::default();
    let (old, new) = (spent(left.overview).unwrap_or(&none), spent(right.overview).unwrap_or(&none));
    let took = |run: &ComparedRun<'_>| u64::try_from(run.updated_ms.saturating_sub(run.created_ms)).unwrap_or(0);
    let number = |about: &str, of: fn(&Spent) -> u64| Row::of_texts(about, &of(old).to_string(), &of(new).to_string());
    let mut rows = vec![
        Row {
            about: html! { "State" },
            left: badge(run_mark(left.status)),
            right: badge(run_mark(right.status)),
            differs: left.status != right.status,
        },
        Row {
            about: html! { "Request" },
            left: html! { (one_line(request(left.overview), 300)) },
            right: html! { (one_line(request(right.overview), 300)) },
            differs: request(left.overview) != request(right.overview),
        },
        Row::of_texts("Steps with a result", &steps(left.overview), &steps(right.overview)),
        Row::of_texts("Mended", &mended(left.overview), &mended(right.overview)),
        number("Tool calls", |spent| u64::from(spent.tool_calls)),
        number("Model calls", |spent| u64::from(spent.model_calls)),
        number("Tokens sent", |spent| spent.input_tokens),
        number("Tokens received", |spent| spent.output_tokens),
        Row::of_texts("Cost", &cost(old), &cost(new)),
        Row {
            differs: takes_longer(took(left), took(right)),
            ..Row::of_texts("Duration", &human_duration(took(left)), &human_duration(took(right)))
        },
    ];
    let (old, new) = (ending(left.overview), ending(right.overview));
    let none = || html! { span.muted { "none yet" } };
    let shown = |text: Option<&str>| text.map_or_else(none, |text| block(&cut(text, MAX_CHARS)));
    rows.push(Row { about: html! { "Answer" }, left: shown(old), right: shown(new), differs: old != new });
    rows
}

fn spent(overview: &Overview) -> Option<&Spent> {
    match overview {
        Overview::Run(run) => Some(&run.spent),
        Overview::Session(session) => Some(&session.spent),
        Overview::Bare(_) => None,
    }
}

fn request(overview: &Overview) -> &str {
    match overview {
        Overview::Run(run) => &run.request,
        Overview::Session(session) => &session.input,
        Overview::Bare(bare) => &bare.title,
    }
}

fn steps(overview: &Overview) -> String {
    let Overview::Run(run) = overview else { return "–".to_owned() };
    let done = run.steps.iter().filter(|step| step.state == StepState::Done).count();
    format!("{done} of {}", run.steps.len())
}

fn mended(overview: &Overview) -> String {
    match overview {
        Overview::Run(run) => crate::words::count(run.steps.iter().filter(|step| is_mended(step)).count(), "step"),
        Overview::Session(session) => crate::words::count(session.mended.len(), "call"),
        Overview::Bare(_) => "–".to_owned(),
    }
}

fn ending(overview: &Overview) -> Option<&str> {
    overview.ending().map(|ending| match ending {
        Ending::Answer(answer) => answer.text.as_str(),
        Ending::Report(report) => report.content.as_str(),
    })
}
