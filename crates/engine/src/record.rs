//! Decision records: what a machine decided while it applied one event.
//!
//! Records follow from events alone, so replaying a run yields the same records. Telemetry, history, progress and the
//! command line read records; none of them repeats a decision.

mod run;
mod session;

pub use run::{
    CallEnd, MendDetail, PlanRejection, RejectionCause, RunRecord, RungStart, StepDescription, StepEnd, WaitReason,
};
pub use session::{
    AnswerKind, Attempt, AttemptStatus, CollapseReason, ContextAction, DropReason, SessionRecord, TurnOutcome, WaitEnd,
};

pub use reknit_model_api::{ModelWaitReason, WaitSource};
pub use reknit_salvage::TextCallForm;

use std::sync::Arc;

use reknit_model_api::{GiveUpReason, ModelAnswer, ModelFailure, ModelRequest, Next, Purpose, TargetName};
use reknit_protocol::{EffectId, ScopeLevel, StepId, word_enum};
use serde::{Deserialize, Serialize};

/// One decision, and the machine that made it.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Where the machine is nested; empty for the machine that the driver applies events to.
    pub scope: Vec<ScopeLevel>,
    pub kind: RecordKind,
}

/// A decision of either machine.
#[derive(Debug, Clone, PartialEq)]
pub enum RecordKind {
    Model(ModelRecord),
    Run(RunRecord),
    Session(SessionRecord),
}

impl Record {
    /// The decision of the session that events are applied to; `None` for a run and for a nested machine.
    pub fn as_own_session(&self) -> Option<&SessionRecord> {
        match &self.kind {
            RecordKind::Session(record) if self.scope.is_empty() => Some(record),
            RecordKind::Session(_) | RecordKind::Model(_) | RecordKind::Run(_) => None,
        }
    }

    /// The step that a decision of the run is about; `None` for other decisions and for a nested machine. Every decision that
    /// changes what people see of a step has a record about it.
    pub fn own_step(&self) -> Option<&StepId> {
        match &self.kind {
            _ if !self.scope.is_empty() => None,
            RecordKind::Session(_) => None,
            RecordKind::Model(record) => record.effect().step(),
            RecordKind::Run(record) => record.step(),
        }
    }

    /// The learned rule whose change a tool rejected, and what happened in words; `None` for other decisions.
    pub fn rejected_rule(&self) -> Option<(&str, &str)> {
        match &self.kind {
            RecordKind::Run(RunRecord::Mended { detail: MendDetail::RuleRejected { rule }, mend, .. }) => {
                Some((rule, &mend.description))
            }
            RecordKind::Run(_) | RecordKind::Model(_) | RecordKind::Session(_) => None,
        }
    }

    pub(crate) fn new(kind: impl Into<RecordKind>) -> Self {
        Self { scope: Vec::new(), kind: kind.into() }
    }

    /// The same record, as the enclosing machine reports it. Effects in it keep the ids of the nested machine.
    pub(crate) fn nested_in(mut self, scope: &[ScopeLevel]) -> Self {
        self.scope.splice(0..0, scope.iter().copied());
        self
    }
}

macro_rules! record_kinds {
    ($($record:ident => $kind:ident),*) => {$(
        impl From<$record> for RecordKind {
            fn from(record: $record) -> Self {
                Self::$kind(record)
            }
        }
    )*};
}

record_kinds! { ModelRecord => Model, RunRecord => Run, SessionRecord => Session }

/// A question to a model, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelRecord {
    /// A model target was chosen and is asked.
    Asked(ModelQuestion),
    /// A model answered. The text may still turn out to be unusable for its purpose.
    Answered {
        /// The id of the effect that asked the question.
        id: EffectId,
        answer: Arc<ModelAnswer>,
        /// Why the answer counts as a failure, if it does: it has no text, or a session rejected it.
        failure: Option<ModelFailure>,
    },
    /// A model did not answer.
    Failed {
        /// The id of the effect that asked the question.
        id: EffectId,
        failure: ModelFailure,
    },
    /// A model target was skipped because its circuit breaker is open or it is at its rate limit.
    Skipped {
        /// The id of the effect that asked the question.
        id: EffectId,
        /// When the target can be asked again, in milliseconds since 1970.
        until_ms: i64,
    },
}

