//! The origin of a plan.

use std::fmt;

/// The origin of a plan. It is kept as information only.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PlanMode {
    /// `autonomous`: a model wrote the plan for the request.
    Autonomous,
    /// `workflow`: the plan existed before the request.
    Workflow,
    /// A mode that the protocol does not define, as written.
    Other(String),
}

impl PlanMode {
    /// The name in JSON.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Autonomous => "autonomous",
            Self::Workflow => "workflow",
            Self::Other(word) => word,
        }
    }
}

impl From<String> for PlanMode {
    fn from(word: String) -> Self {
        match word.as_str() {
            "autonomous" => Self::Autonomous,
            "workflow" => Self::Workflow,
            _ => Self::Other(word),
        }
    }
}

impl fmt::Display for PlanMode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}
