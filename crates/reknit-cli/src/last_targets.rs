//! The models that the limits of the configuration are for when a run is resumed.

use reknit_engine::{Machine, SessionStarted};
use reknit_model_api::TargetName;

/// The last model in the list of the run, and of each agent in it.
pub(crate) fn last_targets(machine: &Machine) -> Vec<&TargetName> {
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
