//! Timeouts of an attempt.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// Timeouts of an attempt. Each has its own error message.
///
/// | | default | [with a fallback](crate::Target::with_fallback_timeouts) |
/// |---|---|---|
/// | `connect` | 10 s | 10 s |
/// | `first_byte`, `first_token` | 2 min | 12 s, if the answer is streamed and the model shows its reasoning |
/// | `idle` | 60 s | 30 s |
/// | `total` | 10 min | 10 min |
///
/// The defaults are long because a model on the user's own machine may read a long prompt for minutes. With a fallback,
/// waiting for a model that is probably stalled costs more than asking the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For the connection: DNS, TCP and TLS. If it passes, nothing was sent.
    pub connect: Duration,
    /// From the start to the response headers. Without streaming most servers send them with the complete answer, so this
    /// bounds the whole answer: raise it for slow models.
    pub first_byte: Duration,
    /// From the start to the first piece of the answer or of the reasoning. Keep-alive events do not count.
    pub first_token: Duration,
    /// Between two pieces of the answer.
    pub idle: Duration,
    /// From the start to the complete answer.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(2),
            first_token: Duration::from_mins(2),
            idle: Duration::from_mins(1),
            total: Duration::from_mins(10),
        }
    }
}

impl Timeouts {
    /// Sets the time for the complete answer. A longer one is also the time to the first byte and token: whoever grants a slow
    /// model more time does so for all of its answer.
    pub(crate) fn set_total(&mut self, total: Duration) {
        if total > self.total {
            self.first_byte = self.first_byte.max(total);
            self.first_token = self.first_token.max(total);
        }
        self.total = total;
    }

    pub(crate) const FALLBACK_FIRST_TOKEN: Duration = Duration::from_secs(12);
    pub(crate) const FALLBACK_IDLE: Duration = Duration::from_secs(30);
}

/// After the finish reason the answer is complete; only the token counts and the end mark may follow.
const TRAILER_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Headers,
    FirstToken,
    NextToken,
    /// Token counts and end mark after a complete answer.
    Trailer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TimeoutExceeded {
    #[error("no first byte within {0:?}")]
    FirstByte(Duration),
    #[error("no first token within {0:?}")]
    FirstToken(Duration),
    #[error("no data for {0:?}")]
    Idle(Duration),
    #[error("not complete within {0:?}")]
    Total(Duration),
}

#[derive(Debug)]
pub(crate) struct TimeoutTracker {
    timeouts: Timeouts,
    started: Instant,
    last_progress: Instant,
}

impl TimeoutTracker {
    pub(crate) fn start(timeouts: Timeouts) -> Self {
        let now = Instant::now();
        Self { timeouts, started: now, last_progress: now }
    }

    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(crate) fn note_progress(&mut self) {
        self.last_progress = Instant::now();
    }

    pub(crate) async fn within<T>(&self, stage: Stage, future: impl Future<Output = T>) -> Result<T, TimeoutExceeded> {
        let (deadline, exceeded) = self.deadline(stage);
        // If the future is always ready, `timeout_at` never looks at its timer.
        if Instant::now() >= deadline {
            return Err(exceeded);
        }
        timeout_at(deadline, future).await.map_err(|_elapsed| exceeded)
    }

    fn deadline(&self, stage: Stage) -> (Instant, TimeoutExceeded) {
        let Timeouts { first_byte, first_token, idle, total, .. } = self.timeouts;
        let trailer = idle.min(TRAILER_TIMEOUT);
        let stage = match stage {
            Stage::Headers => (self.started + first_byte, TimeoutExceeded::FirstByte(first_byte)),
            Stage::FirstToken => (self.started + first_token, TimeoutExceeded::FirstToken(first_token)),
            Stage::NextToken => (self.last_progress + idle, TimeoutExceeded::Idle(idle)),
            Stage::Trailer => (self.last_progress + trailer, TimeoutExceeded::Idle(trailer)),
        };
        let total = (self.started + total, TimeoutExceeded::Total(total));
        if total.0 < stage.0 { total } else { stage }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    const LIMITS: Timeouts = Timeouts {
        connect: Duration::from_secs(1),
        first_byte: Duration::from_secs(2),
        first_token: Duration::from_secs(3),
        idle: Duration::from_secs(4),
        total: Duration::from_secs(9),
    };

    #[test]
    fn a_request_can_shorten_and_lengthen_the_total() {
        let mut timeouts = Timeouts::default();
        timeouts.set_total(Duration::from_secs(5));
        assert_eq!(timeouts, Timeouts { total: Duration::from_secs(5), ..Timeouts::default() });
        let mut timeouts = Timeouts::default();
        timeouts.set_total(Duration::from_mins(30));
        let long = Duration::from_mins(30);
        let expected = Timeouts { first_byte: long, first_token: long, total: long, ..Timeouts::default() };
        assert_eq!(timeouts, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn each_stage_has_its_own_timeout_and_message() {
        for (stage, seconds, message) in [
            (Stage::Headers, 2, "no first byte within 2s"),
            (Stage::FirstToken, 3, "no first token within 3s"),
            (Stage::NextToken, 4, "no data for 4s"),
            (Stage::Trailer, 1, "no data for 1s"),
        ] {
            let tracker = TimeoutTracker::start(LIMITS);
            let exceeded = tracker.within(stage, pending::<()>()).await.unwrap_err();
            assert_eq!(exceeded.to_string(), message);
            assert_eq!(tracker.started.elapsed().as_secs(), seconds);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_timeout_that_has_passed_counts_even_if_data_is_ready() {
        let tracker = TimeoutTracker::start(LIMITS);
        tokio::time::advance(Duration::from_secs(4)).await;
        assert_eq!(tracker.within(Stage::NextToken, async {}).await, Err(TimeoutExceeded::Idle(LIMITS.idle)));
    }

    #[tokio::test(start_paused = true)]
    async fn progress_restarts_the_idle_timeout_but_not_the_total_one() {
        let mut tracker = TimeoutTracker::start(LIMITS);
        for _ in 0..2 {
            tokio::time::advance(Duration::from_secs(3)).await;
            tracker.note_progress();
        }
        let exceeded = tracker.within(Stage::NextToken, pending::<()>()).await.unwrap_err();
        assert_eq!(exceeded.to_string(), "not complete within 9s");
        assert_eq!(tracker.started.elapsed().as_secs(), 9);
    }
}
