//! What can be wrong with a plan.

use std::fmt;

use reknit_protocol::StepId;
use serde::{Deserialize, Serialize};

/// One thing that is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanProblem {
    /// What kind of thing, for programs.
    pub code: ProblemCode,
    /// In which step; none if it concerns the plan as a whole.
    pub step: Option<StepId>,
    /// What is wrong, in words.
    pub message: String,
    /// What to write instead, if that is known.
    pub hint: Option<String>,
}

/// The kinds of things that can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemCode {
    /// A step has no id.
    EmptyId,
    /// Two steps have one id.
    DuplicateId,
    /// A step needs itself.
    SelfDependency,
    /// A step needs one that is not there.
    UnknownDependency,
    /// Steps need each other in a circle.
    Cycle,
    /// There is no such tool.
    UnknownTool,
    /// The tool has no such capability.
    UnknownCapability,
    /// A parameter that must be there is not, and no earlier step could give it.
    MissingParameter,
    /// A parameter that the capability does not know.
    UnknownParameter,
    /// A reference or expression that cannot be read.
    BadReference,
}

impl PlanProblem {
    pub(super) fn new(code: ProblemCode, step: &StepId, message: String) -> Self {
        Self { code, step: Some(step.clone()), message, hint: None }
    }

    pub(super) fn hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }
}

impl fmt::Display for PlanProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(step) = &self.step {
            write!(out, "step `{step}`: ")?;
        }
        out.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(out, " ({hint})"),
            None => Ok(()),
        }
    }
}
