//! Which models are used: those that are found when none is configured, and the limits of the last one.

use reknit_engine::{Machine, SessionRules, SessionStarted};
use reknit_model_api::TargetName;
use reknit_models::detect::{self, DetectedBy};
use reknit_runtime::config::{Config, FindModel, KeySource, SettingOrigin};

use crate::environment::variable;
use crate::output::{one_line, print_message};
use crate::setup::AgentFile;

/// Adds a model that was detected by an API key or a local server, if the configuration names none, and prints a note.
pub(crate) async fn with_detected_model(config: Config) -> Config {
    if !config.models.is_empty() || config.find_model == FindModel::Off {
        return config;
    }
    let by_key = detect::by_api_key(&variable).next();
    let found = match by_key {
        Some(found) => Some(found),
        None => detect::local_server().await,
    };
    let Some(found) = found else { return config };
    print_message(&format!(
        "note: no model is configured; using `{}` of {}, found through {}\n",
        one_line(&found.target.model, usize::MAX),
        found.target.name,
        found.by
    ));
    let name = found.target.name.clone();
    let mut config = config.with_models(vec![found.target], &SettingOrigin::Default);
    if let DetectedBy::Key(key) = found.by {
        config.keys.insert(name, KeySource::Variable(key.to_owned()));
    }
    config
}

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

/// The configuration for runs that are resumed: the last model of each is waited for longest.
pub(crate) fn with_limits_of_runs<'a>(mut config: Config, runs: impl IntoIterator<Item = &'a Machine>) -> Config {
    for target in runs.into_iter().flat_map(last_targets) {
        config.use_limits_of_last_model(target.as_str());
    }
    config
}

/// The last model in the list of the run, and of each agent in it.
fn last_targets(machine: &Machine) -> Vec<&TargetName> {
    fn of_session(session: &SessionStarted) -> Vec<&TargetName> {
        let agents = session.agents.iter().flat_map(|agent| of_session(&agent.session));
        session.targets.last().into_iter().chain(agents).collect()
    }
    match machine {
        Machine::Run(run) => {
            let agents = run.started().agents.iter().flat_map(|agent| of_session(&agent.session));
            run.started().targets.last().into_iter().chain(agents).collect()
        }
        Machine::Session(session) => of_session(session.started()),
    }
}
