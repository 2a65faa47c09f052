//! What is told about the second plans of a run.

use std::fmt;

use reknit_protocol::StepId;
use serde::{Deserialize, Serialize};

/// One time that the planner was asked for a plan of what is missing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Replanning {
    /// The failed steps that led to it.
    pub failed: Vec<StepId>,
    /// The steps of the new plan; none while the planner is asked, and if there is no new plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<StepId>,
    /// Why there is no new plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gave_up: Option<String>,
}

impl fmt::Display for Replanning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |steps: &[StepId]| steps.iter().map(StepId::as_str).collect::<Vec<_>>().join(", ");
        write!(out, "after {} failed: ", names(&self.failed))?;
        match &self.gave_up {
            Some(reason) => write!(out, "no other plan ({reason})"),
            None if self.added.is_empty() => out.write_str("the planner is asked for another plan"),
            None => write!(out, "{}", names(&self.added)),
        }
    }
}
