//! How many calls of a tool may be started in a time. A call over the rate waits for its turn, in the order of arrival.

use std::collections::VecDeque;

use reknit_config::CallRate;
use reknit_telemetry::Severity;
use tokio::sync::{Mutex, MutexGuard};

use crate::clock::Clock;
use crate::telemetry::log::emit_event;

/// The rate of one tool, and when its last calls were started.
#[derive(Debug)]
pub(crate) struct RateLimit {
    rate: CallRate,
    /// Whoever holds the lock is next. The lock is fair.
    started_ms: Mutex<VecDeque<i64>>,
}

/// The right to make the next call. If it is dropped, the next caller has it.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    rate: CallRate,
    started_ms: MutexGuard<'a, VecDeque<i64>>,
}

impl RateLimit {
    pub(crate) fn new(rate: CallRate) -> Self {
        Self { rate, started_ms: Mutex::default() }
    }

    /// Waits until a call would be within the rate.
    pub(crate) async fn wait(&self, tool: &str, clock: &dyn Clock) -> Turn<'_> {
        let started_ms = self.started_ms.lock().await;
        let is_full = started_ms.len() >= self.rate.calls();
        if let Some(first_ms) = started_ms.front().filter(|_| is_full) {
            let free_ms = first_ms.saturating_add(i64::try_from(self.rate.per().as_millis()).unwrap_or(i64::MAX));
            let wait_ms = free_ms.saturating_sub(clock.now_ms());
            if wait_ms > 0 {
                let wait = format!("{tool}, {wait_ms} ms");
                emit_event(Severity::Info, "a call waits for the rate limit of its tool", "wait", &wait);
                clock.sleep_until(free_ms).await;
            }
        }
        Turn { rate: self.rate, started_ms }
    }
}

impl Turn<'_> {
    pub(crate) fn take(mut self, now_ms: i64) {
        if self.started_ms.len() >= self.rate.calls() {
            self.started_ms.pop_front();
        }
        self.started_ms.push_back(now_ms);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::SystemClock;

    use super::*;

    /// When calls that all arrive at once are started, in milliseconds.
    #[tokio::test(start_paused = true)]
    async fn no_window_has_more_calls_than_the_rate_allows() {
        let clock = Arc::new(SystemClock::new());
        let begin_ms = clock.now_ms();
        let limit = Arc::new(RateLimit::new("3/s".parse().unwrap()));
        let mut started = Vec::new();
        for _ in 0..8 {
            limit.wait("t", clock.as_ref()).await.take(clock.now_ms());
            started.push(clock.now_ms() - begin_ms);
        }
        assert_eq!(started, [0, 0, 0, 1000, 1000, 1000, 2000, 2000]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_given_up_does_not_count() {
        let clock = SystemClock::new();
        let limit = RateLimit::new("1/s".parse().unwrap());
        drop(limit.wait("t", &clock).await);
        let begin_ms = clock.now_ms();
        limit.wait("t", &clock).await.take(clock.now_ms());
        assert_eq!(clock.now_ms(), begin_ms);
    }
}
