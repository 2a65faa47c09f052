//! One question to models: attempts on several targets until one answers or none is left.

use std::sync::Arc;

use reknit_model_api::{BlockedBy, ModelFailure, ModelRequest, Next, Purpose, Rotation, TargetName};
use reknit_protocol::{EffectId, EffectKind, EffectOwner};
use serde::{Deserialize, Serialize};

use crate::budget::{Bill, Exhausted, Quote, Spent};
use crate::effect::{AskModel, Effect, OpenBreakerPolicy};
use crate::policy::Policy;
use crate::record::ModelQuestion;
use crate::times::ms_between;

/// A question that is being asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Consultation {
    owner: EffectOwner,
    kind: EffectKind,
    purpose: Purpose,
    request: Arc<ModelRequest>,
    rotation: Rotation,
    /// The number of attempts under this owner and kind so far: the ordinal of the current effect.
    asked: u32,
    stage: Stage,
    /// The money reserved for the attempt in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quote: Option<Quote>,
    /// The moment by which the question must be answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deadline_ms: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    Asking,
    Waiting { until_ms: i64 },
}

/// What follows from the outcome of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NextAttempt {
    /// Ask the next target now; the attempt must be paid for first.
    AskNow,
    /// Ask after a wait, which has begun.
    Wait { id: EffectId, until_ms: i64 },
    /// No target is left.
    GiveUp(String),
}

impl Consultation {
    /// Opens a question. `asked` is the number of earlier attempts under this owner and kind.
    pub(crate) fn open(
        (owner, kind): (EffectOwner, EffectKind),
        asked: u32,
        purpose: Purpose,
        request: ModelRequest,
        rotation: Rotation,
    ) -> Self {
        Self {
            owner,
            kind,
            purpose,
            request: Arc::new(request),
            rotation,
            asked: asked + 1,
            stage: Stage::Asking,
            quote: None,
            deadline_ms: None,
        }
    }

    /// Pays for the next attempt and reserves the money it may cost.
    pub(crate) fn pay(&mut self, spent: &mut Spent, policy: &Policy) -> Result<(), Exhausted> {
        // After a crash the attempt may have been made, at an unknown cost.
        self.settle(spent, Bill::Unknown);
        let quote = Quote::new(policy, self.target(), &self.request);
        spent.charge_model_call(policy, self.purpose, self.target(), quote)?;
        self.quote = Some(quote);
        Ok(())
    }

    /// Replaces the reservation for the attempt by its cost.
    pub(crate) fn settle(&mut self, spent: &mut Spent, bill: Bill<'_>) {
        if let Some(quote) = self.quote.take() {
            spent.settle(quote, bill);
        }
    }

    /// The number of attempts under this owner and kind, the current one included.
    pub(crate) fn asked(&self) -> u32 {
        self.asked
    }

    /// The token limit for an answer.
    pub(crate) fn max_tokens(&self) -> u32 {
        self.request.max_tokens
    }

    /// Sets the token limit of the next attempts, unless it is larger already.
    pub(crate) fn raise_max_tokens(&mut self, max_tokens: u32) {
        if max_tokens > self.request.max_tokens {
            Arc::make_mut(&mut self.request).max_tokens = max_tokens;
        }
    }

    fn id(&self) -> EffectId {
        let kind = match self.stage {
            Stage::Asking => self.kind,
            Stage::Waiting { .. } => self.kind.wait().unwrap_or(EffectKind::AskWait),
        };
        EffectId::new(self.owner.clone(), kind, self.asked)
    }

    /// Whether the outcome of `effect` is for this question.
    pub(crate) fn awaits(&self, effect: &EffectId) -> bool {
        self.id() == *effect
    }

    /// Whether an attempt is in progress; otherwise the question waits.
    pub(crate) fn is_asking(&self) -> bool {
        self.stage == Stage::Asking
    }

