//! What the start of an agent needs, whichever command starts it.

use reknit_engine::SessionRules;
use reknit_runtime::config::Config;
use reknit_runtime::{AgentStartError, NamedAgent};

use crate::output::Failure;
use crate::setup::{AgentFile, MODEL_HINT};

/// The configuration for an agent: its last model is waited for longest.
pub(crate) fn with_limits_of_models(mut config: Config, agent: &AgentFile) -> Config {
    for name in agent.last_targets() {
        config.use_limits_of_last_model(name);
    }
    // Whoever sets the time of an attempt does not want a model to be given up earlier because another one follows.
    if agent.agent.rules.llm_timeout_ms != SessionRules::default().llm_timeout_ms {
        let names: Vec<String> = config.models.iter().map(|model| model.name.to_string()).collect();
        for name in &names {
            config.use_limits_of_last_model(name);
        }
    }
    config
}

pub(crate) fn named(file: AgentFile) -> NamedAgent {
    let AgentFile { name, agent, agents, .. } = file;
    NamedAgent { name, agent, agents: agents.into_iter().map(named).collect() }
}

pub(crate) fn start_failure(error: AgentStartError) -> Failure {
    let message = error.to_string();
    match error {
        AgentStartError::NoModel => Failure::usage(message, MODEL_HINT),
        AgentStartError::Unknown { known, .. } if known.is_empty() => Failure::usage(message, "none is configured"),
        AgentStartError::Unknown { known, .. } => Failure::usage(message, format!("available: {}", known.join(", "))),
        _ => Failure::Usage { message, hint: None },
    }
}
