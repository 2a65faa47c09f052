//! How long things may take.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// How long the parts of an attempt may take. Each passes or fails on its own, with a message of its own.
///
/// | | alone, or the last to be asked | [before another](crate::Target::before_another) |
/// |---|---|---|
/// | connection | 10 s | 10 s |
/// | first byte and first token | 2 min | 12 s, if the answer is streamed and the model does not think unseen |
/// | between pieces | 60 s | 30 s |
/// | in all | 10 min | 10 min |
///
/// Who has nobody else to ask waits: a model on the own machine may read a long question for minutes. Where another can
/// answer, waiting for one that has probably died costs more than asking the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Until there is a connection: name, TCP and TLS. Without it nothing was sent.
    pub connect: Duration,
    /// From the start until the head of the response. Without streaming most servers send nothing before the answer is
    /// complete, so there this bounds the whole answer: raise it for slow models.
    pub first_byte: Duration,
    /// From the start until the first piece of the answer or of the model's reasoning. Signs of life that carry neither
    /// do not count.
    pub first_token: Duration,
    /// From one piece to the next.
    pub idle: Duration,
    /// From the start until the answer is complete.
    pub total: Duration,
}

impl Default for Limits {
    /// 10 s to connect, 120 s to the first byte and token, 60 s between pieces, 10 min in all.
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

impl Limits {
    /// For a target that hands over to another: a model that has died is noticed soon.
    pub(crate) const HAND_OVER: Duration = Duration::from_secs(12);
    /// The same in the middle of an answer.
    pub(crate) const HAND_OVER_IDLE: Duration = Duration::from_secs(30);
}

/// Once the finish reason is there the answer is complete; only the count of tokens and the end mark may still follow.
const TAIL: Duration = Duration::from_secs(1);

/// What is being waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The head of the response.
    Head,
    /// The first piece of the answer.
    FirstToken,
    /// The next piece.
    Next,
    /// What may come behind a complete answer.
    Tail,
}

/// A limit that has passed, and how long it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Exceeded {
    #[error("no first byte within {0:?}")]
    FirstByte(Duration),
    #[error("no first token within {0:?}")]
    FirstToken(Duration),
    #[error("silent for {0:?}")]
    Idle(Duration),
    #[error("not complete within {0:?}")]
    Total(Duration),
}

/// Holds one attempt to its limits.
#[derive(Debug)]
pub(crate) struct Watch {
    limits: Limits,
    started: Instant,
    progress: Instant,
}

impl Watch {
    /// Starts the clock.
    pub(crate) fn start(limits: Limits) -> Self {
        let now = Instant::now();
        Self { limits, started: now, progress: now }
    }

    /// How long it has run.
    pub(crate) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Something has arrived.
    pub(crate) fn progress(&mut self) {
        self.progress = Instant::now();
    }

    /// Waits for something, no longer than it may take.
    pub(crate) async fn within<T>(&self, stage: Stage, wait: impl Future<Output = T>) -> Result<T, Exceeded> {
        let (deadline, exceeded) = self.due(stage);
        // A server that always has another byte ready would never let the timer have its turn.
        if Instant::now() >= deadline {
            return Err(exceeded);
        }
        timeout_at(deadline, wait).await.map_err(|_elapsed| exceeded)
    }

    fn due(&self, stage: Stage) -> (Instant, Exceeded) {
        let Limits { first_byte, first_token, idle, total, .. } = self.limits;
        let tail = idle.min(TAIL);
        let stage = match stage {
            Stage::Head => (self.started + first_byte, Exceeded::FirstByte(first_byte)),
            Stage::FirstToken => (self.started + first_token, Exceeded::FirstToken(first_token)),
            Stage::Next => (self.progress + idle, Exceeded::Idle(idle)),
            Stage::Tail => (self.progress + tail, Exceeded::Idle(tail)),
        };
        let total = (self.started + total, Exceeded::Total(total));
        if total.0 < stage.0 { total } else { stage }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    const LIMITS: Limits = Limits {
        connect: Duration::from_secs(1),
        first_byte: Duration::from_secs(2),
        first_token: Duration::from_secs(3),
        idle: Duration::from_secs(4),
        total: Duration::from_secs(9),
    };

    #[tokio::test(start_paused = true)]
    async fn each_stage_has_its_own_limit_and_its_own_words() {
        for (stage, seconds, words) in [
            (Stage::Head, 2, "no first byte within 2s"),
            (Stage::FirstToken, 3, "no first token within 3s"),
            (Stage::Next, 4, "silent for 4s"),
            (Stage::Tail, 1, "silent for 1s"),
        ] {
            let watch = Watch::start(LIMITS);
            let exceeded = watch.within(stage, pending::<()>()).await.unwrap_err();
            assert_eq!(exceeded.to_string(), words);
            assert_eq!(watch.started.elapsed().as_secs(), seconds);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_limit_that_has_passed_counts_even_if_there_is_something_to_read() {
        let watch = Watch::start(LIMITS);
        tokio::time::advance(Duration::from_secs(4)).await;
        assert_eq!(watch.within(Stage::Next, async {}).await, Err(Exceeded::Idle(LIMITS.idle)));
    }

    #[tokio::test(start_paused = true)]
    async fn progress_puts_silence_off_but_not_the_end() {
        let mut watch = Watch::start(LIMITS);
        for _ in 0..2 {
            tokio::time::advance(Duration::from_secs(3)).await;
            watch.progress();
        }
        let exceeded = watch.within(Stage::Next, pending::<()>()).await.unwrap_err();
        assert_eq!(exceeded.to_string(), "not complete within 9s");
        assert_eq!(watch.started.elapsed().as_secs(), 9);
    }
}
