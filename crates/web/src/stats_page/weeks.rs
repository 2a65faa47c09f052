//! The weeks side by side: calls, failures and what became of them, and what models cost.

use maud::{Markup, html};
use reknit_engine::Statistics;
use reknit_protocol::timestamp_text;

use super::charts::{Column, columns};
use super::mends::MendedBy;
use crate::run_usage::{RunUsage, WeekUse};
use crate::words::money;

pub(super) const WEEKS: usize = 8;

pub(super) fn section(usage: &RunUsage) -> Markup {
    let mut weeks: Vec<(String, &WeekUse)> =
        usage.weeks.iter().rev().take(WEEKS).map(|(week, used)| (day(*week), used)).collect();
    weeks.reverse();
    let has_prices = usage.weeks.values().any(|week| week.asked.nanos > 0);
    let cost = if has_prices { "Cost of models" } else { "Tokens of models" };
    let charts = [
        ("Calls of tools", vec![("done", "answered"), ("failed", "failed")], chart(&weeks, calls)),
        (
            "What became of failures",
            vec![
                ("rung-code", "mended by code"),
                ("rung-model", "by a model"),
                ("rung-person", "settled"),
                ("failed", "not mended"),
            ],
            chart(&weeks, failures),
        ),
        (
            cost,
            vec![("model", "plans, answers, agents and mending")],
            chart(&weeks, |name, week| asked(name, week, has_prices)),
        ),
    ];
    html! {
        section aria-labelledby="weeks" {
            h2 #weeks { "By week" }
            p.muted { "A column is a week, which is named by its Monday." }
            div.multiples {
                @for (title, legend, drawn) in &charts {
                    figure {
                        figcaption {
                            strong { (title) } " "
                            @for (class, word) in legend { span class={"key " (class)} { (word) } " " }
                        }
                        (columns(title, drawn))
                    }
                }
            }
        }
    }
}

/// The Monday of a week: `11-16`.
pub(super) fn day(week_ms: i64) -> String {
    timestamp_text(week_ms).chars().skip(5).take(5).collect()
}

fn chart(weeks: &[(String, &WeekUse)], column: impl Fn(&str, &WeekUse) -> Column) -> Vec<Column> {
    weeks.iter().map(|(name, week)| column(name, week)).collect()
}

fn calls(name: &str, week: &WeekUse) -> Column {
    let sum = |of: fn(&reknit_engine::ToolStatistics) -> u64| week.statistics.tools.values().map(of).sum::<u64>();
    let (all, failed) = (sum(|tool| tool.calls), sum(|tool| tool.failed));
    let value = if failed > 0 { format!("{failed} of {all}") } else { all.to_string() };
    Column { name: name.to_owned(), value, parts: vec![("failed", failed), ("done", all.saturating_sub(failed))] }
}

fn failures(name: &str, week: &WeekUse) -> Column {
    let by = mended_in(&week.statistics);
    let parts =
        vec![("failed", by.not_mended), ("rung-person", by.person), ("rung-model", by.model), ("rung-code", by.code)];
    Column { name: name.to_owned(), value: parts.iter().map(|(_, count)| count).sum::<u64>().to_string(), parts }
}

fn mended_in(statistics: &Statistics) -> MendedBy {
    let mut by = MendedBy::default();
    for failure in statistics.tools.values().flat_map(|tool| tool.failures.values()) {
        by.add(failure);
    }
    by
}

fn asked(name: &str, week: &WeekUse, in_money: bool) -> Column {
    let (value, size) = if in_money {
        (money(week.asked.nanos), week.asked.nanos)
    } else {
        (week.asked.tokens.to_string(), week.asked.tokens)
    };
    Column { name: name.to_owned(), value, parts: vec![("model", size)] }
}
