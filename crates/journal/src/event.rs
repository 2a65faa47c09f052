//! Events, the effects that they made due, and snapshots of the state after them.

/// An event to append. The journal does not interpret `body`; it returns the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    /// The kind of event, for lists and filters: `tool_answered`.
    pub kind: String,
    /// One JSON object.
    pub body: String,
    /// The effects that this event made due, in order. They are committed with it, so that a replay can be checked.
    pub due: Vec<DueEffect>,
}

impl NewEvent {
    /// An event that made no effect due.
    pub fn new(at_ms: i64, kind: impl Into<String>, body: impl Into<String>) -> Self {
        Self { at_ms, kind: kind.into(), body: body.into(), due: Vec::new() }
    }

    /// Sets the effects that the event made due.
    #[must_use]
    pub fn with_due(mut self, due: impl IntoIterator<Item = DueEffect>) -> Self {
        self.due = due.into_iter().collect();
        self
    }
}

/// An effect that became due.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DueEffect {
    /// Its structural id: `step-1/call/0`.
    pub effect: String,
    /// A digest of everything that the effect would do.
    pub digest: String,
}

impl DueEffect {
    pub fn new(effect: impl Into<String>, digest: impl Into<String>) -> Self {
        Self { effect: effect.into(), digest: digest.into() }
    }
}

/// An event as read from the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    /// Its position in the run, from 0.
    pub seq: u64,
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    pub kind: String,
    /// The body, byte for byte as it was appended.
    pub body: String,
}

/// The events of one kind from a position on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventsOfKind {
    pub kind: &'static str,
    pub from_seq: u64,
}

/// A state of the machine. It only saves replaying the events, which stay the source of truth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// How many events the state includes.
    pub len: u64,
    /// The version of the machine that wrote it.
    pub machine_version: u32,
    /// The state, returned byte for byte.
    pub body: String,
}
