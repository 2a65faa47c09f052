//! The state behind a number of events, so that not all of them must be applied again.

/// A state of the machine. The events remain the truth; a snapshot only saves applying them again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// How many events the state has behind it.
    pub len: u64,
    /// The version of the machine that wrote it.
    pub machine_version: u32,
    /// The state, given back byte for byte.
    pub body: String,
}
