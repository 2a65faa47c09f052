//! What happened to one step.

use reknit_protocol::{CallTool, Object};

/// Whether a call of a step may have taken effect without a known outcome.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Uncertainty {
    #[default]
    None,
    /// The process ended before it read the answer: a refusal of the same call under the same key tells the outcome.
    Interrupted,
    Open,
    /// A person approved that the call is sent again, once.
    Approved,
}

impl Uncertainty {
    pub(super) fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Interrupted)
    }
}

/// A call that a person approved, by the text of its parameters.
pub(super) enum ApprovedCall {
    /// With its idempotency key.
    AsAsked(String, Option<String>),
    /// It gets a new key.
    Edited(String),
    /// With the other calls of its loop.
    Item(String),
}

/// What happened to one step.
#[derive(Default)]
pub(super) struct StepLog {
    pub(super) is_done: bool,
    /// The tool denied access, which ends the step.
    pub(super) is_access_denied: bool,
    /// The parameters that the tool rejected, and whether a model has advised to send them again since.
    pub(super) rejected: Vec<(Object, bool)>,
    pub(super) last_call: Option<CallTool>,
    /// Whether a call was due, also one without an outcome, because the run ended before.
    pub(super) was_due: bool,
    /// What the tool answered to it, in lower case.
    pub(super) last_error: String,
    /// The parameters of calls that a person approved.
    pub(super) approved: Vec<Object>,
    /// The calls that a person approved.
    pub(super) approved_calls: Vec<ApprovedCall>,
    /// The parameters that a correction after the last call named; `None` if anything may change.
    pub(super) named: Option<Vec<String>>,
    pub(super) uncertainty: Uncertainty,
    /// How often a model has looked for missing values.
    pub(super) resolutions: u32,
}
