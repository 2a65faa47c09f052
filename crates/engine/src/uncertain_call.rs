//! Calls that failed but may have taken effect.

use reknit_protocol::{AgentName, CapabilityName, Object, exact};
use serde::{Deserialize, Serialize};

/// A tool call, reduced to what decides whether another call is the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct UncertainCall {
    pub(crate) agent: AgentName,
    pub(crate) capability: CapabilityName,
    #[serde(with = "exact")]
    pub(crate) parameters: Object,
}
