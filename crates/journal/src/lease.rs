//! The right to drive a run.

use reknit_protocol::RunId;

use crate::Holder;

/// The right to append to a run, given by [`Journal::create`](crate::Journal::create) and
/// [`Journal::acquire`](crate::Journal::acquire).
///
/// What protects a run is the epoch: each new lease has the next one, and whoever comes with an older one is fenced off.
/// A term that has passed only means that somebody else *may* take the run; until somebody does, the holder goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub(crate) run: RunId,
    pub(crate) epoch: u64,
    pub(crate) holder: Holder,
    pub(crate) until_ms: i64,
}

impl Lease {
    /// The run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The fencing epoch, from 1.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Who holds it.
    pub fn holder(&self) -> &Holder {
        &self.holder
    }

    /// The end of the term, in milliseconds since 1970.
    pub fn until_ms(&self) -> i64 {
        self.until_ms
    }
}

/// How long a lease is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// Now, in milliseconds since 1970.
    pub now_ms: i64,
    /// For so many milliseconds from now.
    pub ttl_ms: u64,
}

impl Term {
    /// The first moment at which somebody else may take the run.
    pub fn until_ms(self) -> i64 {
        self.now_ms.saturating_add_unsigned(self.ttl_ms)
    }
}
