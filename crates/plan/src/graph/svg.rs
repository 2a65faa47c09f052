//! A graph as SVG: a row of boxes for each layer, and lines from a step to those that need it.

use std::fmt::Write as _;

use reknit_protocol::markup_text;

use super::{GraphState, LayeredStep, StepGraph};

const LETTER_WIDTH: usize = 8;
const BOX_HEIGHT: usize = 44;
const GAP_ACROSS: usize = 24;
const GAP_DOWN: usize = 40;
const MARGIN: usize = 16;
const PADDING: usize = 12;

/// Colours that can be read on light and on dark pages, which the viewer chooses.
const STYLE: &str = "text{font:13px ui-monospace,monospace;fill:#1f2328}.label{font-size:11px;fill:#59636e}\
rect{fill:#fff;stroke:#59636e}path{fill:none;stroke:#818b98}.done rect,.mended rect{stroke:#1a7f37}.mended rect{stroke-dasharray:6 3}\
.failed rect{stroke:#d1242f}.running rect{stroke:#9a6700}.waiting rect,.skipped rect{stroke:#818b98;stroke-dasharray:2 3}\
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.label{fill:#9198a1}rect{fill:#0d1117;stroke:#9198a1}\
.done rect,.mended rect{stroke:#3fb950}.failed rect{stroke:#f85149}.running rect{stroke:#d29922}}";

/// Where a step is drawn.
#[derive(Debug, Clone, Copy)]
struct Place {
    x: usize,
    y: usize,
    width: usize,
}

impl StepGraph {
    /// The graph as an SVG document. It needs no script, font or other file.
    pub fn to_svg(&self) -> String {
        let places = self.places();
        let width = places.iter().map(|place| place.x + place.width).max().unwrap_or(0) + MARGIN;
        let height = places.iter().map(|place| place.y + BOX_HEIGHT).max().unwrap_or(0) + MARGIN;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
             <style>{STYLE}</style>\n"
        );
        // Writing to a string cannot fail.
        for (node, to) in self.nodes.iter().zip(&places) {
            for from in node.needs.iter().filter_map(|need| places.get(*need)) {
                let (x1, y1, x2, y2) = (from.x + from.width / 2, from.y + BOX_HEIGHT, to.x + to.width / 2, to.y);
                let middle = usize::midpoint(y1, y2);
                let _ = writeln!(svg, "<path d=\"M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}\"/>");
            }
        }
        for (node, place) in self.nodes.iter().zip(&places) {
            svg.push_str(&draw_box(node, *place));
        }
        svg + "</svg>\n"
    }

    /// The place of each step. The steps of a layer are in the order of the steps that they need.
    fn places(&self) -> Vec<Place> {
        let mut places = vec![Place { x: 0, y: 0, width: 0 }; self.nodes.len()];
        let layers = self.nodes.iter().map(|node| node.layer + 1).max().unwrap_or(0);
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); layers];
        for (index, node) in self.nodes.iter().enumerate() {
            if let Some(row) = rows.get_mut(node.layer) {
                row.push(index);
            }
        }
        let widths: Vec<usize> = self.nodes.iter().map(box_width).collect();
        let width_of = |index: usize| widths.get(index).copied().unwrap_or(0);
        let row_width = |row: &Vec<usize>| {
            row.iter().map(|index| width_of(*index)).sum::<usize>() + GAP_ACROSS * row.len().saturating_sub(1)
        };
        let widest = rows.iter().map(row_width).max().unwrap_or(0);
        for (layer, row) in rows.iter_mut().enumerate() {
            let centre_of_needs = |index: usize| {
                let needs = self.nodes.get(index).map(|node| node.needs.as_slice()).unwrap_or_default();
                let centres = needs.iter().filter_map(|need| places.get(*need)).map(|place| place.x + place.width / 2);
                centres.sum::<usize>() / needs.len().max(1)
            };
            row.sort_by_key(|index| (centre_of_needs(*index), *index));
            let mut x = MARGIN + (widest - row_width(row)) / 2;
            for index in row.iter() {
                let width = width_of(*index);
                if let Some(place) = places.get_mut(*index) {
                    *place = Place { x, y: MARGIN + layer * (BOX_HEIGHT + GAP_DOWN), width };
                }
                x += width + GAP_ACROSS;
            }
        }
        places
    }
}

fn box_width(node: &LayeredStep) -> usize {
    let letters = title(node).chars().count().max(node.step.label.chars().count());
    letters * LETTER_WIDTH + 2 * PADDING
}

/// The id, with the mark of its state.
fn title(node: &LayeredStep) -> String {
    match node.step.state {
        GraphState::Planned => node.step.id.to_string(),
        state => format!("{} {}", state.mark(), node.step.id),
    }
}

fn draw_box(node: &LayeredStep, Place { x, y, width }: Place) -> String {
    let (middle, title_y, label_y) = (x + width / 2, y + 19, y + 35);
    let state = node.step.state.as_str();
    format!(
        "<g class=\"{state}\"><title>{}: {state}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BOX_HEIGHT}\" rx=\"6\"/>\
         <text x=\"{middle}\" y=\"{title_y}\" text-anchor=\"middle\">{}</text>\
         <text class=\"label\" x=\"{middle}\" y=\"{label_y}\" text-anchor=\"middle\">{}</text></g>\n",
        markup_text(node.step.id.as_str()),
        markup_text(&title(node)),
        markup_text(&node.step.label),
    )
}
