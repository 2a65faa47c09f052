//! What a journal in a file survives, how long its writes wait, and what opening it changed.

use std::path::PathBuf;
use std::time::Duration;

/// How long a process waits while another process locks the file. Processes normally write for milliseconds; only one
/// that was suspended in the middle of a write holds the lock longer.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the writes of a driver wait while another process locks the file.
pub const MAX_LOCK_WAIT: Duration = Duration::from_mins(5);

/// What a committed event survives. At every level it survives a crash of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Survives a power cut: each group of commits waits for the disk, so a committed effect is never repeated.
    Full,
    /// A power cut may lose the most recent commits, never older ones; the file stays intact.
    Normal,
    /// A power cut may damage the file. For tests and for runs that can be thrown away.
    Off,
}

/// What opening the file of an older build changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    pub from: u32,
    pub to: u32,
    /// A copy of the file as it was.
    pub backup: PathBuf,
}
