//! The steps of a run as a drawing: states, what flows from step to step, what took longest, and what was mended.

mod layout;
mod nodes;

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use reknit_engine::RunOverview;
use reknit_protocol::StepId;

use self::layout::{BOX_HEIGHT, BOX_WIDTH, place};
use self::nodes::{GraphLine, GraphNode, lines, nodes};
use super::timeline::StepTimes;
use crate::outside_text::cut;

const LETTERS: usize = 26;
/// More lines are drawn as one, without their values: a reader cannot follow a single one, and the page stays small.
const MAX_LINES: usize = 150;

/// The drawing. Boxes are links to their steps.
pub(super) fn graph(
    run: &RunOverview,
    selected: Option<&str>,
    times: &BTreeMap<&StepId, StepTimes>,
    critical: &BTreeSet<&StepId>,
) -> Markup {
    if run.steps.is_empty() {
        return html! {};
    }
    let nodes = nodes(run, times, critical);
    let lines = lines(run, &nodes);
    let layers: Vec<usize> = nodes.iter().map(|node| node.layer).collect();
    let ends: Vec<(usize, usize)> = lines.iter().map(|line| (line.from, line.to)).collect();
    let layout = place(&layers, &ends);
    html! {
        div.graph tabindex="0" role="group" aria-label="Graph of the steps" {
            svg width=(layout.width) height=(layout.height) viewBox={"0 0 " (layout.width) " " (layout.height)} {
                @if lines.len() > MAX_LINES {
                    g.line { path d=(layout.lines.iter().map(|points| way(points)).collect::<String>()) {} }
                } @else {
                    @for (line, points) in lines.iter().zip(&layout.lines) { (draw_line(line, points, &nodes)) }
                }
                @for (node, (x, y)) in nodes.iter().zip(&layout.boxes) { (draw_box(node, *x, *y, selected)) }
            }
        }
    }
}

/// The way of a line through its points.
fn way(points: &[(i64, i64)]) -> String {
    let curve = |(index, pair): (usize, &[(i64, i64)])| {
        let [(x1, y1), (x2, y2)] = pair else { return String::new() };
        let (start, middle) = (if index == 0 { 'M' } else { 'L' }, i64::midpoint(*x1, *x2));
        format!("{start}{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}")
    };
    points.chunks(2).enumerate().map(curve).collect()
}

fn draw_line(line: &GraphLine, points: &[(i64, i64)], nodes: &[GraphNode]) -> Markup {
    let name = |index: usize| nodes.get(index).map_or("", |node| node.name.as_str());
    let label = line.label.as_ref().zip(points.first().zip(points.get(1)));
    let class = if line.is_critical { "line critical" } else { "line" };
    html! {
        g class=(class) data-from=(name(line.from)) data-to=(name(line.to)) {
            path d=(way(points)) {}
            @if let Some((text, ((x1, y1), (x2, y2)))) = label {
                text x=(i64::midpoint(*x1, *x2)) y=(i64::midpoint(*y1, *y2) - 4) text-anchor="middle" { (text) }
            }
        }
    }
}

fn draw_box(node: &GraphNode, x: i64, y: i64, selected: Option<&str>) -> Markup {
    let is_selected = selected == Some(node.name.as_str());
    let class = format!(
        "node {}{}{}",
        node.mark.class,
        if node.is_critical { " critical" } else { "" },
        if is_selected { " selected" } else { "" }
    );
    html! {
        a class=(class) href=(node.href) data-step=(node.name) data-item
            aria-current=[is_selected.then_some("true")] {
            title { (node.description) }
            rect.box x=(x) y=(y) width=(BOX_WIDTH) height=(BOX_HEIGHT) rx="6" {}
            rect.state x=(x) y=(y) width="4" height=(BOX_HEIGHT) rx="2" {}
            text.shape x=(x + 14) y=(y + 20) { (node.mark.shape) }
            text.title x=(x + 30) y=(y + 20) { (cut(&node.title, LETTERS - 8)) }
            text.took x=(x + BOX_WIDTH - 8) y=(y + 20) text-anchor="end" { (node.took) }
            text.label x=(x + 14) y=(y + 36) { (cut(&node.label, LETTERS + 1)) }
            @if let Some((class, note)) = &node.note {
                text class={"note " (class)} x=(x + 14) y=(y + 52) { (cut(note, LETTERS + 1)) }
            }
            @if !node.parts.is_empty() { (draw_parts(node, x, y)) }
        }
    }
}

/// A bar at the lower side of a box: how many of its steps are in which state.
fn draw_parts(node: &GraphNode, x: i64, y: i64) -> Markup {
    let all: usize = node.parts.iter().map(|(_, count)| count).sum();
    let width =
        |count: usize| (BOX_WIDTH - 8) * i64::try_from(count).unwrap_or(0) / i64::try_from(all.max(1)).unwrap_or(1);
    let mut left = x + 4;
    let mut bars = Vec::new();
    for (class, count) in &node.parts {
        bars.push((*class, left, width(*count)));
        left += width(*count);
    }
    html! {
        @for (class, left, width) in bars {
            rect class={"part " (class)} x=(left) y=(y + BOX_HEIGHT - 4) width=(width) height="4" {}
        }
    }
}
