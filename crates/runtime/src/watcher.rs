//! Watchers: callbacks that see every committed event.

use std::sync::Arc;

use reknit_engine::{Event, Machine, Record};

/// Observes every event once it is committed, and what the machine decided.
pub type Watcher = Arc<dyn Fn(&Committed<'_>) + Send + Sync>;

/// A committed event, as a [`Watcher`] sees it.
#[derive(Debug, Clone, Copy)]
pub struct Committed<'a> {
    /// The machine after the event and all others of the same commit.
    pub machine: &'a Machine,
    /// The event.
    pub event: &'a Event,
    /// What the machine decided when it applied the event.
    pub records: &'a [Record],
    /// Whether this process committed the event.
    pub origin: EventOrigin,
}

/// The process that committed an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventOrigin {
    /// This process, just now.
    New,
    /// An earlier one: this process replays it to resume the run.
    Replayed,
}
