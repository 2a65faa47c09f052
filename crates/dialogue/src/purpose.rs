//! Purposes of model requests.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Purpose of a model request. A closed list: it labels metrics, events and recorded prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Turn a request into a plan.
    PlanGeneration,
    /// Correct the parameters of a rejected call by the tool's error.
    Correction,
    /// Bind a parameter that code could not bind, before the call.
    MicroResolution,
    /// Find a rejected call's parameters again, with all context.
    SemanticRetry,
    /// Write the answer from the results.
    Synthesis,
    /// The same, streamed.
    SynthesisStreaming,
    /// Choose the tools that a plan may need from a large catalogue.
    TieredSelection,
    /// Find invented tools and fields in a plan.
    HallucinationDetection,
    /// Judge whether a failed call can succeed with other parameters.
    ErrorAnalysis,
    /// Make the next turn of an agent session.
    AgentTurn,
}

impl Purpose {
    /// All purposes.
    pub const ALL: [Self; 10] = [
        Self::PlanGeneration,
        Self::Correction,
        Self::MicroResolution,
        Self::SemanticRetry,
        Self::Synthesis,
        Self::SynthesisStreaming,
        Self::TieredSelection,
        Self::HallucinationDetection,
        Self::ErrorAnalysis,
        Self::AgentTurn,
    ];

    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PlanGeneration => "plan_generation",
            Self::Correction => "correction",
            Self::MicroResolution => "micro_resolution",
            Self::SemanticRetry => "semantic_retry",
            Self::Synthesis => "synthesis",
            Self::SynthesisStreaming => "synthesis_streaming",
            Self::TieredSelection => "tiered_selection",
            Self::HallucinationDetection => "hallucination_detection",
            Self::ErrorAnalysis => "error_analysis",
            Self::AgentTurn => "agent_turn",
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purpose_is_displayed_by_its_name_in_json() {
        for purpose in Purpose::ALL {
            assert_eq!(serde_json::to_string(&purpose).unwrap(), format!("\"{purpose}\""));
        }
    }
}
