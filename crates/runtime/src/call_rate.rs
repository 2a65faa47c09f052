//! How many calls of a tool may be started in a time. A call over the rate waits for its turn, in the order of arrival.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use reknit_telemetry::Severity;
use tokio::sync::{Mutex, MutexGuard};

use crate::clock::Clock;
use crate::telemetry::log::emit_event;

/// The highest number of calls in a rate. The time of each call is kept until it no longer counts.
const MAX_CALLS: u32 = 100_000;

/// How many calls may be started in a time: in every window of that length, not on average.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRate {
    calls: NonZeroU32,
    per: Duration,
}

/// A text is not a rate like `10/s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write a number from 1 to 100000 per second, minute or hour, like `10/s`, `100/m` or `1000/h`")]
pub struct InvalidRate;

impl CallRate {
    /// A rate of so many calls in a time. Fails if the number is 0 or above 100,000, or the time is below a millisecond.
    pub fn new(calls: u32, per: Duration) -> Result<Self, InvalidRate> {
        let calls = NonZeroU32::new(calls).filter(|calls| calls.get() <= MAX_CALLS).ok_or(InvalidRate)?;
        if per < Duration::from_millis(1) { Err(InvalidRate) } else { Ok(Self { calls, per }) }
    }
}

impl FromStr for CallRate {
    type Err = InvalidRate;

    /// Reads `10/s`, `100/m` or `1000/h`.
    fn from_str(text: &str) -> Result<Self, InvalidRate> {
        let (calls, unit) = text.split_once('/').ok_or(InvalidRate)?;
        let seconds = match unit.trim() {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            _ => return Err(InvalidRate),
        };
        Self::new(calls.trim().parse().map_err(|_| InvalidRate)?, Duration::from_secs(seconds))
    }
}

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
        let is_full = started_ms.len() >= self.rate.calls.get() as usize;
        if let Some(first_ms) = started_ms.front().filter(|_| is_full) {
            let free_ms = first_ms.saturating_add(i64::try_from(self.rate.per.as_millis()).unwrap_or(i64::MAX));
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
    /// Counts a call that is started now.
    pub(crate) fn take(mut self, now_ms: i64) {
        if self.started_ms.len() >= self.rate.calls.get() as usize {
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

    #[test]
    fn a_rate_is_a_number_per_second_minute_or_hour() {
        for (text, calls, seconds) in [("10/s", 10, 1), ("100/m", 100, 60), ("1/h", 1, 3_600), (" 2 / s ", 2, 1)] {
            assert_eq!(text.parse(), CallRate::new(calls, Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "10", "0/s", "-1/s", "1.5/s", "10/d", "10/", "/s", "100001/s", "10/s/s"] {
            assert_eq!(text.parse::<CallRate>(), Err(InvalidRate), "{text}");
        }
    }

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
