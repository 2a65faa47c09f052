//! Asks models outside of a run: one request, several models.

mod stream;

use std::sync::Arc;

use reknit_model_api::{
    CallOutcome, Delta, ErrorClass, GiveUpReason, ModelAnswer, ModelFailure, ModelRequest, Next, Rotation,
    RotationRules, TargetName,
};
use reknit_models::Models;

use crate::breakers::{BreakerOpen, Breakers};
use crate::clock::{Clock, unsigned};
use stream::StreamWriter;
pub use stream::{StreamItem, StreamMode};

/// Sends a request to several models until one answers.
///
/// A [`Rotation`] chooses the model of each attempt. The [`Breakers`] can be shared with runs. Cheap to clone. Dropping
/// the future of a request cancels it, also while it waits before the next attempt.
#[derive(Debug, Clone)]
pub struct RotatingClient {
    models: Arc<Models>,
    targets: Vec<TargetName>,
    rules: RotationRules,
    stream_mode: StreamMode,
    breakers: Arc<Breakers>,
    clock: Arc<dyn Clock>,
}

/// An answer, and the attempts that it took. Its model and its usage are those of the successful attempt.
pub type ServedAnswer = Served<ModelAnswer>;

/// An attempt that returned no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedAttempt {
    pub target: TargetName,
    /// Why it failed, and the usage that the provider reported.
    pub failure: ModelFailure,
}

/// No model answered a request.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", self.message())]
pub struct NoAnswerError {
    pub reason: GiveUpReason,
    /// All attempts, in order.
    pub failed: Vec<FailedAttempt>,
}

impl NoAnswerError {
    /// The failure of the last attempt; `None` if no attempt was made.
    pub fn last(&self) -> Option<&ModelFailure> {
        self.failed.last().map(|attempt| &attempt.failure)
    }

    fn message(&self) -> String {
        match self.last() {
            Some(failure) => format!("{failure}; {}", self.reason),
            None => self.reason.to_string(),
        }
    }
}

impl RotatingClient {
    /// A client that asks these targets, the preferred one first.
    pub fn new(
        models: Arc<Models>,
        targets: Vec<TargetName>,
        rules: RotationRules,
        breakers: Arc<Breakers>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { models, targets, rules, stream_mode: StreamMode::Live, breakers, clock }
    }

    /// Sets when parts of an answer are passed on.
    #[must_use]
    pub fn with_stream_mode(self, stream_mode: StreamMode) -> Self {
        Self { stream_mode, ..self }
    }

    pub fn models(&self) -> &Models {
        &self.models
    }

    /// The targets that are asked, the preferred one first.
    pub fn targets(&self) -> &[TargetName] {
        &self.targets
    }

    /// A client that asks these targets instead.
    #[must_use]
    pub fn with_targets(self, targets: Vec<TargetName>) -> Self {
        Self { targets, ..self }
    }

