//! A plan whose steps run no other plan any more, and where each of its steps is written.

use reknit_protocol::{Path, Plan, Segment};
use reknit_salvage::Fix;

use super::Document;
use crate::{PlanLocation, StepIndex};

/// A plan without steps that run other plans, which knows where each of its steps is written.
#[derive(Debug)]
pub struct LoadedPlan {
    pub plan: Plan,
    pub fixes: Vec<Fix>,
    /// The file of the plan itself, and then those of the plans that its steps run.
    pub(super) files: Vec<PlanSource>,
    pub(super) origins: Vec<StepOrigin>,
}

/// A part of a plan in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePosition<'p> {
    /// The name of the file as a step names it; `None` for the plan itself.
    pub file: Option<&'p str>,
    pub line: usize,
    pub column: usize,
}

/// An agent file that a step of a plan runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentReference<'p> {
    /// The file as the step names it.
    pub file: &'p str,
    /// The key of the plan file whose step it is, empty for the plan itself. The path of the agent file is relative to it.
    pub from: &'p str,
    /// Where the step names it.
    pub location: PlanLocation,
}

#[derive(Debug)]
pub(super) struct PlanSource {
    /// What identifies the file, empty for the plan itself.
    pub(super) key: String,
    pub(super) name: Option<String>,
    pub(super) document: Option<Document>,
}

/// Where a step is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepOrigin {
    /// The position of the file in [`LoadedPlan::files`].
    pub(super) file: usize,
    /// The position of the step in its file.
    pub(super) position: usize,
}

impl LoadedPlan {
    /// Where a part of the plan is written, or the closest part around it. `None` for JSON.
    pub fn locate(&self, location: &PlanLocation) -> Option<FilePosition<'_>> {
        let (origin, path) = match location.path.segments() {
            [steps @ Segment::Key(list), Segment::Index(index), rest @ ..] if list == "steps" => {
                let origin = self.origins.get(*index)?;
                let written = [steps.clone(), Segment::Index(origin.position)].into_iter().chain(rest.iter().cloned());
                (*origin, written.collect::<Path>())
            }
            _ => (StepOrigin { file: 0, position: 0 }, location.path.clone()),
        };
        let source = self.files.get(origin.file)?;
        let (line, column) = source.document.as_ref()?.locate(&PlanLocation { step: location.step.clone(), path })?;
        Some(FilePosition { file: source.name.as_deref(), line, column })
    }

    /// The agent files that steps run, in the order of the plan; several steps may run the same one.
    pub fn agents(&self) -> Vec<AgentReference<'_>> {
        let mut agents = Vec::new();
        for (index, (step, origin)) in self.plan.steps.iter().zip(&self.origins).enumerate() {
            let from = self.files.get(origin.file).map(|source| source.key.as_str());
            if let (Some(file), Some(from)) = (step.agent_file(), from) {
                let location = PlanLocation::step(StepIndex::new(index), &step.step_id).key("metadata").key("agent");
                agents.push(AgentReference { file, from, location });
            }
        }
        agents
    }

    pub fn line(&self, problem: &crate::PlanProblem) -> String {
        match self.locate(&problem.location) {
            Some(FilePosition { file, line, column }) => {
                let file = file.map_or_else(String::new, |file| format!("in `{file}`: "));
                format!("{file}line {line}, column {column}: {problem}")
            }
            None => problem.to_string(),
        }
    }
}
