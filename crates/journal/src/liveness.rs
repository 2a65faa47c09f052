//! Whether a process is alive.

/// Whether the process of a holder is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// It is running.
    Alive,
    /// It has certainly ended: its leases may be taken over at once.
    Dead,
    /// This process cannot see it, for example because it is on another host: wait for the lease to expire.
    Unknown,
}