    /// Asks until a model answers or the rotation gives up. `on_item` gets the parts of the answer.
    pub async fn ask(
        &self,
        request: &ModelRequest,
        on_item: &mut (dyn FnMut(StreamItem<'_>) + Send),
    ) -> Result<ServedAnswer, NoAnswerError> {
        let writer = StreamWriter::new(self.stream_mode, on_item);
        let mut questions = Questions { models: &self.models, request, writer };
        self.serve(&mut questions).await
    }

    /// Makes attempts until one succeeds or the rotation gives up.
    pub async fn serve<A: ModelAttempts>(&self, attempts: &mut A) -> Result<Served<A::Accepted>, NoAnswerError> {
        let mut rotation = Rotation::new(self.targets.clone(), self.rules.clone());
        let mut failed = Vec::new();
        let mut refused: Vec<TargetName> = Vec::new();
        while let Some(target) = rotation.target().cloned() {
            let next = match self.attempt(&target, rotation.asks_while_blocked(), attempts).await {
                Ok(answer) => return Ok(Served { answer, target, failed }),
                Err(AttemptError::BreakerOpen(BreakerOpen { until_ms, by })) => {
                    rotation.breaker_open(unsigned(until_ms), by, self.now_ms())
                }
                Err(AttemptError::Failed(failure)) => {
                    let failure = ModelFailure { cool_down_ms: self.breakers.cool_down_ms(&target), ..failure };
                    let next = rotation.failed(&failure, self.now_ms());
                    let reason = GiveUpReason::Fatal(failure.class);
                    refused.retain(|other| *other != target);
                    if failure.is_target_specific() && failure.status.is_some_and(|status| status < 500) {
                        refused.push(target.clone());
                    }
                    failed.push(FailedAttempt { target, failure });
                    // The request does not change: whoever refused it refuses it again.
                    if rotation.target().is_some() && rotation.targets().all(|target| refused.contains(target)) {
                        return Err(NoAnswerError { reason, failed });
                    }
                    next
                }
            };
            if let Next::Wait { ms } = next {
                self.clock.sleep_until(self.clock.now_ms().saturating_add_unsigned(ms)).await;
            }
        }
        let reason = rotation.gave_up().cloned().unwrap_or(GiveUpReason::NoTargets);
        Err(NoAnswerError { reason, failed })
    }

    async fn attempt<A: ModelAttempts>(
        &self,
        target: &TargetName,
        asks_while_blocked: bool,
        attempts: &mut A,
    ) -> Result<A::Accepted, AttemptError> {
        let permit = match self.breakers.acquire_model(target).await {
            Ok(permit) => Some(permit),
            Err(_) if asks_while_blocked => None,
            Err(blocked) => return Err(AttemptError::BreakerOpen(blocked)),
        };
        let result = attempts.attempt(target).await;
        match permit {
            Some(permit) => permit.record(CallOutcome::from_model_result(&result)),
            None if result.is_ok() => self.breakers.end_cool_down(target),
            None => {}
        }
        attempts.accept(target, result).map_err(AttemptError::Failed)
    }

    fn now_ms(&self) -> u64 {
        unsigned(self.clock.now_ms())
    }
}

/// The attempts at one request, of which a [`RotatingClient`] makes as many as are needed.
pub trait ModelAttempts: Send {
    /// What an attempt returns.
    type Answer: Send;
    /// What the caller gets.
    type Accepted: Send;

    /// Makes one attempt at a target.
    fn attempt(&mut self, target: &TargetName) -> impl Future<Output = Result<Self::Answer, ModelFailure>> + Send;

    /// Judges the result of an attempt. A failure leads to the next attempt, as long as the rules allow one. The model's circuit
    /// breaker does not hear of this judgement: the model has answered.
    fn accept(
        &mut self,
        target: &TargetName,
        result: Result<Self::Answer, ModelFailure>,
    ) -> Result<Self::Accepted, ModelFailure>;
}

/// What [`RotatingClient::serve`] returns.
#[derive(Debug, Clone, PartialEq)]
pub struct Served<T> {
    pub answer: T,
    pub target: TargetName,
    /// The failed attempts before it, in order.
    pub failed: Vec<FailedAttempt>,
}

/// The same question to one model after another.
struct Questions<'a> {
    models: &'a Models,
    request: &'a ModelRequest,
    writer: StreamWriter<'a>,
}

impl ModelAttempts for Questions<'_> {
    type Answer = ModelAnswer;
    type Accepted = ModelAnswer;

    async fn attempt(&mut self, target: &TargetName) -> Result<ModelAnswer, ModelFailure> {
        let Self { models, request, writer } = self;
        writer.start_attempt();
        models.ask(target, request, &mut |delta: Delta<'_>| writer.write(delta)).await
    }

    fn accept(
        &mut self,
        _target: &TargetName,
        result: Result<ModelAnswer, ModelFailure>,
    ) -> Result<ModelAnswer, ModelFailure> {
        let answer = result?;
        // An answer needs text or tool calls.
        match answer.require_text() {
            Err(failure) if answer.tool_calls.is_empty() || failure.class == ErrorClass::ContentFilter => Err(failure),
            Ok(_) | Err(_) => {
                self.writer.finish(&answer);
                Ok(answer)
            }
        }
    }
}

/// Why an attempt returned no answer.
enum AttemptError {
    /// The target was not asked.
    BreakerOpen(BreakerOpen),
    Failed(ModelFailure),
}
