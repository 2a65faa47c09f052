//! The graph of a plan or a run in a terminal.

use reknit_plan::{GraphRow, GraphStep, StepGraph};

use crate::output::{one_line, padded, width};

/// A line for each step: lanes, id and call. Lines are cut to `columns`, if there is a limit.
pub(crate) fn graph_lines(graph: &StepGraph, columns: Option<usize>) -> Vec<String> {
    let rows = graph.to_rows();
    let id = |step: &GraphStep| one_line(step.id.as_str(), usize::MAX);
    let ids = rows.iter().filter_map(|row| row.step).map(|step| width(&id(step))).max().unwrap_or(0);
    let line = |row: &GraphRow<'_>| {
        let Some(step) = row.step else { return row.lanes.trim_end().to_owned() };
        let after = if row.after.is_empty() { String::new() } else { format!("  after {}", row.after.join(", ")) };
        let text = format!("{}  {}", padded(&id(step), ids), one_line(&format!("{}{after}", step.label), usize::MAX));
        // The `…` of a cut line takes one more column.
        let left = columns.map_or(usize::MAX, |columns| columns.saturating_sub(width(&row.lanes) + 3).max(10));
        format!("{}  {}", row.lanes, one_line(text.trim_end(), left))
    };
    rows.iter().map(line).collect()
}
