//! Bars and columns, which say nothing that is not in a number or in words beside them; and the weeks side by side.

use maud::{Markup, html};
use reknit_engine::ToolStatistics;
use reknit_protocol::timestamp_text;

use super::mended_by::MendedBy;
use crate::run_usage::{RunUsage, WeekUse};
use crate::words::money;

/// The width of a bar, in units of its own.
const WIDTH: u64 = 1_000;
const CHART_WIDTH: usize = 288;
const CHART_HEIGHT: u64 = 96;
/// The space for the numbers above the columns.
const TOP: u64 = 14;

pub(super) fn bar(parts: &[(&str, u64)], whole: u64) -> Markup {
    let mut left = 0;
    let mut drawn = Vec::new();
    for (class, count) in parts {
        let width = count.saturating_mul(WIDTH) / whole.max(1);
        drawn.push((*class, left, if *count > 0 { width.max(4) } else { 0 }));
        left += width;
    }
    html! {
        svg.bars.chart viewBox={"0 0 " (WIDTH) " 16"} preserveAspectRatio="none" aria-hidden="true" {
            @for (class, left, width) in drawn { rect class={"bar " (class)} x=(left) y="2" width=(width) height="12" {} }
        }
    }
}

/// A column: its name, the number above it, and its parts from below, each with its class.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) parts: Vec<(&'static str, u64)>,
}

impl Column {
    fn height(&self) -> u64 {
        self.parts.iter().map(|(_, count)| count).sum()
    }
}

/// A chart with a column for each week, the newest at the right.
pub(super) fn columns(title: &str, columns: &[Column]) -> Markup {
    let most = columns.iter().map(Column::height).max().unwrap_or(0).max(1);
    let wide = CHART_WIDTH / columns.len().max(1);
    let width = wide.saturating_sub(6).min(28);
    let words: Vec<String> = columns.iter().map(|column| format!("{}: {}", column.name, column.value)).collect();
    let words = format!("{title}. {}", words.join("; "));
    html! {
        svg.columns-chart viewBox={"0 0 " (CHART_WIDTH) " " (CHART_HEIGHT + 16)} role="img" aria-label=(words) {
            line.axis x1="0" y1=(CHART_HEIGHT) x2=(CHART_WIDTH) y2=(CHART_HEIGHT) {}
            @for (at, column) in columns.iter().enumerate() { (draw(column, most, at * wide + wide / 2, width)) }
        }
    }
}

/// A column; one with the value `most` is as high as the chart.
fn draw(column: &Column, most: u64, middle: usize, width: usize) -> Markup {
    let mut top = CHART_HEIGHT;
    let mut drawn = Vec::new();
    for (class, count) in &column.parts {
        let height = count.saturating_mul(CHART_HEIGHT - TOP) / most;
        top = top.saturating_sub(height);
        drawn.push((*class, top, height));
    }
    html! {
        @for (class, y, height) in drawn {
            rect class={"bar " (class)} x=(middle.saturating_sub(width / 2)) y=(y) width=(width) height=(height) {}
        }
        text.value x=(middle) y=(top.saturating_sub(3)) text-anchor="middle" { (column.value) }
        text.name x=(middle) y=(CHART_HEIGHT + 12) text-anchor="middle" { (column.name) }
    }
}

pub(super) const WEEKS: usize = 8;

pub(super) fn weeks(usage: &RunUsage) -> Markup {
    let mut weeks: Vec<(String, &WeekUse)> =
        usage.weeks.iter().rev().take(WEEKS).map(|(week, used)| (day(*week), used)).collect();
    weeks.reverse();
    let has_prices = usage.weeks.values().any(|week| week.asked.nanos > 0);
    let cost = if has_prices { "Cost of models" } else { "Tokens of models" };
    let mended = [
        ("rung-code", "mended by code"),
        ("rung-model", "by a model"),
        ("rung-person", "settled"),
        ("failed", "not mended"),
    ];
    let charts = [
        ("Calls of tools", &[("done", "answered"), ("failed", "failed")][..], chart(&weeks, calls)),
        ("What became of failures", &mended, chart(&weeks, failures)),
        (cost, &[("model", "plans, answers, agents and mending")], chart(&weeks, |week| asked(week, has_prices))),
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
                            @for (class, word) in *legend { span class={"key " (class)} { (word) } " " }
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

/// The number above a column, and its parts from below.
type ColumnParts = (String, Vec<(&'static str, u64)>);

fn chart(weeks: &[(String, &WeekUse)], parts: impl Fn(&WeekUse) -> ColumnParts) -> Vec<Column> {
    let column = |(name, week): &(String, &WeekUse)| {
        let (value, parts) = parts(week);
        Column { name: name.clone(), value, parts }
    };
    weeks.iter().map(column).collect()
}

fn calls(week: &WeekUse) -> ColumnParts {
    let sum = |of: fn(&ToolStatistics) -> u64| week.statistics.tools.values().map(of).sum::<u64>();
    let (all, failed) = (sum(|tool| tool.calls), sum(|tool| tool.failed));
    let value = if failed > 0 { format!("{failed} of {all}") } else { all.to_string() };
    (value, vec![("failed", failed), ("done", all.saturating_sub(failed))])
}

fn failures(week: &WeekUse) -> ColumnParts {
    let by = MendedBy::of(&week.statistics);
    let parts =
        vec![("failed", by.not_mended), ("rung-person", by.person), ("rung-model", by.model), ("rung-code", by.code)];
    (by.all().to_string(), parts)
}

fn asked(week: &WeekUse, in_money: bool) -> ColumnParts {
    let asked = week.asked;
    let (value, size) =
        if in_money { (money(asked.nanos), asked.nanos) } else { (asked.tokens.to_string(), asked.tokens) };
    (value, vec![("model", size)])
}
