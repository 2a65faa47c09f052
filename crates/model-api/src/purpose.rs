//! Purposes of model requests.

use reknit_protocol::word_enum;
use serde::{Deserialize, Serialize};

word_enum! {
    /// Purpose of a model request. A closed list: it labels metrics, events and recorded prompts.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Purpose {
        PlanGeneration = "plan_generation",
        /// Correct the parameters of a rejected call by the tool's error.
        Correction = "correction",
        /// Bind a parameter that code could not bind, before the call.
        MicroResolution = "micro_resolution",
        /// Find a rejected call's parameters again, with all context.
        SemanticRetry = "semantic_retry",
        /// Write the answer from the results.
        Synthesis = "synthesis",
        SynthesisStreaming = "synthesis_streaming",
        /// Choose the tools that a plan may need from a large catalogue.
        TieredSelection = "tiered_selection",
        /// Find invented tools and fields in a plan.
        HallucinationDetection = "hallucination_detection",
        /// Judge whether a failed call can succeed with other parameters.
        ErrorAnalysis = "error_analysis",
        /// Make the next turn of an agent session.
        AgentTurn = "agent_turn",
        /// Name what a request needs to change, before the agent reads anything.
        Mandate = "mandate",
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
