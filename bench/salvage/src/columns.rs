//! A table of results, with notes, the versions of the peers and how many limits hold.

use std::fmt;

/// One comparison.
pub trait TableRow {
    const HEADINGS: [&'static str; 8];
    const LEGEND: &'static str;

    fn cells(&self) -> [String; 8];

    fn is_limited(&self) -> bool;

    /// Whether it is within its limit.
    fn passes(&self) -> bool;
}

pub struct Rows<R> {
    rows: Vec<R>,
    notes: Vec<String>,
    peers: Vec<String>,
}

impl<R> Default for Rows<R> {
    fn default() -> Self {
        Self { rows: Vec::new(), notes: Vec::new(), peers: Vec::new() }
    }
}

impl<R: TableRow> Rows<R> {
    pub fn add(&mut self, row: R) {
        eprintln!("{}", row.cells().join("  "));
        self.rows.push(row);
    }

    pub fn note(&mut self, note: String) {
        eprintln!("{note}");
        self.notes.push(note);
    }

    /// Adds the version of a peer, once.
    pub fn peer(&mut self, version: &str) {
        if self.peers.iter().all(|known| known != version) {
            self.peers.push(version.to_owned());
        }
    }

    /// Whether every row is within its limit.
    pub fn passes(&self) -> bool {
        self.rows.iter().all(R::passes)
    }
}

impl<R: TableRow> fmt::Display for Rows<R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headings = R::HEADINGS.map(str::to_owned);
        let lines: Vec<[String; 8]> = [headings].into_iter().chain(self.rows.iter().map(R::cells)).collect();
        write_aligned(out, &lines)?;
        writeln!(out, "\npeers: {}\n", self.peers.join("; "))?;
        self.notes.iter().try_for_each(|note| writeln!(out, "{note}"))?;
        writeln!(out, "\n{}", R::LEGEND)?;
        let failed = self.rows.iter().filter(|row| !row.passes()).count();
        let limited = self.rows.iter().filter(|row| row.is_limited()).count();
        writeln!(out, "{} of {limited} limits hold", limited - failed)
    }
}

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
