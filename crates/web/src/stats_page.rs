//! What fails, what mends it, and what that costs: by tool, class of failure, rung and week.

mod charts;
mod failures;
mod mended_by;

use maud::{Markup, html};
use reknit_engine::Statistics;
use reknit_protocol::human_duration;

use charts::bar;

use crate::frame::{PageFrame, Tab, framed, table};
use crate::marks::{badge, run_mark};
use crate::outside_text::one_line;
use crate::run_usage::{ErrorUse, QuestionCost, RunUsage, ToolUse};
use crate::words::{count, money, step_path, with_query};

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
            (charts::weeks(usage))
            (failures::by_tool(usage))
            (failures::by_class(usage))
            (failures::by_rung(usage))
            (costs(usage))
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

const TOOLS: usize = 50;

fn costs(usage: &RunUsage) -> Markup {
    let mut tools: Vec<(&String, &ToolUse)> = usage.tools.iter().collect();
    tools.sort_by_key(|(_, tool)| std::cmp::Reverse((tool.asked.nanos, tool.asked.tokens, tool.call_ms)));
    let has_prices = usage.planning.nanos > 0 || tools.iter().any(|(_, tool)| tool.asked.nanos > 0);
    let size = |asked: &QuestionCost| if has_prices { asked.nanos } else { asked.tokens };
    let sizes = tools.iter().map(|(_, tool)| size(&tool.asked)).chain([size(&usage.planning)]);
    let most = sizes.max().unwrap_or(0);
    let chart = if has_prices { "=Cost" } else { "=Tokens" };
    let rows = html! {
        @for (name, tool) in tools.iter().take(TOOLS) {
            tr { td { (one_line(name, 80)) } (cells(&tool.asked, size(&tool.asked), most)) td.number { (human_duration(tool.call_ms)) } }
        }
        @if usage.planning.questions > 0 {
            tr { td { em { "plans, answers and agents" } } (cells(&usage.planning, size(&usage.planning), most)) td.number { "–" } }
        }
    };
    html! {
        section aria-labelledby="costs" {
            h2 #costs { "What it costs, by tool" }
            p.muted {
                "A tool costs what models are asked to mend its calls, and time. The most expensive one comes first. "
                @if has_prices { "Amounts are in the currency of the configured prices, at the prices of now. " }
                @else { "No model has a price, so tokens are compared. " }
                @if usage.cost_nanos > 0 { "Together all runs cost " (money(usage.cost_nanos)) " when they ran." }
            }
            (table("plain", &["Capability", chart, "#Cost", "#Tokens", "#Model questions", "#Time in calls"], &rows))
            @if tools.len() > TOOLS { p.muted { (tools.len() - TOOLS) " more capabilities cost less." } }
        }
    }
}

fn cells(asked: &QuestionCost, size: u64, most: u64) -> Markup {
    html! {
        td { (bar(&[("model", size)], most)) }
        td.number { (money(asked.nanos)) } td.number { (asked.tokens) } td.number { (asked.questions) }
    }
}
