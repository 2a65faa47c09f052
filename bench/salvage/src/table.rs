//! The one table at the end.

use std::fmt;

/// What a ratio must keep to.
#[derive(Clone, Copy)]
pub enum Bar {
    AtMost(f64),
    AtLeast(f64),
}

/// Who did how many bytes in how many seconds.
pub struct Side {
    name: String,
    bytes: f64,
    seconds: f64,
}

impl Side {
    pub fn new(name: &str, bytes: usize, seconds: f64) -> Self {
        Self { name: name.to_owned(), bytes: bytes as f64, seconds }
    }

    fn speed(&self) -> f64 {
        self.bytes / self.seconds
    }

    fn shown_speed(&self) -> String {
        format!("{:.1}", self.speed() / 1e6)
    }
}

/// One comparison.
pub struct Row {
    what: String,
    ours: Side,
    theirs: Side,
    ratio: f64,
    unit: &'static str,
    bar: Option<Bar>,
}

impl Row {
    /// How much more time per byte we take.
    pub fn time(what: String, ours: Side, theirs: Side, bar: Option<Bar>) -> Self {
        let ratio = theirs.speed() / ours.speed();
        Self { what, ours, theirs, ratio, unit: "x time", bar }
    }

    /// How many times as fast we are.
    pub fn speed(what: String, ours: Side, theirs: Side, bar: Option<Bar>) -> Self {
        let ratio = ours.speed() / theirs.speed();
        Self { what, ours, theirs, ratio, unit: "x speed", bar }
    }

    fn holds(&self) -> bool {
        match self.bar {
            Some(Bar::AtMost(limit)) => self.ratio <= limit,
            Some(Bar::AtLeast(limit)) => self.ratio >= limit,
            None => true,
        }
    }

    fn cells(&self) -> [String; 8] {
        let (bar, verdict) = match self.bar {
            Some(Bar::AtMost(limit)) => (format!("<= {limit}"), self.verdict()),
            Some(Bar::AtLeast(limit)) => (format!(">= {limit}"), self.verdict()),
            None => (String::new(), String::new()),
        };
        let ratio = format!("{:.2} {}", self.ratio, self.unit);
        let (ours, theirs) = (self.ours.name.clone(), self.theirs.name.clone());
        [self.what.clone(), ours, self.ours.shown_speed(), theirs, self.theirs.shown_speed(), ratio, bar, verdict]
    }

    fn verdict(&self) -> String {
        (if self.holds() { "PASS" } else { "FAIL" }).to_owned()
    }
}

/// All comparisons, with what must be known to read them.
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
        self.notes.push(note);
    }

    /// Notes the version of a peer, once.
    pub fn peer(&mut self, version: &str) {
        if self.peers.iter().all(|known| known != version) {
            self.peers.push(version.to_owned());
        }
    }

    /// Whether every bar holds.
    pub fn holds(&self) -> bool {
        self.rows.iter().all(Row::holds)
    }
}

const LEGEND: &str = "\
MB/s: the best of many rounds, all taking turns; read, fit and serde_json include dropping what comes out.
serde_json: with its default features; preserve_order keeps the order of keys, as we do.
json_repair: repair_json(text, return_objects=True). With a schema also schema=schema, which is taken in anew at each
  call; `prepared` is wrapped here so that it happens once per schema, which the library does not offer.
jsonrepair: jsonrepair(text), which gives text. With JSON.parse it gives a value, as the others do.
fit: from the value, the schema compiled once, outside the clock. compile + fit: the schema compiled at each call.
read_as: from the text that json_repair gets, its parse included, the schema compiled once.
growth: processor time of the thread, dropping what comes out included.
";

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads = ["what", "ours", "MB/s", "theirs", "MB/s", "ratio", "bar", ""].map(str::to_owned);
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
        let barred = self.rows.iter().filter(|row| row.bar.is_some()).count();
        writeln!(out, "{} of {barred} bars hold", barred - failed)
    }
}

/// Text to the left, numbers to the right.
fn pad((column, (cell, width)): (usize, (&String, usize))) -> String {
    if matches!(column, 2 | 4 | 5) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
}
