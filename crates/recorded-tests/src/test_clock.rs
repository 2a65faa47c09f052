//! The clock of a test: it starts at a given time and follows the time of its runtime, which is virtual.

use std::time::Duration;

use reknit_runtime::{BoxFuture, Clock};
use tokio::time::Instant;

#[derive(Debug, Clone, Copy)]
pub(crate) struct TestClock {
    at_ms: i64,
    started: Instant,
}

impl TestClock {
    /// A clock that now shows this time. It must be made inside a runtime.
    pub(crate) fn starting_at(at_ms: i64) -> Self {
        Self { at_ms, started: Instant::now() }
    }

    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl Clock for TestClock {
    fn now_ms(&self) -> i64 {
        self.at_ms.saturating_add_unsigned(self.elapsed_ms())
    }

    fn sleep_until(&self, at_ms: i64) -> BoxFuture<'static, ()> {
        let wait = u64::try_from(at_ms.saturating_sub(self.now_ms())).unwrap_or_default();
        Box::pin(tokio::time::sleep(Duration::from_millis(wait)))
    }
}
