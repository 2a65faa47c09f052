//! Signals that other processes send to the driver of a run.

use crate::StoredEvent;

/// A signal to the driver of a run: a cancellation, a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSignal {
    /// The kind of signal: `cancel`.
    pub kind: String,
    /// One JSON object, returned byte for byte.
    pub body: String,
}

impl RunSignal {
    /// A signal of this kind with this body.
    pub fn new(kind: impl Into<String>, body: impl Into<String>) -> Self {
        Self { kind: kind.into(), body: body.into() }
    }
}

/// The id of a signal. A later signal has a greater id, across all runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SignalId(pub(crate) u64);

impl SignalId {
    /// The number, for messages.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl std::fmt::Display for SignalId {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(out)
    }
}

/// A signal in the inbox of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxMessage {
    /// Its id, which [`Append::consumed`](crate::Append::consumed) takes.
    pub id: SignalId,
    /// When it was sent, in milliseconds since 1970.
    pub at_ms: i64,
    pub signal: RunSignal,
}

/// A signal that was sent before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EarlierSignal {
    /// It waits in the inbox of its run.
    Waiting(InboxMessage),
    /// The run has read it and made this event of it.
    Read(StoredEvent),
}
