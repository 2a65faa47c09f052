//! The one table at the end.

use std::fmt;
use std::time::Duration;

use crate::Mode;

/// Our added time is at most this part of litellm's.
const BAR: f64 = 0.1;

/// The times of all calls: bare in Rust, ours, rig-core, bare in Python, litellm.
#[derive(Default)]
pub struct Measured {
    times: [Vec<Duration>; 5],
}

impl Measured {
    pub fn add(&mut self, times: [Vec<Duration>; 5]) {
        for (all, more) in self.times.iter_mut().zip(times) {
            all.extend(more);
        }
    }

    /// The middle one of each, in microseconds.
    fn medians(&self) -> [f64; 5] {
        self.times.each_ref().map(|times| {
            let mut sorted = times.clone();
            sorted.sort();
            sorted.get(sorted.len() / 2).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
        })
    }
}

struct Row {
    mode: Mode,
    medians: [f64; 5],
}

impl Row {
    fn added(&self) -> [f64; 3] {
        let [bare, ours, rig, python, litellm] = self.medians;
        [ours - bare, rig - bare, litellm - python]
    }

    fn ratio(&self) -> f64 {
        let [ours, _, litellm] = self.added();
        ours / litellm
    }
}

pub struct Table {
    rows: Vec<Row>,
    version: String,
}

impl Table {
    pub fn new(version: &str) -> Self {
        Self { rows: Vec::new(), version: version.to_owned() }
    }

    pub fn add(&mut self, mode: Mode, measured: &Measured) {
        self.rows.push(Row { mode, medians: measured.medians() });
    }

    /// Whether the bar holds in every row.
    pub fn holds(&self) -> bool {
        self.rows.iter().all(|row| row.ratio() <= BAR)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "call    who       median     bare       added      ours beside it  bar")?;
        for row in &self.rows {
            let [bare, ours, rig, python, litellm] = row.medians;
            let [added, added_rig, added_litellm] = row.added();
            let mode = row.mode.word();
            writeln!(out, "{mode:<6}  ours      {ours:>7.0} us {bare:>7.0} us {added:>8.0} us")?;
            let beside = added / added_rig;
            writeln!(out, "{mode:<6}  rig-core  {rig:>7.0} us {bare:>7.0} us {added_rig:>8.0} us  {beside:>10.4} x")?;
            let verdict = if row.ratio() <= BAR { "PASS" } else { "FAIL" };
            let beside = row.ratio();
            writeln!(
                out,
                "{mode:<6}  litellm   {litellm:>7.0} us {python:>7.0} us {added_litellm:>8.0} us  {beside:>10.4} x    <= {BAR} {verdict}"
            )?;
        }
        writeln!(out)?;
        writeln!(
            out,
            "added = median of the client's call less the median of the same exchange without a client (`bare`): prepared"
        )?;
        writeln!(out, "bytes on one warm connection, in the client's own language. 60 words, in a stream 60 events.")?;
        write!(out, "{}; rig-core 0.44", self.version)
    }
}
