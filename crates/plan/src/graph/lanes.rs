//! A graph as text: a line for each step, and lanes that lead from a step to those that need it.

use super::{GraphStep, LayeredStep, StepGraph};

/// Beyond this many lanes nobody can follow them: the needs of a step are then named.
const MAX_LANES: usize = 16;

/// One column of the drawing of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Empty,
    /// The step itself.
    Mark(char),
    /// A lane that passes by.
    Passing,
    /// A lane that leads to the step, and on to others.
    Branches,
    /// A lane that ends in the step.
    Ends,
}

/// A line of a drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphRow<'g> {
    /// The lanes, with the mark of the step in one of them. All rows of a graph have the same number of characters.
    pub lanes: String,
    /// The step; `None` for a row that only leads from the step above it to the one below it.
    pub step: Option<&'g GraphStep>,
    /// The steps that it needs, if there are too many lanes to draw them.
    pub after: Vec<&'g str>,
}

impl StepGraph {
    /// The graph as text, a line for each step. A lane begins at a step and leads down to each step that needs it.
    pub fn to_text(&self) -> String {
        let rows = self.to_rows();
        let ids = self.steps().map(|step| step.id.as_str().chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        for GraphRow { lanes, step, after } in rows {
            let after = if after.is_empty() { String::new() } else { format!("  after {}", after.join(", ")) };
            let line = match step {
                Some(step) => format!("{lanes}  {:<ids$}  {}{after}", step.id.as_str(), step.label),
                None => lanes,
            };
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// The rows of [`Self::to_text`], for a caller that lays them out itself.
    pub fn to_rows<'g>(&'g self) -> Vec<GraphRow<'g>> {
        let named = || self.nodes.iter().map(|node| (Some(node), vec![Cell::Mark(node.step.state.mark())])).collect();
        let drawn = self.cells();
        let is_drawn = drawn.is_some();
        let rows: Vec<(Option<&'g LayeredStep>, String)> =
            drawn.unwrap_or_else(named).into_iter().map(|(node, cells)| (node, draw(&cells))).collect();
        let lanes = rows.iter().map(|(_, row)| row.chars().count()).max().unwrap_or(0);
        let row = |(node, drawn): (Option<&'g LayeredStep>, String)| GraphRow {
            lanes: format!("{drawn:<lanes$}"),
            step: node.map(|node| &node.step),
            after: node.map(|node| self.needs_of(node, is_drawn)).unwrap_or_default(),
        };
        rows.into_iter().map(row).collect()
    }

    /// The names of the needed steps, unless they are drawn.
    fn needs_of(&self, node: &LayeredStep, is_drawn: bool) -> Vec<&str> {
        if is_drawn {
            return Vec::new();
        }
        node.needs.iter().filter_map(|need| self.nodes.get(*need)).map(|need| need.step.id.as_str()).collect()
    }

    /// The cells of each row; `None` if there are too many lanes.
    fn cells(&self) -> Option<Vec<(Option<&LayeredStep>, Vec<Cell>)>> {
        let mut last_use: Vec<usize> = (0..self.nodes.len()).collect();
        for (index, node) in self.nodes.iter().enumerate() {
            for need in &node.needs {
                if let Some(last) = last_use.get_mut(*need) {
                    *last = index;
                }
            }
        }
        // The step from which each lane comes.
        let mut lanes: Vec<Option<usize>> = Vec::new();
        let mut rows = Vec::with_capacity(self.nodes.len());
        for (index, node) in self.nodes.iter().enumerate() {
            let ends = |lane: &Option<usize>| lane.is_some_and(|from| last_use.get(from) == Some(&index));
            // The last lane that ends here goes on as the lane of this step.
            let own = lanes.iter().rposition(ends).or_else(|| lanes.iter().position(Option::is_none));
            let own = own.unwrap_or_else(|| {
                lanes.push(None);
                lanes.len() - 1
            });
            if lanes.len() > MAX_LANES {
                return None;
            }
            let cell = |(column, lane): (usize, &Option<usize>)| match lane {
                _ if column == own => Cell::Mark(node.step.state.mark()),
                None => Cell::Empty,
                Some(_) if ends(lane) => Cell::Ends,
                Some(from) if node.needs.contains(from) => Cell::Branches,
                Some(_) => Cell::Passing,
            };
            // A step right below another one would look like one that needs it, whether it does or not.
            if index > 0 && lanes.get(own) == Some(&Some(index - 1)) {
                let passing = |lane: &Option<usize>| if lane.is_some() { Cell::Passing } else { Cell::Empty };
                rows.push((None, lanes.iter().map(passing).collect()));
            }
            rows.push((Some(node), lanes.iter().enumerate().map(cell).collect()));
            for lane in &mut lanes {
                if lane.is_some_and(|from| last_use.get(from).is_none_or(|last| *last <= index)) {
                    *lane = None;
                }
            }
            if let Some(lane) = lanes.get_mut(own) {
                *lane = Some(index).filter(|index| last_use.get(*index).is_some_and(|last| last > index));
            }
            while lanes.last() == Some(&None) {
                lanes.pop();
            }
        }
        Some(rows)
    }
}

/// The cells with lines from the lanes that lead to the step.
fn draw(row: &[Cell]) -> String {
    let joins = |cell: &Cell| matches!(cell, Cell::Mark(_) | Cell::Branches | Cell::Ends);
    let own = row.iter().position(|cell| matches!(cell, Cell::Mark(_))).unwrap_or(0);
    let (first, last) = (row.iter().position(joins).unwrap_or(own), row.iter().rposition(joins).unwrap_or(own));
    let mut text = String::new();
    for (column, cell) in row.iter().enumerate() {
        if column > 0 {
            text.push(if column > first && column <= last { '─' } else { ' ' });
        }
        let is_outermost = column == first || column == last;
        text.push(match cell {
            Cell::Mark(mark) => *mark,
            Cell::Empty if column > first && column < last => '─',
            Cell::Empty => ' ',
            Cell::Passing => '│',
            Cell::Branches if !is_outermost => '┼',
            Cell::Branches if column < own => '├',
            Cell::Branches => '┤',
            Cell::Ends if !is_outermost => '┴',
            Cell::Ends if column < own => '└',
            Cell::Ends => '┘',
        });
    }
    text
}
