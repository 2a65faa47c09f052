//! What it costs: the questions to models for each tool, and for plans and answers.

use maud::{Markup, html};
use reknit_protocol::human_duration;

use super::charts::bar;
use crate::frame::table;
use crate::outside_text::one_line;
use crate::run_usage::{QuestionCost, RunUsage, ToolUse};
use crate::words::money;

const TOOLS: usize = 50;

pub(super) fn section(usage: &RunUsage) -> Markup {
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
