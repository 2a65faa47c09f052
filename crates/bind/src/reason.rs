//! Why a parameter could not be bound.

mod fault;

use std::fmt;

use reknit_protocol::StepId;
use serde::{Deserialize, Serialize};

pub use fault::Fault;

/// A parameter without a value, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unbound {
    /// The parameter, by its name at the top level.
    pub parameter: String,
    /// Why it has no value.
    pub reason: Reason,
}

impl fmt::Display for Unbound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "`{}`: {}", self.parameter, self.reason)
    }
}

/// Why a parameter could not be bound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// There is no such step.
    #[error("missing step: there is no `{step}`")]
    UnknownStep {
        /// The step.
        step: StepId,
    },
    /// The step is not done yet.
    #[error("missing step: `{step}` is not done")]
    StepPending {
        /// The step.
        step: StepId,
    },
    /// The step has failed.
    #[error("missing step: `{step}` failed")]
    StepFailed {
        /// The step.
        step: StepId,
    },
    /// The step was skipped.
    #[error("missing step: `{step}` was skipped")]
    StepSkipped {
        /// The step.
        step: StepId,
    },
    /// The result has nothing at that place.
    #[error("`{reference}`: no such {available}")]
    NoSuchField {
        /// What was asked for.
        reference: String,
        /// What there is.
        available: Available,
    },
    /// The result has different values at two places that could be meant.
    #[error("ambiguous: {}", .candidates.join(", "))]
    Ambiguous {
        /// The places, with their steps.
        candidates: Vec<String>,
    },
    /// The value is null, and null does not do.
    #[error("`{what}` is null")]
    Null {
        /// The reference or expression that gave null.
        what: String,
    },
    /// A list or an object cannot stand inside a text.
    #[error("`{what}` is {kind}, which cannot stand inside a text")]
    NotText {
        /// The reference or expression.
        what: String,
        /// "an array", "an object".
        kind: String,
    },
    /// The calculation has no result.
    #[error("cannot calculate `{expression}`: {fault}")]
    Fault {
        /// The calculation.
        expression: String,
        /// What is wrong.
        fault: Fault,
    },
    /// The plan left a required parameter out, and no result that may be used has it.
    #[error("not in the plan, and in no result")]
    NotGiven,
    /// The plan left a required parameter out, and what the results have under its name does not fit.
    #[error("not in the plan, and what the results have does not fit: {}", .candidates.join(", "))]
    NoFit {
        /// The places, with their steps.
        candidates: Vec<String>,
    },
}

/// What a result has where a field was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Available {
    /// An object with these fields; the rest of them were left out if there are many.
    Fields(Vec<String>),
    /// A list with this many items.
    Items(usize),
    /// Something that has no fields: "a number".
    Scalar(String),
}

impl fmt::Display for Available {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fields(names) if names.is_empty() => out.write_str("field (there is none)"),
            Self::Fields(names) => write!(out, "field (has: {})", names.join(", ")),
            Self::Items(0) => out.write_str("item (the list is empty)"),
            Self::Items(count) => write!(out, "item (has: 0 to {})", count - 1),
            Self::Scalar(kind) => write!(out, "field (it is {kind})"),
        }
    }
}
