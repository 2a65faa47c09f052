//! The exclusive right to drive a run.

use reknit_protocol::RunId;

use crate::{Holder, LeaseInfo};

/// The right to append to a run, returned by [`Journal::create`](crate::Journal::create) and
/// [`Journal::acquire`](crate::Journal::acquire).
///
/// The epoch protects the run: each new lease gets the next epoch, and the journal refuses writes under an older one. An
/// expired lease only means that another process *may* take the run over; until one does, the holder can go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub(crate) run: RunId,
    pub(crate) info: LeaseInfo,
}

impl Lease {
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The fencing token, from 1.
    pub fn epoch(&self) -> u64 {
        self.info.epoch
    }

    pub fn holder(&self) -> &Holder {
        &self.info.holder
    }

    /// When the lease expires, in milliseconds since 1970.
    pub fn until_ms(&self) -> i64 {
        self.info.until_ms
    }
}

/// The time for which a process asks for a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTerm {
    /// The current time, in milliseconds since 1970.
    pub now_ms: i64,
    /// How long the lease lasts from now, in milliseconds.
    pub ttl_ms: u64,
}

impl LeaseTerm {
    /// When the lease expires: from this moment on another process may take the run over.
    pub fn until_ms(self) -> i64 {
        self.now_ms.saturating_add_unsigned(self.ttl_ms)
    }
}
