//! Two runs side by side: what differs, in the runs as a whole and in each step.

mod steps;

use maud::{Markup, html};
use reknit_engine::{Ending, Overview, Spent, StepState};
use reknit_protocol::human_duration;

use crate::frame::{PageFrame, Tab, framed};
use crate::marks::{badge, mended_by, run_mark};
use crate::outside_text::{block, cut, one_line};
use crate::runs_page::ListedRun;
use crate::words::{ago, compare_path, cost, count, run_path, with_query};

/// A run that is compared with another.
#[derive(Debug, Clone, Copy)]
pub struct ComparedRun<'a> {
    pub run: &'a str,
    pub status: &'a str,
    /// When it started, in milliseconds since 1970.
    pub created_ms: i64,
    pub updated_ms: i64,
    pub overview: &'a Overview,
}

/// The page that compares two runs, the older one at the left. `from` is the first of the steps that are shown.
pub fn compare_page(frame: &PageFrame<'_>, one: &ComparedRun<'_>, other: &ComparedRun<'_>, from: usize) -> Markup {
    let (left, right) = if other.created_ms < one.created_ms { (other, one) } else { (one, other) };
    let (figures, mut differing) = table(frame, left, right);
    let steps = match (left.overview, right.overview) {
        (Overview::Run(old), Overview::Run(new)) => Some(steps::section(left, old, right, new, from)),
        _ => None,
    };
    differing.extend(steps.as_ref().filter(|(_, count)| *count > 0).map(|(_, different)| count(*different, "step")));
    let content = html! {
        h1 { "Two runs side by side" }
        p {
            @if differing.is_empty() { "These runs do not differ." }
            @else { "These runs differ in: " (differing.join(", ")) "." }
        }
        p.muted { span.differs-mark { "≠" } " marks what differs. The older run is at the left." }
        (figures)
        @if let Some((steps, _)) = &steps { (steps) }
        p { a href=(compare_path(one.run)) { "Compare with another run" } }
    };
    framed(frame, "Two runs side by side", Tab::Runs, None, &content)
}

/// The page that asks which run to compare with. Runs with the same request come first.
pub fn compare_choice_page(frame: &PageFrame<'_>, run: &ListedRun, choices: &[ListedRun]) -> Markup {
    let (same, others): (Vec<&ListedRun>, Vec<&ListedRun>) =
        choices.iter().filter(|choice| choice.run != run.run).partition(|choice| choice.request == run.request);
    let list = |title: &str, choices: &[&ListedRun]| {
        html! {
            @if !choices.is_empty() {
                section {
                    h2 { (title) }
                    div.scroll tabindex="0" role="group" aria-label="Table" {
                        table.runs { tbody { @for choice in choices { (choice_row(frame, run, choice)) } } }
                    }
                }
            }
        }
    };
    let content = html! {
        h1 { "Compare with" }
        p { a href=(run_path(&run.run)) { (one_line(&run.request, 140)) @if run.request.trim().is_empty() { (one_line(&run.run, 80)) } } }
        form.search method="get" action=(compare_path(&run.run)) {
            label.hidden for="with" { "The id of a run" }
            input #with type="text" name="with" placeholder="The id of a run, or its beginning" required;
            button type="submit" { "Compare" }
        }
        (list("The same request", &same))
        (list("Other runs", &others))
        @if same.is_empty() && others.is_empty() { p.empty { "There is no other run yet." } }
    };
    framed(frame, "Compare with", Tab::Runs, None, &content)
}

fn choice_row(frame: &PageFrame<'_>, run: &ListedRun, choice: &ListedRun) -> Markup {
    let href = with_query(&compare_path(&run.run), &[("with", &choice.run)]);
    let request = one_line(&choice.request, 120);
    html! {
        tr data-item {
            td { (badge(run_mark(&choice.status))) }
            td.request { a href=(href) { @if request.is_empty() { "(no request)" } @else { (request) } } }
            td { code { (one_line(&choice.run, 40)) } }
            td.number { (ago(choice.created_ms, frame.now_ms)) }
        }
    }
}

struct Row {
    about: Markup,
    left: Markup,
    right: Markup,
    differs: bool,
}

impl Row {
    /// A row of plain texts, which differ if they are not equal.
    fn of_texts(about: &str, left: &str, right: &str) -> Self {
        Self { about: html! { (about) }, left: html! { (left) }, right: html! { (right) }, differs: left != right }
    }
}

/// A table with a column for each run.
fn compare_table(caption: Option<&str>, heads: [Markup; 3], rows: &[Row]) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="Table" {
            table.compare {
                @if let Some(caption) = caption { caption { (caption) } }
                thead { tr { @for head in heads { th scope="col" { (head) } } } }
                tbody {
                    @for row in rows {
                        tr.differs[row.differs] {
                            th scope="row" {
                                span.differs-mark { @if row.differs { span aria-hidden="true" { "≠" } span.hidden { "differs: " } } }
                                (row.about)
                            }
                            td { (row.left) }
                            td { (row.right) }
                        }
                    }
                }
            }
        }
    }
}

/// Whether a time is so much longer that a reader wants to know: half as long again, and a tenth of a second.
fn takes_longer(one_ms: u64, other_ms: u64) -> bool {
    let (short, long) = (one_ms.min(other_ms), one_ms.max(other_ms));
    long.saturating_sub(short) >= 100 && long.saturating_sub(short).saturating_mul(2) >= short
}

const MAX_CHARS: usize = 4_000;

/// The table, and the names of what differs in it.
fn table(frame: &PageFrame<'_>, left: &ComparedRun<'_>, right: &ComparedRun<'_>) -> (Markup, Vec<String>) {
    let rows = rows(left, right);
    let differing = rows.iter().filter(|row| row.differs).map(|row| row.about.0.to_lowercase()).collect();
    let table = html! {
        (compare_table(None, [html! { span.hidden { "What" } }, name(frame, left), name(frame, right)], &rows))
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
        Overview::Run(run) => {
            crate::words::count(run.steps.iter().filter(|step| !mended_by(step).is_empty()).count(), "step")
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_differs_if_it_is_half_as_long_again_and_a_tenth_of_a_second() {
        let pairs = [(0, 99), (0, 100), (1_000, 1_499), (1_500, 1_000), (1_000, 1_000)];
        assert_eq!(pairs.map(|(one, other)| takes_longer(one, other)), [false, true, false, true, false]);
    }
}
