//! What the configuration says about agents.

use reknit_mend::MendingPolicy;

use crate::config::Config;

/// What agents have instead of the settings of runs.
#[derive(Debug, Clone)]
pub(crate) struct AgentDefaults {
    /// How calls are mended if the agent allows models: the switch for runs does not count.
    pub(crate) mending: MendingPolicy,
    /// Whether the configuration limits the model calls.
    pub(crate) limits_model_calls: bool,
}

impl AgentDefaults {
    pub(crate) fn of(config: &Config) -> Self {
        let limits_model_calls = config.is_set("limits.model-calls");
        Self { mending: config.agent_mending.clone(), limits_model_calls }
    }
}