/// One question to one model target.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelQuestion {
    pub id: EffectId,
    pub target: TargetName,
    pub purpose: Purpose,
    /// The number of the attempt: of the plan for a plan, of the question for anything else.
    pub attempt: u32,
    pub request: Arc<ModelRequest>,
}

impl ModelRecord {
    /// The effect that asked the question.
    fn effect(&self) -> &EffectId {
        match self {
            Self::Asked(question) => &question.id,
            Self::Answered { id, .. } | Self::Failed { id, .. } | Self::Skipped { id, .. } => id,
        }
    }
}

/// The reaction to a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryDirective {
    pub action: Action,
    /// The wait before the next attempt, if there is one.
    pub backoff_ms: Option<u64>,
    /// The failure, for the log.
    pub log_message: String,
    /// The notice for the next model. Faults of a provider produce none.
    pub system_message: Option<String>,
    /// The response headers that requested the wait.
    pub sources: Vec<String>,
}

word_enum! {
    /// The action after a failed attempt.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Action {
        /// The next target is asked; this one may be asked again.
        Retry = "retry",
        /// The next target is asked; this one cannot answer the question.
        SkipProvider = "skip-provider",
        Abort = "abort",
    }
}

impl RetryDirective {
    pub(crate) fn new(failure: &ModelFailure, next: &Next, system_message: Option<String>) -> Self {
        let action = match next {
            Next::GiveUp(GiveUpReason::Fatal(class)) if class.is_fatal() => Action::Abort,
            _ => action(failure),
        };
        let backoff_ms = match next {
            Next::Wait { ms } => Some(*ms),
            _ => None,
        };
        let sources = failure.retry_after_from.iter().cloned().collect();
        Self { action, backoff_ms, log_message: failure.to_string(), system_message, sources }
    }
}

/// The action for a target, by its failure alone.
fn action(failure: &ModelFailure) -> Action {
    if failure.class.is_fatal() || failure.is_target_specific() { Action::SkipProvider } else { Action::Retry }
}

#[cfg(test)]
mod tests {
    use reknit_model_api::ErrorClass;

    use super::*;

    #[test]
    fn every_error_class_has_an_action() {
        use {Action::*, ErrorClass as E};
        for (class, status, expected) in [
            (E::RateLimit, Some(429), Retry),
            (E::ModelError, Some(500), SkipProvider),
            (E::ModelError, None, Retry),
            (E::ModelError, Some(404), SkipProvider),
            (E::NetworkError, Some(502), Retry),
            (E::Timeout, None, Retry),
            (E::InvalidResponse, None, Retry),
            (E::ContextLength, Some(400), SkipProvider),
            (E::ContentFilter, None, SkipProvider),
            (E::AuthError, Some(401), SkipProvider),
            (E::QuotaExceeded, Some(402), SkipProvider),
        ] {
            let failure = ModelFailure { status, ..ModelFailure::new(class, "") };
            assert_eq!(RetryDirective::new(&failure, &Next::Ask, None).action, expected, "{class}");
        }
        let fatal = Next::GiveUp(GiveUpReason::Fatal(E::AuthError));
        let failure = ModelFailure::new(E::AuthError, "no such key");
        assert_eq!(RetryDirective::new(&failure, &fatal, None).action, Abort);
    }

    #[test]
    fn a_directive_to_wait_names_the_duration_and_its_source() {
        let mut failure = ModelFailure::new(ErrorClass::RateLimit, "slow down").with_retry_after_ms(7_000);
        failure.retry_after_from = Some("retry-after".to_owned());
        let directive = RetryDirective::new(&failure, &Next::Wait { ms: 9_000 }, None);
        assert_eq!((directive.backoff_ms, directive.sources), (Some(9_000), vec!["retry-after".to_owned()]));
    }
}
