//! Whether a run can be driven on from here.

use reknit_dialogue::TargetName;
use reknit_engine::{Catalogue, Progress, Run, StepState, StepView};

/// What a run still needs and is not here, in words. To drive it on without would fail for good what only waits for a
/// tool to be started.
pub(crate) fn missing(run: &Run, catalogue: &Catalogue, targets: &[TargetName]) -> Vec<String> {
    let started = run.started();
    let mut missing: Vec<String> = match run.progress() {
        Progress::Ended => return Vec::new(),
        // A plan may use any tool that was there when the run began.
        Progress::Choosing | Progress::Planning { .. } => {
            let gone = started.catalogue.tools.iter().filter(|tool| catalogue.tool(tool.name.as_str()).is_none());
            gone.map(|tool| format!("tool `{}`", tool.name)).collect()
        }
        Progress::Running | Progress::Answering => {
            let steps = run.steps();
            let gone = steps.iter().filter(|step| is_open(step) && !is_there(step, catalogue));
            gone.map(|step| format!("`{}` of tool `{}`", step.capability, step.agent)).collect()
        }
    };
    missing.dedup();
    missing.extend(
        started.targets.iter().filter(|target| !targets.contains(target)).map(|name| format!("model `{name}`")),
    );
    missing
}

fn is_open(step: &StepView) -> bool {
    !matches!(step.state, StepState::Done | StepState::Failed { .. } | StepState::Skipped { .. })
}

fn is_there(step: &StepView, catalogue: &Catalogue) -> bool {
    catalogue.entry(step.agent.as_str(), step.capability.as_str()).is_some()
}
