//! Tables and graphs for people.

use reknit_plan::{GraphRow, GraphStep, StepGraph};

use crate::output::{one_line, padded, width};

/// The rows as lines, each column as wide as its widest cell. In a terminal that is too narrow, the first cell of a row has a line of its own.
pub(crate) fn table<const N: usize>(rows: &[[String; N]], columns: Option<usize>) -> String {
    // The names of tools and models come from servers.
    let rows: Vec<[String; N]> = rows.iter().map(|row| row.each_ref().map(|cell| one_line(cell, usize::MAX))).collect();
    let widths: Vec<usize> = (0..N)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max().unwrap_or(0))
        .collect();
    let all = widths.iter().sum::<usize>() + 2 * N.saturating_sub(1);
    let fits = columns.is_none_or(|columns| all <= columns);
    let line = |row: &[String; N]| {
        let mut cells = row.iter().zip(&widths).map(|(cell, columns)| padded(cell, *columns));
        if fits {
            return format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
        let first = cells.next().filter(|first| !first.trim().is_empty());
        let first = first.map_or_else(String::new, |first| format!("{}\n", first.trim_end()));
        format!("{first}  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_narrow_terminal_the_name_of_a_tool_has_a_line_of_its_own() {
        let rows = [["TOOL", "CALLS", "WHY"], ["shop/price", "2", "rejected"], ["", "", "timeout"]];
        let rows = rows.map(|row| row.map(str::to_owned));
        insta::assert_snapshot!(table(&rows, Some(27)), @r"
        TOOL        CALLS  WHY
        shop/price  2      rejected
                           timeout
        ");
        insta::assert_snapshot!(table(&rows, Some(26)), @r"
        TOOL
          CALLS  WHY
        shop/price
          2      rejected
                 timeout
        ");
    }
}
