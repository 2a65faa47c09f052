//! The table of results.

use std::fmt;

use crate::columns::write_aligned;

/// The limit of a ratio.
#[derive(Clone, Copy)]
pub enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

/// An implementation, and the bytes that it processed in some seconds.
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

    fn megabytes_per_second(&self) -> String {
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
    limit: Option<Limit>,
}

impl Row {
    /// A row with the ratio of our time per byte to theirs.
    pub fn time(what: String, ours: Side, theirs: Side, limit: Option<Limit>) -> Self {
        let ratio = theirs.speed() / ours.speed();
        Self { what, ours, theirs, ratio, unit: "x time", limit }
    }

    /// A row with the ratio of our speed to theirs.
    pub fn speed(what: String, ours: Side, theirs: Side, limit: Option<Limit>) -> Self {
        let ratio = ours.speed() / theirs.speed();
        Self { what, ours, theirs, ratio, unit: "x speed", limit }
    }

    fn passes(&self) -> bool {
        match self.limit {
            Some(Limit::AtMost(max)) => self.ratio <= max,
            Some(Limit::AtLeast(min)) => self.ratio >= min,
            None => true,
        }
    }

    fn cells(&self) -> [String; 8] {
        let (limit, verdict) = match self.limit {
            Some(Limit::AtMost(max)) => (format!("<= {max}"), self.verdict()),
            Some(Limit::AtLeast(min)) => (format!(">= {min}"), self.verdict()),
            None => (String::new(), String::new()),
        };
        let ratio = format!("{:.2} {}", self.ratio, self.unit);
        let (ours, theirs) = (self.ours.name.clone(), self.theirs.name.clone());
        [
            self.what.clone(),
            ours,
            self.ours.megabytes_per_second(),
            theirs,
            self.theirs.megabytes_per_second(),
            ratio,
            limit,
            verdict,
        ]
    }

    fn verdict(&self) -> String {
        (if self.passes() { "PASS" } else { "FAIL" }).to_owned()
    }
}

/// All comparisons, with notes and the versions of the peers.
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

    /// Adds the version of a peer, once.
    pub fn peer(&mut self, version: &str) {
        if self.peers.iter().all(|known| known != version) {
            self.peers.push(version.to_owned());
        }
    }

    /// Whether every row is within its limit.
    pub fn passes(&self) -> bool {
        self.rows.iter().all(Row::passes)
    }
}

const LEGEND: &str = "\
MB/s: the fastest of many interleaved rounds; read, fit and serde_json include dropping the result.
serde_json: with its default features; preserve_order keeps the order of keys, like Value.
json_repair: repair_json(text, return_objects=True). With a schema also schema=schema, which it processes in each call;
  `prepared` is wrapped so that this happens once per schema, which the library does not offer.
jsonrepair: jsonrepair(text), which returns text. With JSON.parse it returns a value, like the others.
fit: starts with the value; the schema is compiled before the measurement. compile + fit: it is compiled in each call.
read_as: starts with the same text as json_repair and includes parsing; the schema is compiled once.
growth: processor time of the thread, including dropping the result.
";

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headings = ["what", "ours", "MB/s", "theirs", "MB/s", "ratio", "limit", ""].map(str::to_owned);
        let lines: Vec<[String; 8]> = [headings].into_iter().chain(self.rows.iter().map(Row::cells)).collect();
        write_aligned(out, &lines)?;
        writeln!(out, "\npeers: {}\n", self.peers.join("; "))?;
        self.notes.iter().try_for_each(|note| writeln!(out, "{note}"))?;
        writeln!(out, "\n{LEGEND}")?;
        let failed = self.rows.iter().filter(|row| !row.passes()).count();
        let limited = self.rows.iter().filter(|row| row.limit.is_some()).count();
        writeln!(out, "{} of {limited} limits hold", limited - failed)
    }
}
