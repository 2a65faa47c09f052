//! What a model is asked for.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a model is asked for. A closed list: it labels metrics, events and recorded prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Turn a request into a plan.
    PlanGeneration,
    /// Correct the parameters of a rejected call by what the tool said.
    Correction,
    /// Bind a parameter that code could not bind, before the call.
    MicroResolution,
    /// Find a rejected call's parameters anew, with everything that is known.
    SemanticRetry,
    /// Put the results into words.
    Synthesis,
    /// The same, shown while it is written.
    SynthesisStreaming,
    /// Choose the tools that a plan may need, out of many.
    TieredSelection,
    /// Look for things in a plan that do not exist.
    HallucinationDetection,
    /// Judge whether a failed call can succeed at all.
    ErrorAnalysis,
    /// Take a session one turn further.
    AgentTurn,
}

impl Purpose {
    /// Every purpose there is.
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

    /// The word on the wire.
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
    fn the_word_in_messages_is_the_word_in_json() {
        for purpose in Purpose::ALL {
            assert_eq!(serde_json::to_string(&purpose).unwrap(), format!("\"{purpose}\""));
        }
    }
}
