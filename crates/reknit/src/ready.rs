//! Whether a run can be driven on from here.

use reknit_dialogue::TargetName;
use reknit_engine::{Machine, Progress, Run, SessionStarted, StepState, StepView};
use reknit_plan::Catalogue;

/// What a run still needs and is not here, in words. To drive it on without would fail for good what only waits for a
/// tool to be started.
pub(crate) fn missing(machine: &Machine, catalogue: &Catalogue, targets: &[TargetName]) -> Vec<String> {
    let (mut missing, wanted) = match machine {
        _ if machine.ending().is_some() => return Vec::new(),
        Machine::Run(run) => (missing_tools(run, catalogue), &run.started().targets),
        // Any of its tools may be called in the next turn.
        Machine::Session(session) => (gone(&session.started().catalogue, catalogue), &session.started().targets),
    };
    missing.dedup();
    missing.extend(wanted.iter().filter(|target| !targets.contains(target)).map(|name| format!("model `{name}`")));
    missing
}

/// The models that a saved run, or an agent in it, asks last.
pub(crate) fn last_targets(machine: &Machine) -> Vec<&TargetName> {
    fn below(session: &SessionStarted) -> Vec<&TargetName> {
        let agents = session.agents.iter().flat_map(|agent| below(&agent.session));
        session.targets.last().into_iter().chain(agents).collect()
    }
    match machine {
        Machine::Run(run) => run.started().targets.last().into_iter().collect(),
        Machine::Session(session) => below(session.started()),
    }
}

fn gone(before: &Catalogue, now: &Catalogue) -> Vec<String> {
    let gone = before.tools.iter().filter(|tool| now.tool(tool.name.as_str()).is_none());
    gone.map(|tool| format!("tool `{}`", tool.name)).collect()
}

fn missing_tools(run: &Run, catalogue: &Catalogue) -> Vec<String> {
    match run.progress() {
        Progress::Ended => Vec::new(),
        // A plan may use any tool that was there when the run began.
        Progress::Choosing | Progress::Planning { .. } => gone(&run.started().catalogue, catalogue),
        Progress::Running | Progress::Answering => {
            let steps = run.steps();
            let gone = steps.iter().filter(|step| is_open(step) && !is_there(step, catalogue));
            gone.map(|step| format!("`{}` of tool `{}`", step.capability, step.agent)).collect()
        }
    }
}

fn is_open(step: &StepView) -> bool {
    !matches!(step.state, StepState::Done | StepState::Failed { .. } | StepState::Skipped { .. })
}

fn is_there(step: &StepView, catalogue: &Catalogue) -> bool {
    catalogue.entry(step.agent.as_str(), step.capability.as_str()).is_some()
}
