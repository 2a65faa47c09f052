//! The inbox: what other processes want the driver of a run to know.

/// What somebody wants the driver of a run to know: a cancellation, a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// What kind of signal it is: `cancel`.
    pub kind: String,
    /// One JSON object, given back byte for byte.
    pub body: String,
}

impl Signal {
    /// A signal.
    pub fn new(kind: impl Into<String>, body: impl Into<String>) -> Self {
        Self { kind: kind.into(), body: body.into() }
    }
}

/// Which signal. A later one has a greater id, whichever run it is for.
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

/// A signal in an inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// Which one. [`Append::consumed`](crate::Append::consumed) wants it back.
    pub id: SignalId,
    /// When it was sent, in milliseconds since 1970.
    pub at_ms: i64,
    /// What it says.
    pub signal: Signal,
}
