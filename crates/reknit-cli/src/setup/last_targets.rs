//! The models that the limits of the configuration are for when a run is resumed.

use reknit_engine::{Machine, SessionStarted};
use reknit_model_api::TargetName;
use reknit_runtime::config::Config;

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
