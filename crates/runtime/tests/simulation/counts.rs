//! How often what happened: a simulation that never reaches a state proves nothing about it.

use std::collections::BTreeMap;
use std::fmt;

/// How often each thing happened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counts(BTreeMap<String, u64>);

/// What must happen at least once in so many seeds, on average.
pub(crate) const EXPECTED: [(&str, u64); 45] = [
    ("run ended", 1),
    ("session ended", 5),
    ("event", 1),
    ("crash", 5),
    ("pause", 5),
    ("clock step", 10),
    ("process with another clock", 5),
    ("take-over from a dead process", 10),
    ("take-over after expiry", 20),
    ("driver returned an error", 5),
    ("fenced append", 100),
    ("fenced claim or renewal", 100),
    ("disk: slow", 5),
    ("disk: stalled", 10),
    ("disk: error", 5),
    ("disk: locked", 10),
    ("disk: lost acknowledgement", 5),
    ("disk: outage", 10),
    ("renewal", 5),
    ("renewal failed", 30),
    ("inbox poll failed", 10),
    ("late wake-up", 20),
    ("future dropped", 20),
    ("watcher panicked", 20),
    ("tool called", 1),
    ("deed done", 1),
    ("deed recognised by its key", 40),
    ("call sent again", 5),
    ("call refused", 5),
    ("call lost", 5),
    ("call reached the tool after a crash", 200),
    ("call timed out", 5),
    ("event: interrupted", 5),
    ("event: breaker_open", 100),
    ("event: receipt_known", 20),
    ("event: key_held", 20),
    ("event: person_decided", 5),
    ("event: cancelled", 10),
    ("event: stopped", 50),
    ("job started", 10),
    ("job called back", 50),
    ("event of an item of a loop", 10),
    ("poll", 50),
    ("effect verified", 10),
    ("second plan", 80),
];

impl Counts {
    pub(crate) fn add(&mut self, name: &str, times: u64) {
        match self.0.get_mut(name) {
            Some(count) => *count += times,
            None => _ = self.0.insert(name.to_owned(), times),
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(name, count)| self.add(name, *count));
    }

    pub(crate) fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// What happened less often than [`EXPECTED`] in so many seeds.
    pub(crate) fn missing(&self, seeds: u64) -> Vec<String> {
        let rare = EXPECTED.iter().filter(|(name, every)| self.of(name) < seeds / every);
        rare.map(|(name, every)| format!("{name}: {} times, expected {}", self.of(name), seeds / every)).collect()
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, count)| writeln!(out, "{count:>12}  {name}"))
    }
}
