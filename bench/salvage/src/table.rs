//! The table of results.

use crate::columns::{Rows, TableRow};

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

    fn verdict(&self) -> String {
        (if self.passes() { "PASS" } else { "FAIL" }).to_owned()
    }
}

impl TableRow for Row {
    const HEADINGS: [&'static str; 8] = ["what", "ours", "MB/s", "theirs", "MB/s", "ratio", "limit", ""];
    const LEGEND: &'static str = "\
MB/s: the fastest of many interleaved rounds; read, fit and serde_json include dropping the result.
serde_json: with its default features; preserve_order keeps the order of keys, like Value.
json_repair: repair_json(text, return_objects=True). With a schema also schema=schema, which it processes in each call;
  `prepared` is wrapped so that this happens once per schema, which the library does not offer.
jsonrepair: jsonrepair(text), which returns text. With JSON.parse it returns a value, like the others.
fit: starts with the value; the schema is compiled before the measurement. compile + fit: it is compiled in each call.
read_as: starts with the same text as json_repair and includes parsing; the schema is compiled once.
growth: processor time of the thread, including dropping the result.
";

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

    fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    fn passes(&self) -> bool {
        match self.limit {
            Some(Limit::AtMost(max)) => self.ratio <= max,
            Some(Limit::AtLeast(min)) => self.ratio >= min,
            None => true,
        }
    }
}

pub type Table = Rows<Row>;
