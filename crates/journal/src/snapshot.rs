//! Snapshots of the state of a run.

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
