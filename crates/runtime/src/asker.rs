//! Asking until somebody answers, outside of a run: one question, several models.

mod piece;

use std::sync::Arc;

use reknit_dialogue::{
    Answer, CallOutcome, Delta, ErrorClass, Failure, GiveUp, Next, Request, Rotation, Rules, TargetName,
};
use reknit_models::Models;

use crate::clock::Clock;
use crate::gates::{Closed, Gates};
use piece::Sink;
pub use piece::{Piece, Stream};

/// Asks until somebody answers: one question, several models, by the rules of a [`Rotation`], through the [`Gates`] that
/// runs go through too. Cheap to clone. Dropping the future of a question ends it, also while it waits.
#[derive(Debug, Clone)]
pub struct Asker {
    models: Arc<Models>,
    targets: Vec<TargetName>,
    rules: Rules,
    stream: Stream,
    gates: Arc<Gates>,
    clock: Arc<dyn Clock>,
}

/// A question that was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// What was answered. Its model and its usage are those of the attempt that was served.
    pub answer: Answer,
    /// Who answered.
    pub target: TargetName,
    /// Every attempt before it, in order.
    pub failed: Vec<FailedAttempt>,
}

/// An attempt that gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedAttempt {
    /// Who was asked.
    pub target: TargetName,
    /// Why there was no answer, and what it may have cost all the same.
    pub failure: Failure,
}

/// A question that nobody has answered.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct Unanswered {
    /// Why nobody is asked any more.
    pub reason: GiveUp,
    /// Every attempt, in order.
    pub failed: Vec<FailedAttempt>,
}

impl Unanswered {
    /// Why the last attempt failed, in the provider's words; none if nobody was asked.
    pub fn last(&self) -> Option<&Failure> {
        self.failed.last().map(|attempt| &attempt.failure)
    }

    fn sentence(&self) -> String {
        match self.last() {
            Some(failure) => format!("{failure}; {}", self.reason),
            None => self.reason.to_string(),
        }
    }
}

impl Asker {
    /// Asks these targets of these models, the preferred one first.
    pub fn new(
        models: Arc<Models>,
        targets: Vec<TargetName>,
        rules: Rules,
        gates: Arc<Gates>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { models, targets, rules, stream: Stream::Live, gates, clock }
    }

    /// The same with another way of passing pieces on.
    #[must_use]
    pub fn with_stream(self, stream: Stream) -> Self {
        Self { stream, ..self }
    }

    /// Asks until somebody answers or nobody is left to ask. `on_piece` gets the answer piece by piece.
    pub async fn ask(
        &self,
        request: &Request,
        on_piece: &mut (dyn FnMut(Piece<'_>) + Send),
    ) -> Result<Asked, Unanswered> {
        let mut rotation = Rotation::new(self.targets.clone(), self.rules.clone());
        let mut failed = Vec::new();
        let mut sink = Sink::new(self.stream, on_piece);
        while let Some(target) = rotation.target().cloned() {
            let next = match self.attempt(&target, request, &mut sink).await {
                Ok(answer) => {
                    sink.finish(&answer);
                    return Ok(Asked { answer, target, failed });
                }
                Err(NoAnswer::Closed(Closed { until_ms })) => rotation.closed(unsigned(until_ms), self.now_ms()),
                Err(NoAnswer::Failed(failure)) => {
                    let next = rotation.failed(&failure, self.now_ms());
                    failed.push(FailedAttempt { target, failure });
                    next
                }
            };
            if let Next::Wait { ms } = next {
                self.clock.sleep_until(self.clock.now_ms().saturating_add_unsigned(ms)).await;
            }
        }
        let reason = rotation.gave_up().cloned().unwrap_or(GiveUp::NoTargets);
        Err(Unanswered { reason, failed })
    }

    async fn attempt(&self, target: &TargetName, request: &Request, sink: &mut Sink<'_>) -> Result<Answer, NoAnswer> {
        let permit = self.gates.enter_model(target).await.map_err(NoAnswer::Closed)?;
        sink.begin();
        let result = self.models.ask(target, request, &mut |delta: Delta<'_>| sink.pass(delta)).await;
        permit.settle(CallOutcome::of_model(&result));
        let answer = result.map_err(NoAnswer::Failed)?;
        // An answer that only calls tools is one. What has neither words nor calls is none.
        match answer.words() {
            Err(failure) if answer.tool_calls.is_empty() || failure.class == ErrorClass::ContentFilter => {
                Err(NoAnswer::Failed(failure))
            }
            Ok(_) | Err(_) => Ok(answer),
        }
    }

    fn now_ms(&self) -> u64 {
        unsigned(self.clock.now_ms())
    }
}

/// Why an attempt gave no answer.
enum NoAnswer {
    /// It was not made.
    Closed(Closed),
    Failed(Failure),
}

fn unsigned(ms: i64) -> u64 {
    u64::try_from(ms).unwrap_or(0)
}
