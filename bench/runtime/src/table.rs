//! The table of results.

use std::fmt;

use crate::columns::{Rows, TableRow};

/// A number with its unit.
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

/// A name and its result.
pub struct Side {
    name: String,
    amount: Amount,
}

impl Side {
    pub fn new(name: impl Into<String>, amount: Amount) -> Self {
        Self { name: name.into(), amount }
    }
}

/// A result, optionally with one to compare it with and with a limit.
pub struct Row {
    what: String,
    ours: Side,
    compared_with: Option<Side>,
    limit: Option<Amount>,
}

impl Row {
    pub fn new(what: impl Into<String>, ours: Side) -> Self {
        Self { what: what.into(), ours, compared_with: None, limit: None }
    }

    pub fn compared_with(mut self, side: Side) -> Self {
        self.compared_with = Some(side);
        self
    }

    pub fn with_limit(mut self, limit: Amount) -> Self {
        self.limit = Some(limit);
        self
    }
}

impl TableRow for Row {
    const HEADINGS: [&'static str; 8] = ["what", "ours", "", "compared with", "", "ratio", "limit", ""];
    const LEGEND: &'static str = "\
Times and rates are medians of interleaved rounds; memory is the peak of the process (VmHWM).
skewed: A(10 ms) -> C(200 ms) | B(200 ms) -> D(10 ms), 210 ms if each step waits only for its own dependencies. The whole
  run is timed, with the commits of its first and last event. Keyed: each call is claimed in the journal before it is made.
plain code: two chains of bare calls with the same client, without a plan or a journal: the time of tool server and network.
LangGraph: a StateGraph, compiled before the measurement. SQLite: AsyncSqliteSaver, synchronous = FULL, durability as named
  (async is its default; sync commits before it continues, like Reknit). Tasks: its functional API with both chains written
  as coroutines, and SQLite with sync.
step: the time of a chain of 21 immediate calls minus that of a chain of one, divided by 20. Without its call: minus a bare
  call. No network: the same chains through a transport that responds at once. Compared with a synced write: 4 KiB appended to
  a file beside the journal, then fdatasync, just before each chain; a keyed step also claims its call.
append: one event of a tool's reply with two due effects, committed; 64 runs at once share commits.
machine: events applied by Run::apply, each followed by pending(); every effect is answered at once, and there is no driver.
waiting: 10,000 runs in one process, each in one call that is held until every lease is renewed; the tool is another process.
  By default: with the default limits of concurrent calls; the other runs wait for a slot. Per run: the memory of each run
  while all wait; LangGraph with 1,000 runs, SQLite and sync.
";

    fn cells(&self) -> [String; 8] {
        let ratio = self.compared_with.as_ref().map(|other| {
            let unit = if matches!(other.amount, Amount::PerSecond(_)) { "x speed" } else { "x" };
            format!("{:.2} {unit}", self.ours.amount.number() / other.amount.number())
        });
        let (name, amount) = match &self.compared_with {
            Some(side) => (side.name.clone(), side.amount.to_string()),
            None => Default::default(),
        };
        let (limit, verdict) = match self.limit {
            Some(limit) => (format!("<= {limit}"), if self.passes() { "PASS" } else { "FAIL" }),
            None => Default::default(),
        };
        let ours = self.ours.amount.to_string();
        [
            self.what.clone(),
            self.ours.name.clone(),
            ours,
            name,
            amount,
            ratio.unwrap_or_default(),
            limit,
            verdict.into(),
        ]
    }

    fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    fn passes(&self) -> bool {
        self.limit.is_none_or(|limit| self.ours.amount.number() <= limit.number())
    }
}

pub type Table = Rows<Row>;
