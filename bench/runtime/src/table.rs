//! The one table at the end.

use std::fmt;

/// A number with its unit, as it is shown.
#[derive(Clone, Copy)]
pub enum Amount {
    Seconds(f64),
    PerSecond(f64),
    Megabytes(f64),
    Kilobytes(f64),
}

impl fmt::Display for Amount {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Seconds(seconds) if seconds >= 0.01 => write!(out, "{:.1} ms", seconds * 1e3),
            Self::Seconds(seconds) => write!(out, "{:.0} us", seconds * 1e6),
            Self::PerSecond(rate) => write!(out, "{rate:.0} /s"),
            Self::Megabytes(megabytes) => write!(out, "{megabytes:.0} MB"),
            Self::Kilobytes(kilobytes) => write!(out, "{kilobytes:.1} kB"),
        }
    }
}

impl Amount {
    fn number(self) -> f64 {
        match self {
            Self::Seconds(number) | Self::PerSecond(number) | Self::Megabytes(number) | Self::Kilobytes(number) => {
                number
            }
        }
    }
}

/// Who came to what.
pub struct Side {
    name: String,
    amount: Amount,
}

impl Side {
    pub fn new(name: impl Into<String>, amount: Amount) -> Self {
        Self { name: name.into(), amount }
    }
}

/// What is measured, beside something to judge it by.
pub struct Row {
    what: String,
    ours: Side,
    beside: Option<Side>,
    at_most: Option<Amount>,
}

impl Row {
    pub fn new(what: impl Into<String>, ours: Side) -> Self {
        Self { what: what.into(), ours, beside: None, at_most: None }
    }

    pub fn beside(mut self, side: Side) -> Self {
        self.beside = Some(side);
        self
    }

    pub fn at_most(mut self, bar: Amount) -> Self {
        self.at_most = Some(bar);
        self
    }

    fn holds(&self) -> bool {
        self.at_most.is_none_or(|bar| self.ours.amount.number() <= bar.number())
    }

    fn cells(&self) -> [String; 8] {
        let ratio = self.beside.as_ref().map(|beside| {
            let unit = if matches!(beside.amount, Amount::PerSecond(_)) { "x speed" } else { "x" };
            format!("{:.2} {unit}", self.ours.amount.number() / beside.amount.number())
        });
        let (name, amount) = match &self.beside {
            Some(side) => (side.name.clone(), side.amount.to_string()),
            None => Default::default(),
        };
        let (bar, verdict) = match self.at_most {
            Some(bar) => (format!("<= {bar}"), if self.holds() { "PASS" } else { "FAIL" }),
            None => Default::default(),
        };
        let ours = self.ours.amount.to_string();
        [self.what.clone(), self.ours.name.clone(), ours, name, amount, ratio.unwrap_or_default(), bar, verdict.into()]
    }
}

/// All rows, with what must be known to read them.
#[derive(Default)]
pub struct Table {
    rows: Vec<Row>,
    notes: Vec<String>,
    peers: Vec<String>,
}

impl Table {
    pub fn add(&mut self, row: Row) {
        eprintln!("{}", row.cells().join("  "));
        self.rows.push(row);
    }

    pub fn note(&mut self, note: String) {
        eprintln!("{note}");
        self.notes.push(note);
    }

    pub fn peer(&mut self, version: &str) {
        self.peers.push(version.to_owned());
    }

    /// Whether every bar holds.
    pub fn holds(&self) -> bool {
        self.rows.iter().all(Row::holds)
    }
}

const LEGEND: &str = "\
Times and rates are medians of turns that all take one after the other; memory is the peak of the process (VmHWM).
skewed: A(10 ms) -> C(200 ms) | B(200 ms) -> D(10 ms), 210 ms if nothing waits for what it does not need. Around the
  whole run: event 0 is committed, and so is the end. Keyed: each call is claimed in the journal before it is made.
by hand: two chains of bare calls with the same client, no plan, no journal: what tool server and network alone take.
LangGraph: a StateGraph, compiled outside the clock. SQLite: AsyncSqliteSaver, synchronous = FULL, durability as named
  (async is its default; sync commits before it goes on, as we do). Tasks: its functional API with both chains written
  out by hand, and SQLite with sync.
step: a chain of 21 immediate calls less a chain of one, by 20. Less the call: less a bare call. No network: the same
  chains through an edge that answers at once.
append: one event of a tool's answer with two effects due, committed; with 64 runs at once commits are shared.
machine: events that Run::apply takes in, each followed by pending(), all effects answered at once; no driver.
waiting: 10,000 runs of one process in one call each, held until every lease was renewed; the tool is another process.
  By default: with the limits for calls at once that a driver has by default, the others wait for a place. A run: what
  each adds while all wait; LangGraph with 1,000 runs, SQLite and sync.
";

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads = ["what", "ours", "", "beside", "", "ratio", "bar", ""].map(str::to_owned);
        let lines: Vec<[String; 8]> = [heads].into_iter().chain(self.rows.iter().map(Row::cells)).collect();
        let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; 8] = std::array::from_fn(width);
        for line in &lines {
            let cells: Vec<String> = line.iter().zip(widths).enumerate().map(pad).collect();
            writeln!(out, "{}", cells.join("  ").trim_end())?;
        }
        writeln!(out, "\npeers: {}\n", self.peers.join("; "))?;
        self.notes.iter().try_for_each(|note| writeln!(out, "{note}"))?;
        writeln!(out, "\n{LEGEND}")?;
        let failed = self.rows.iter().filter(|row| !row.holds()).count();
        let barred = self.rows.iter().filter(|row| row.at_most.is_some()).count();
        writeln!(out, "{} of {barred} bars hold", barred - failed)
    }
}

/// Text to the left, numbers to the right.
fn pad((column, (cell, width)): (usize, (&String, usize))) -> String {
    if matches!(column, 2 | 4 | 5) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
}
