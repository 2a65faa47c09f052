//! The list of runs: what is happening, and what needs a person.

use maud::{Markup, html};
use reknit_engine::Spent;

use crate::frame::{PageFrame, Tab, framed, table};
use crate::marks::{badge, run_mark, rung_chip};
use crate::outside_text::one_line;
use crate::question_card::{AskedQuestion, question_card};
use crate::words::{ago, between, cost, run_path, with_query};

/// The states that can be chosen, with the words of the choice.
const STATES: [(&str, &str); 9] = [
    ("", "All"),
    ("running", "Running"),
    ("waiting", "Needs you"),
    ("stopped", "Stopped"),
    ("complete", "Complete"),
    ("partial", "Partial"),
    ("failed", "Failed"),
    ("cancelled", "Cancelled"),
    ("budget_exhausted", "Limit reached"),
];

#[derive(Debug, Clone, Default)]
pub struct ListedRun {
    pub run: String,
    pub status: String,
    pub request: String,
    /// When it started, in milliseconds since 1970.
    pub created_ms: i64,
    pub updated_ms: i64,
    /// How many steps have a result, and how many there are; `None` for a session.
    pub steps: Option<(usize, usize)>,
    /// The rungs that mended something, each once.
    pub mended_by: Vec<String>,
    pub spent: Spent,
}

#[derive(Debug, Clone, Default)]
pub struct RunList {
    /// The runs, the newest first.
    pub runs: Vec<ListedRun>,
    /// Where the next page begins.
    pub next: Option<String>,
    /// The status that was chosen; empty for all.
    pub status: String,
    pub search: String,
    /// Where this page begins; empty for the first.
    pub after: String,
    pub questions: Vec<AskedQuestion>,
    /// A name for what the list shows. The stream of changes says when it is another one.
    pub version: String,
    /// When the newest of all runs started, in milliseconds since 1970.
    pub newest_ms: i64,
    /// How many runs started since the reader came to the list and are not on it.
    pub hidden_new: usize,
}

pub fn runs_page(frame: &PageFrame<'_>, list: &RunList) -> Markup {
    let is_filtered = !list.status.is_empty() || !list.search.is_empty() || !list.after.is_empty();
    let content = html! {
        h1.hidden { "Runs" }
        @if !list.questions.is_empty() && list.after.is_empty() {
            section #questions aria-label="Questions" {
                @for question in &list.questions { (question_card(frame, question, true)) }
            }
        }
        (filters(list))
        (new_runs(list))
        @if list.runs.is_empty() {
            @if is_filtered { p.empty { "No run is like this. " a href="/" { "Show all runs" } } } @else { (no_runs()) }
        } @else {
            (runs_table(frame, list))
        }
        @if let Some(next) = &list.next {
            p.more { a.button rel="next" href=(address(list, next)) { "Older runs" } }
        }
    };
    framed(frame, "Runs", Tab::Runs, Some(&with_query("/ui/changes", &[("since", &list.version)])), &content)
}

/// Says that runs have started that the list does not show. The script adds those that would move what is being read.
fn new_runs(list: &RunList) -> Markup {
    html! {
        div #new-runs role="status" data-newest=(list.newest_ms) data-hidden=(list.hidden_new) {
            @if list.hidden_new > 0 { a.button href="/" { (list.hidden_new) " new" } }
        }
    }
}

fn address(list: &RunList, after: &str) -> String {
    with_query("/", &[("status", &list.status), ("search", &list.search), ("after", after)])
}

fn filters(list: &RunList) -> Markup {
    html! {
        section.filters aria-label="Filters" {
            ul.chips {
                @for (state, word) in STATES {
                    li {
                        a.chip href=(with_query("/", &[("status", state), ("search", &list.search)]))
                            aria-current=[(state == list.status).then_some("true")] { (word) }
                    }
                }
            }
            form.search method="get" action="/" role="search" {
                @if !list.status.is_empty() { input type="hidden" name="status" value=(list.status); }
                label.hidden for="search" { "Search requests" }
                input #search type="search" name="search" value=(list.search) placeholder="Search requests";
                button type="submit" { "Search" }
            }
        }
    }
}

fn runs_table(frame: &PageFrame<'_>, list: &RunList) -> Markup {
    let columns = ["State", "Request", "#Steps", "Mended by", "#Cost", "#Duration", "#Age"];
    table("runs", &columns, &html! { @for run in &list.runs { (row(frame, run)) } })
}

fn row(frame: &PageFrame<'_>, run: &ListedRun) -> Markup {
    let mark = run_mark(&run.status);
    let request = one_line(&run.request, 140);
    let end_ms = if matches!(run.status.as_str(), "running") { frame.now_ms } else { run.updated_ms };
    html! {
        tr id={"run-" (run.run)} data-item {
            td { (badge(mark)) }
            td.request { a href=(run_path(&run.run)) { @if request.is_empty() { "(no request)" } @else { (request) } } }
            td.number { @if let Some((done, all)) = run.steps { (done) " of " (all) } @else { "–" } }
            td { @for rung in &run.mended_by { (rung_chip(rung)) " " } }
            td.number { (cost(&run.spent)) }
            td.number { (between(run.created_ms, end_ms)) }
            td.number { (ago(run.created_ms, frame.now_ms)) }
        }
    }
}

/// What to type when there is nothing to see yet.
fn no_runs() -> Markup {
    let commands = [
        ("reknit demo", "a request over four tools that fails and is mended; needs no API key"),
        ("reknit run plan.yaml", "a plan that you wrote; needs no model"),
        ("reknit ask \"What is the weather in Seoul?\"", "a request that a model plans"),
    ];
    html! {
        section.empty {
            h2 { "No runs yet" }
            p { "A run appears here as soon as one starts in the same journal. Type one of these:" }
            dl.commands { @for (command, what) in commands { dt { code { (command) } } dd { (what) } } }
        }
    }
}
