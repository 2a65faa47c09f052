//! Runs: what makes one, what is added to it, what a list shows.

use reknit_protocol::RunId;

use crate::{Holder, Lesson, NewEvent, SignalId, Snapshot};

/// A run to be created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    /// Its id, which no other run has.
    pub run: RunId,
    /// What a list shows: the request, or the name of the plan.
    pub title: String,
    /// Event 0.
    pub first: NewEvent,
}

/// What is to be added to a run, in one transaction: all of it or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// How many events the run must have now.
    pub expected_len: u64,
    /// The new events, in order.
    pub events: Vec<NewEvent>,
    /// The signals that became these events. They are not unread any more.
    pub consumed: Vec<SignalId>,
    /// A snapshot of the state behind these events.
    pub snapshot: Option<Snapshot>,
    /// What later runs can learn from it.
    pub lessons: Vec<Lesson>,
    /// Set when the run has ended with these events; it also gives the lease back.
    pub ending: Option<Ending>,
}

impl Append {
    /// Nothing yet, for a run that has `expected_len` events.
    pub fn at(expected_len: u64) -> Self {
        Self {
            expected_len,
            events: Vec::new(),
            consumed: Vec::new(),
            snapshot: None,
            lessons: Vec::new(),
            ending: None,
        }
    }

    /// One more event.
    #[must_use]
    pub fn event(mut self, event: NewEvent) -> Self {
        self.events.push(event);
        self
    }

    /// One more signal that became an event.
    #[must_use]
    pub fn consuming(mut self, signal: SignalId) -> Self {
        self.consumed.push(signal);
        self
    }

    /// The run ends with these events.
    #[must_use]
    pub fn ending(mut self, status: impl Into<String>, at_ms: i64) -> Self {
        self.ending = Some(Ending { status: status.into(), at_ms });
        self
    }
}

/// How a run ended, for lists. The events remain the truth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The status: `complete`, `failed`.
    pub status: String,
    /// When it ended, in milliseconds since 1970.
    pub at_ms: i64,
}

/// A run as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSummary {
    /// Its id.
    pub run: RunId,
    /// The request, or the name of the plan.
    pub title: String,
    /// When it was created, in milliseconds since 1970: the time of event 0.
    pub created_ms: i64,
    /// When its newest event happened.
    pub updated_ms: i64,
    /// How it ended; nothing while it has not.
    pub status: Option<String>,
    /// How many events it has.
    pub len: u64,
    /// How often it was leased. Part of the summary even while nobody holds it.
    pub epoch: u64,
    /// Who holds it. The term may have passed: then anybody may take it.
    pub lease: Option<Held>,
}

/// Who holds a run, and for how long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Who.
    pub holder: Holder,
    /// The end of the term, in milliseconds since 1970.
    pub until_ms: i64,
    /// The fencing epoch of the lease.
    pub epoch: u64,
}

/// Which runs to list, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFilter {
    /// Which ones.
    pub which: Which,
    /// At most so many.
    pub limit: u32,
}

impl RunFilter {
    /// The newest runs, whatever became of them.
    pub fn newest(limit: u32) -> Self {
        Self { which: Which::All, limit }
    }
}

/// Which runs to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// All of them.
    All,
    /// Those that have not ended.
    Unfinished,
    /// Those that have ended, in whatever way.
    Ended,
    /// Those that ended with this status.
    Status(String),
}

impl Which {
    /// Whether a run with this status belongs to them.
    pub(crate) fn holds(&self, status: Option<&str>) -> bool {
        match self {
            Self::All => true,
            Self::Unfinished => status.is_none(),
            Self::Ended => status.is_some(),
            Self::Status(wanted) => status == Some(wanted.as_str()),
        }
    }
}
