//! How long a write waits for other processes.

use std::time::Duration;

/// How long a process waits while another process locks the file. Processes normally write for milliseconds; only one
/// that was suspended in the middle of a write holds the lock longer.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the writes of a driver wait while another process locks the file.
pub const MAX_LOCK_WAIT: Duration = Duration::from_mins(5);
