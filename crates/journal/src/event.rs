//! What is written down: events, and the effects they made due.

/// An event to be appended. The journal does not look into `body`; it gives back the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    /// What kind of event it is, for lists and filters: `tool_answered`.
    pub kind: String,
    /// One JSON object.
    pub body: String,
    /// The effects that this event made due, in order. Committed with it, so that a replay can be checked.
    pub due: Vec<Due>,
}

impl NewEvent {
    /// An event that made nothing due.
    pub fn new(at_ms: i64, kind: impl Into<String>, body: impl Into<String>) -> Self {
        Self { at_ms, kind: kind.into(), body: body.into(), due: Vec::new() }
    }

    /// The same event, which made these effects due.
    #[must_use]
    pub fn with_due(mut self, due: impl IntoIterator<Item = Due>) -> Self {
        self.due = due.into_iter().collect();
        self
    }
}

/// An effect that became due.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Due {
    /// Its structural id: `step-1/call/0`.
    pub effect: String,
    /// A digest of everything it would do.
    pub digest: String,
}

impl Due {
    /// An effect with its digest.
    pub fn new(effect: impl Into<String>, digest: impl Into<String>) -> Self {
        Self { effect: effect.into(), digest: digest.into() }
    }
}

/// An event as it stands in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its position in the run, from 0.
    pub seq: u64,
    /// When it happened, in milliseconds since 1970.
    pub at_ms: i64,
    /// What kind of event it is.
    pub kind: String,
    /// The body, byte for byte as it was appended.
    pub body: String,
}
