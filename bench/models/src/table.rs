//! The result table.

use std::fmt;
use std::time::Duration;

use crate::Mode;

/// The target: our overhead is at most this fraction of litellm's.
const MAX_RATIO: f64 = 0.1;

/// Durations of all calls: bare in Rust, ours, rig-core, bare in Python, litellm.
#[derive(Default)]
pub struct Samples {
    times: [Vec<Duration>; 5],
}

impl Samples {
    pub fn add(&mut self, times: [Vec<Duration>; 5]) {
        for (all, more) in self.times.iter_mut().zip(times) {
            all.extend(more);
        }
    }

    /// The median of each, in microseconds.
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

    pub fn add(&mut self, mode: Mode, samples: &Samples) {
        self.rows.push(Row { mode, medians: samples.medians() });
    }

    /// Whether every row meets the target.
    pub fn meets_target(&self) -> bool {
        self.rows.iter().all(|row| row.ratio() <= MAX_RATIO)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "call    client    median     bare       added      ours / client   target")?;
        for row in &self.rows {
            let [bare, ours, rig, python, litellm] = row.medians;
            let [added, added_rig, added_litellm] = row.added();
            let mode = row.mode.name();
            writeln!(out, "{mode:<6}  ours      {ours:>7.0} us {bare:>7.0} us {added:>8.0} us")?;
            let ratio = added / added_rig;
            writeln!(out, "{mode:<6}  rig-core  {rig:>7.0} us {bare:>7.0} us {added_rig:>8.0} us  {ratio:>10.4} x")?;
            let verdict = if row.ratio() <= MAX_RATIO { "PASS" } else { "FAIL" };
            let ratio = row.ratio();
            writeln!(
                out,
                "{mode:<6}  litellm   {litellm:>7.0} us {python:>7.0} us {added_litellm:>8.0} us  {ratio:>10.4} x    <= {MAX_RATIO} {verdict}"
            )?;
        }
        writeln!(out)?;
        writeln!(
            out,
            "added = median of the client's calls minus the median of the same exchange without a client (`bare`): prepared"
        )?;
        writeln!(out, "bytes on one warm connection, in the client's own language. 60 words, in a stream 60 events.")?;
        write!(out, "{}; rig-core 0.44", self.version)
    }
}
