//! The time, which only the edge knows.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// A future in a box, for seams that are stored.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Tells the time and waits for it.
pub trait Clock: Send + Sync + std::fmt::Debug + 'static {
    /// Milliseconds since 1970. It never goes back within a process.
    fn now_ms(&self) -> i64;
    /// Resolves when that moment has come. Dropping it ends the wait.
    fn sleep_until(&self, at_ms: i64) -> BoxFuture<'static, ()>;
}

/// The system's clock. It is read once; from then on time is what has passed, so a clock that is set back does not
/// make events out of order.
#[derive(Debug)]
pub struct SystemClock {
    began_ms: i64,
    began: tokio::time::Instant,
}

impl SystemClock {
    /// Reads the clock.
    pub fn new() -> Self {
        Self { began_ms: jiff::Timestamp::now().as_millisecond(), began: tokio::time::Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        let passed = self.began.elapsed().as_millis();
        self.began_ms.saturating_add(i64::try_from(passed).unwrap_or(i64::MAX))
    }

    fn sleep_until(&self, at_ms: i64) -> BoxFuture<'static, ()> {
        let left = u64::try_from(at_ms.saturating_sub(self.now_ms())).unwrap_or(0);
        Box::pin(tokio::time::sleep(Duration::from_millis(left)))
    }
}
