//! A clock that is ahead of another one.

use std::sync::Arc;

use reknit_tools::BoxFuture;

use super::Clock;

/// A clock that is ahead of another one by a fixed time.
///
/// The system clock may have been set back since a run was stored. Its time goes on from its last event: otherwise its waits
/// and limits would end only after the system clock has caught up.
#[derive(Debug)]
pub(crate) struct ShiftedClock {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ahead_ms: i64,
}

impl Clock for ShiftedClock {
    fn now_ms(&self) -> i64 {
        self.clock.now_ms().saturating_add(self.ahead_ms)
    }

    fn sleep_until(&self, at_ms: i64) -> BoxFuture<'static, ()> {
        self.clock.sleep_until(at_ms.saturating_sub(self.ahead_ms))
    }
}
