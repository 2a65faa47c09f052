//! Aligns the columns of a table.

use std::fmt;

/// Writes lines with aligned columns: the numbers in columns 2, 4 and 5 to the right, and text to the left.
pub fn write_aligned(out: &mut fmt::Formatter<'_>, lines: &[[String; 8]]) -> fmt::Result {
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 8] = std::array::from_fn(width);
    for line in lines {
        let cells = line.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
            if matches!(column, 2 | 4 | 5) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}
