//! Decision records: what a machine decided while it applied one event.
//!
//! Records follow from events alone, so replaying a run yields the same records. Telemetry, history, progress and the
//! command line read records; none of them repeats a decision.

mod directive;
mod model;
mod run;
mod session;

pub use directive::{Action, RetryDirective};
pub use model::{ModelQuestion, ModelRecord};
pub use run::{
    CallEnd, MendDetail, PlanRejection, RejectionCause, RunRecord, RungStart, StepDescription, StepEnd, WaitReason,
};
pub use session::{
    AnswerKind, Attempt, AttemptStatus, CollapseReason, ContextAction, DropReason, ModelWaitReason, SessionRecord,
    TurnOutcome, WaitEnd,
};

pub use reknit_salvage::TextCallForm;

use reknit_protocol::{ScopeLevel, StepId};

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

impl From<ModelRecord> for RecordKind {
    fn from(record: ModelRecord) -> Self {
        Self::Model(record)
    }
}

impl From<RunRecord> for RecordKind {
    fn from(record: RunRecord) -> Self {
        Self::Run(record)
    }
}

impl From<SessionRecord> for RecordKind {
    fn from(record: SessionRecord) -> Self {
        Self::Session(record)
    }
}
