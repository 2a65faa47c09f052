//! The clock of drivers.

mod shifted;

pub(crate) use shifted::ShiftedClock;

use std::time::{Duration, SystemTime};

use reknit_tools::BoxFuture;

/// Tells the time and sleeps.
pub trait Clock: Send + Sync + std::fmt::Debug + 'static {
    /// Milliseconds since 1970. It never goes back within a process.
    fn now_ms(&self) -> i64;
    /// Resolves at this time. Dropping the future cancels the sleep.
    fn sleep_until(&self, at_ms: i64) -> BoxFuture<'static, ()>;
}

/// The system clock. It is read once and then advanced by the elapsed time, so that events stay in order if the system clock
/// is set back.
#[derive(Debug)]
pub struct SystemClock {
    started_ms: i64,
    started: tokio::time::Instant,
}

impl SystemClock {
    /// Reads the system clock.
    pub fn new() -> Self {
        Self { started_ms: system_ms(), started: tokio::time::Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        let elapsed = self.started.elapsed().as_millis();
        self.started_ms.saturating_add(i64::try_from(elapsed).unwrap_or(i64::MAX))
    }

    fn sleep_until(&self, at_ms: i64) -> BoxFuture<'static, ()> {
        let remaining = Duration::from_millis(unsigned(at_ms.saturating_sub(self.now_ms())));
        Box::pin(tokio::time::sleep(remaining))
    }
}

/// The time of the system clock in milliseconds since 1970.
pub fn system_ms() -> i64 {
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
}

/// Converts milliseconds; a negative number becomes 0.
pub(crate) fn unsigned(ms: i64) -> u64 {
    u64::try_from(ms).unwrap_or(0)
}
