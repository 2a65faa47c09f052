//! What a run ends with: what was done, what was mended, what is missing.

use std::fmt;

use reknit_protocol::{AgentName, CapabilityName, Object, StepId, Value, exact};
use serde::{Deserialize, Serialize};

use crate::budget::Spent;
use crate::synthesis::account_text;
use reknit_mend::Fate;
use reknit_mend::Mend;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Every step did what it should.
    Complete,
    /// Some steps did.
    Partial,
    /// None did, or there was no plan.
    Failed,
    /// The tools cannot serve the request.
    Impossible,
    /// Somebody wanted it to end.
    Cancelled,
    /// A limit was reached.
    BudgetExhausted,
}

impl Status {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Partial => "partial",
            Self::Failed => "failed",
            Self::Impossible => "impossible",
            Self::Cancelled => "cancelled",
            Self::BudgetExhausted => "budget_exhausted",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

/// What a run ends with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// How it ended.
    pub status: Status,
    /// The answer for the user.
    pub text: String,
    /// Who wrote the text.
    pub written_by: Writer,
    /// Why it ended so, where the steps alone do not say.
    pub reason: Option<String>,
    /// What should be looked at twice, in words: numbers that no result states or no step used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// What became of each step, in the order of the plan.
    pub steps: Vec<StepReport>,
    /// What the plan gives, by name.
    #[serde(with = "exact", default, skip_serializing_if = "Object::is_empty")]
    pub outputs: Object,
    /// What the plan should give and cannot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_outputs: Vec<MissingOutput>,
    /// What it cost.
    pub spent: Spent,
}

impl Answer {
    /// The text, and behind the words of a model what was mended, tried and left out, which a model may forget. Code says
    /// so by itself, and results as JSON have nothing else beside them.
    pub fn full_text(&self) -> String {
        match self.written_by {
            Writer::Model => format!("{}{}", self.text, account_text(&self.steps, &self.missing_outputs)),
            Writer::Template | Writer::Raw | Writer::TemplateInstead(_) => self.text.clone(),
        }
    }
}

/// An output that has no value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MissingOutput {
    /// Its name.
    pub name: String,
    /// Why not, in words.
    pub reason: String,
}

/// Who wrote the text of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writer {
    /// A model, from the results.
    Model,
    /// Code, because it was asked for.
    Template,
    /// Nobody: the text is the results as JSON.
    Raw,
    /// Code, because no model could; with the reason.
    TemplateInstead(String),
}

/// What became of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// Which step.
    pub step: StepId,
    /// The tool.
    pub agent: AgentName,
    /// Its capability.
    pub capability: CapabilityName,
    /// How it ended.
    pub outcome: Outcome,
    /// How it was mended, in order.
    pub mends: Vec<Mend>,
    /// How often the tool was called.
    pub calls: u32,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// With a result.
    Done(#[serde(with = "exact")] Value),
    /// Without.
    Failed {
        /// Why, in words.
        reason: String,
        /// Whether the call may have had its effect all the same.
        fate: Fate,
    },
    /// It never began.
    Skipped {
        /// Why, in words.
        reason: String,
    },
}
