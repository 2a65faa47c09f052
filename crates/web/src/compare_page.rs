//! Two runs side by side: what differs, in the runs as a whole and in each step.

mod figures;
mod steps;
mod value_changes;

use maud::{Markup, html};
use reknit_engine::Overview;

use crate::frame::{PageFrame, Tab, framed};
use crate::links::{compare_path, run_path, with_query};
use crate::marks::{badge, run_mark};
use crate::outside_text::one_line;
use crate::runs_page::ListedRun;
use crate::words::{ago, count};

/// A run that is compared with another.
#[derive(Debug, Clone, Copy)]
pub struct ComparedRun<'a> {
    /// The id of the run.
    pub run: &'a str,
    /// The word for its status.
    pub status: &'a str,
    /// When it started, in milliseconds since 1970.
    pub created_ms: i64,
    /// When its last event happened.
    pub updated_ms: i64,
    /// The run.
    pub overview: &'a Overview,
}

/// The page that compares two runs, the older one at the left. `from` is the first of the steps that are shown.
pub fn compare_page(frame: &PageFrame<'_>, one: &ComparedRun<'_>, other: &ComparedRun<'_>, from: usize) -> Markup {
    let (left, right) = if other.created_ms < one.created_ms { (other, one) } else { (one, other) };
    let (figures, mut differing) = figures::table(frame, left, right);
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

/// A row: what it is about, and how that is in each run.
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

fn body(rows: &[Row]) -> Markup {
    html! {
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

/// Whether a time is so much longer that a reader wants to know: half as long again, and a tenth of a second.
fn takes_longer(one_ms: u64, other_ms: u64) -> bool {
    let (short, long) = (one_ms.min(other_ms), one_ms.max(other_ms));
    long.saturating_sub(short) >= 100 && long.saturating_sub(short).saturating_mul(2) >= short
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
