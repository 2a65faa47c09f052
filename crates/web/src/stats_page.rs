//! What fails, what mends it, and what that costs: by tool, class of failure, rung and week.

mod charts;
mod costs;
mod failures;
mod mends;
mod weeks;

use maud::{Markup, html};
use reknit_engine::Statistics;

use crate::frame::{PageFrame, Tab, framed, table};
use crate::links::{step_path, with_query};
use crate::marks::{badge, run_mark};
use crate::outside_text::one_line;
use crate::run_usage::{ErrorUse, RunUsage};
use crate::words::count;

const ERRORS: usize = 10;

/// The page with statistics. `all` is how many runs there are; the usage counts the newest of them.
pub fn stats_page(frame: &PageFrame<'_>, usage: &RunUsage, all: u64) -> Markup {
    let content = html! {
        h1 { "Statistics" }
        @if usage.runs == 0 {
            section.empty { h2 { "Nothing to count yet" } p { "Statistics follow from the runs in the journal." } }
        } @else {
            p.muted { "Over the newest " (usage.runs) " of " (count(all, "run")) "." }
            (states(&usage.all))
            (weeks::section(usage))
            (failures::by_tool(usage))
            (failures::by_class(usage))
            (mends::section(usage))
            (costs::section(usage))
            (errors(usage))
        }
    };
    framed(frame, "Statistics", Tab::Statistics, None, &content)
}

fn states(statistics: &Statistics) -> Markup {
    html! {
        ul.figures {
            @for (status, count) in &statistics.runs {
                li { a.state href=(with_query("/", &[("status", status)])) { (badge(run_mark(status))) " " (count) } }
            }
        }
    }
}

fn errors(usage: &RunUsage) -> Markup {
    let mut errors: Vec<(&String, &ErrorUse)> = usage.errors.iter().collect();
    errors.sort_by_key(|(error, used)| (std::cmp::Reverse(used.times), *error));
    let rows = html! {
        @for (error, used) in errors.iter().take(ERRORS) {
            tr {
                td.number { (used.times) }
                td { code { (one_line(error, 200)) } }
                td { (mended_by(used)) }
                td {
                    @if let Some((run, step)) = &used.example {
                        a href=(step_path(run.as_str(), step.as_str())) { (one_line(step.as_str(), 40)) }
                    }
                }
            }
        }
    };
    html! {
        @if !errors.is_empty() {
            section aria-labelledby="errors" {
                h2 #errors { "The most frequent errors" }
                (table("plain", &["#Times", "Error", "Mended by", "Example"], &rows))
            }
        }
    }
}

fn mended_by(used: &ErrorUse) -> String {
    if used.mended.is_empty() {
        return "nothing".to_owned();
    }
    let mended = used.mended.iter().map(|(rung, count)| format!("{rung} {count} ×"));
    mended.collect::<Vec<_>>().join(", ")
}
