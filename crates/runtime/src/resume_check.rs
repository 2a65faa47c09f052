//! Checks whether a stored run can go on with the tools and models of this process.

use reknit_engine::{EngineKind, Machine, Progress, Run, StepState, StepView};
use reknit_model_api::TargetName;
use reknit_plan::{AGENT_TOOL, Catalogue};

use crate::assembly::Runtime;

impl Runtime {
    /// Describes the tools, models and the engine that a run still needs and this process does not have. Without them, steps would fail that
    /// could succeed elsewhere.
    pub fn missing_for(&self, machine: &Machine) -> Vec<String> {
        let mut missing = missing_requirements(machine, &self.reachable_catalogue(), &self.targets);
        match (machine.policy().engine, self.has_remote_engine()) {
            (EngineKind::Remote, false) => missing.push("its engine (`reknit serve --engine restate=URL`)".to_owned()),
            (EngineKind::Embedded, true) => missing.push("the embedded engine (without `--engine`)".to_owned()),
            (EngineKind::Remote, true) | (EngineKind::Embedded, false) => {}
        }
        missing
    }
}

fn missing_requirements(machine: &Machine, catalogue: &Catalogue, targets: &[TargetName]) -> Vec<String> {
    let (mut missing, wanted) = match machine {
        Machine::Run(run) if run.answer().is_some() && !run.can_be_retried() => return Vec::new(),
        Machine::Run(run) => (missing_capabilities(run, catalogue), &run.started().targets),
        // The next turn may call any tool of the session, also of one that goes on after its report.
        Machine::Session(session) => {
            (missing_tools(&session.started().catalogue, catalogue), &session.started().targets)
        }
    };
    missing.dedup();
    // One that is left answers for the others.
    if !wanted.iter().any(|target| targets.contains(target)) {
        missing.extend(wanted.iter().map(|name| format!("model `{name}`")));
    }
    missing
}

fn missing_tools(before: &Catalogue, now: &Catalogue) -> Vec<String> {
    let missing = before.tools.iter().filter(|tool| now.tool(tool.name.as_str()).is_none());
    missing.map(|tool| format!("tool `{}`", tool.name)).collect()
}

fn missing_capabilities(run: &Run, catalogue: &Catalogue) -> Vec<String> {
    match run.progress() {
        // It is to be retried: its failed and skipped steps are open.
        Progress::Ended => missing_of_steps(run, catalogue, |step| !matches!(step.state, StepState::Done)),
        // The plan may use any tool that was available when the run started.
        Progress::Selecting | Progress::Planning { .. } => missing_tools(&run.started().catalogue, catalogue),
        Progress::Running | Progress::Answering => missing_of_steps(run, catalogue, is_open),
    }
}

fn missing_of_steps(run: &Run, catalogue: &Catalogue, is_needed: impl Fn(&StepView) -> bool) -> Vec<String> {
    let steps = run.steps();
    let missing = steps.iter().filter(|step| is_needed(step) && !is_available(step, catalogue));
    missing.map(|step| format!("`{}` of tool `{}`", step.capability, step.tool)).collect()
}

fn is_open(step: &StepView) -> bool {
    !matches!(
        step.state,
        StepState::Done | StepState::Failed { .. } | StepState::Unconfirmed { .. } | StepState::Skipped { .. }
    )
}

fn is_available(step: &StepView, catalogue: &Catalogue) -> bool {
    // A step that computes calls no tool, and a run has its agents.
    let (agent, capability) = (step.tool.as_str(), step.capability.as_str());
    catalogue.entry(agent, capability).is_some() || (agent, capability) == ("compute", "compute") || agent == AGENT_TOOL
}