    /// The effect that is due.
    pub(crate) fn effect(&self) -> Option<Effect> {
        let id = self.id();
        match self.stage {
            Stage::Waiting { until_ms } => Some(Effect::Sleep { id, until_ms }),
            Stage::Asking => Some(Effect::AskModel(AskModel {
                id,
                target: self.target()?.clone(),
                purpose: self.purpose,
                request: Arc::clone(&self.request),
                breaker: OpenBreakerPolicy::for_current_target(&self.rotation),
            })),
        }
    }

    /// The record of the attempt in progress. `attempt` replaces the ordinal where the purpose counts otherwise.
    pub(crate) fn question(&self, attempt: Option<u32>) -> Option<ModelQuestion> {
        Some(ModelQuestion {
            id: self.id(),
            target: self.target()?.clone(),
            purpose: self.purpose,
            attempt: attempt.unwrap_or(self.asked),
            request: Arc::clone(&self.request),
        })
    }

    /// The target of the current attempt.
    pub(crate) fn target(&self) -> Option<&TargetName> {
        self.rotation.target()
    }

    /// Sets the deadline of the question, which may be earlier than the run's.
    pub(crate) fn set_deadline(&mut self, deadline_ms: i64, now_ms: i64) {
        self.deadline_ms = Some(deadline_ms);
        self.limit_answer_time(now_ms);
    }

    /// Moves the deadline by the time in which no process drove the run.
    pub(crate) fn extend_deadline(&mut self, ms: i64) {
        self.deadline_ms = self.deadline_ms.map(|deadline| deadline.saturating_add(ms));
    }

    fn limit_answer_time(&mut self, now_ms: i64) {
        if let Some(deadline_ms) = self.deadline_ms {
            Arc::make_mut(&mut self.request).timeout_ms = Some(ms_between(now_ms, deadline_ms).max(1));
        }
    }

    /// Tells the question when the run ends: it neither asks nor waits beyond that.
    pub(crate) fn set_run_deadline(&mut self, deadline_ms: i64, now_ms: i64) {
        self.limit_answer_time(now_ms);
        let deadline_ms = self.deadline_ms.map_or(deadline_ms, |own| own.min(deadline_ms));
        self.rotation.set_deadline_ms(u64::try_from(deadline_ms).unwrap_or(0));
    }

    pub(crate) fn on_failure(&mut self, failure: &ModelFailure, now_ms: i64) -> NextAttempt {
        let next = self.rotation.failed(failure, u64::try_from(now_ms).unwrap_or(0));
        self.after(next, now_ms, failure)
    }

    /// The attempt was not made because the target's circuit breaker is open. It is neither paid for nor counted.
    pub(crate) fn on_breaker_open(&mut self, until_ms: i64, by: BlockedBy, now_ms: i64) -> NextAttempt {
        let unsigned = |ms: i64| u64::try_from(ms).unwrap_or(0);
        let next = self.rotation.breaker_open(unsigned(until_ms), by, unsigned(now_ms));
        self.after(next, now_ms, "no model was asked")
    }

    fn after(&mut self, next: Next, now_ms: i64, error: impl std::fmt::Display) -> NextAttempt {
        match next {
            Next::Ask => {
                self.asked += 1;
                NextAttempt::AskNow
            }
            Next::Wait { ms } => {
                let until_ms = now_ms.saturating_add_unsigned(ms);
                self.stage = Stage::Waiting { until_ms };
                NextAttempt::Wait { id: self.id(), until_ms }
            }
            Next::GiveUp(reason) => NextAttempt::GiveUp(format!("{error}; {reason}")),
        }
    }

    /// The end of the wait in progress; `None` while a model is asked.
    pub(crate) fn waits_until_ms(&self) -> Option<i64> {
        match self.stage {
            Stage::Asking => None,
            Stage::Waiting { until_ms } => Some(until_ms),
        }
    }

    /// The wait is over: the next attempt is due, and must be paid for.
    pub(crate) fn on_wait_over(&mut self, now_ms: i64) {
        self.limit_answer_time(now_ms);
        self.asked += 1;
        self.stage = Stage::Asking;
    }
}
