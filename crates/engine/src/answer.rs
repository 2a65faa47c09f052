//! The answer of a run: results, repairs, and missing results.

pub(crate) mod account;

use reknit_protocol::{CapabilityName, Object, RunId, StepId, ToolName, exact, word_enum};
use serde::{Deserialize, Serialize};

use crate::budget::Spent;
use crate::event::DecidedBy;
use crate::replanning::Replanning;
use crate::result_handle::ResultHandle;
use account::account_text;
use reknit_mend::{Fate, Mend};

word_enum! {
    /// The final status of a run.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Status {
        Complete = "complete",
        Partial = "partial",
        /// No step succeeded, or there was no plan.
        Failed = "failed",
        /// The tools cannot serve the request.
        Impossible = "impossible",
        Cancelled = "cancelled",
        BudgetExhausted = "budget_exhausted",
    }
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub status: Status,
    pub text: String,
    pub written_by: AnswerAuthor,
    /// The reason for the status, if the steps do not explain it.
    pub reason: Option<String>,
    /// What a reader should verify: numbers that no result explains, or that no step used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// The outcome of each step, in the order of the plan.
    pub steps: Vec<StepReport>,
    /// The outputs of the plan, by name.
    #[serde(with = "exact", default, skip_serializing_if = "Object::is_empty")]
    pub outputs: Object,
    /// The outputs that could not be computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_outputs: Vec<MissingOutput>,
    /// The times that the planner was asked for a plan of what is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replannings: Vec<Replanning>,
    pub spent: Spent,
}

impl Answer {
    /// The text. Behind a model's text it adds the repairs and missing results, which a model may omit.
    pub fn full_text(&self) -> String {
        match self.written_by {
            AnswerAuthor::Model => format!("{}{}", self.text, account_text(self)),
            AnswerAuthor::Template | AnswerAuthor::Raw | AnswerAuthor::TemplateInstead(_) => self.text.clone(),
        }
    }
}

/// An output without a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissingOutput {
    pub name: String,
    pub reason: String,
}

/// The author of an answer's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerAuthor {
    /// A model, from the results.
    Model,
    /// Code, because the policy says so or no step succeeded.
    Template,
    /// Code: the text is the results as JSON.
    Raw,
    /// Code, because no model could; with the reason.
    TemplateInstead(String),
}

/// The outcome of a step, and its repairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    pub step: StepId,
    /// The step with the loop, if this is one of its items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_of: Option<StepId>,
    #[serde(rename = "agent")]
    pub tool: ToolName,
    pub capability: CapabilityName,
    /// The run with the session of its agent, if the step ran one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<RunId>,
    pub outcome: Outcome,
    /// Whether a second plan does in another way what the step was for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaced: bool,
    /// The repairs, in order.
    pub mends: Vec<Mend>,
    /// The approvals that rules asked for, or that changed the call, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<StepApproval>,
    pub calls: u32,
}

/// The approval of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepApproval {
    pub by: DecidedBy,
    pub reason: String,
    /// What they changed: `amount: 500 -> 50`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl std::fmt::Display for StepApproval {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { by, reason, change } = self;
        match change {
            Some(change) => write!(out, "edited and approved by {}: {change} ({reason})", by.as_str()),
            None => write!(out, "approved by {} ({reason})", by.as_str()),
        }
    }
}

/// The outcome of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Done(ResultHandle),
    Failed {
        reason: String,
        /// Whether the call may have taken effect.
        fate: Fate,
    },
    /// The call was made, but its result or its effect is not as the plan expects.
    Unconfirmed {
        reason: String,
        result: ResultHandle,
    },
    Skipped {
        reason: String,
    },
}
