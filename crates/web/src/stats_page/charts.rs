//! Bars and columns. They say nothing that is not in a number or in words beside them.

use maud::{Markup, html};

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
