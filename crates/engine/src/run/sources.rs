//! The results of steps, as binding and models see them.

use reknit_bind::{Source, Sources, project_results};
use reknit_protocol::{StepId, Value};

use super::state::{Stage, StepRun};
use crate::plan::Planned;

/// The most of all results together that a model is shown, in bytes of their JSON.
const SHOWN: usize = 16_384;

/// The steps of a run as places where values come from.
pub(super) struct Results<'a> {
    pub(super) plan: &'a [Planned],
    pub(super) steps: &'a [StepRun],
    /// The step that asks. What it needs is found without a look at the others.
    pub(super) asking: &'a Planned,
}

impl Sources for Results<'_> {
    fn source(&self, step: &StepId) -> Source<'_> {
        let needed = self.asking.needs.iter().zip(&self.asking.needs_at).find(|(id, _)| *id == step);
        let index = needed.map(|(_, at)| *at).or_else(|| self.plan.iter().position(|planned| planned.id == *step));
        match index.and_then(|index| self.steps.get(index)).map(|step| &step.stage) {
            None => Source::Unknown,
            Some(Stage::Done(value)) => Source::Ready(value),
            Some(Stage::Failed { .. }) => Source::Failed,
            Some(Stage::Skipped { .. }) => Source::Skipped,
            Some(_) => Source::Pending,
        }
    }
}

impl Results<'_> {
    /// The results there are, by step, those that the step needs first, as far as there is room for them.
    pub(super) fn shown(&self, wanted: &[&str]) -> String {
        let all = self.plan.iter().map(|planned| &planned.id);
        let steps: Vec<StepId> = self.asking.needs.iter().chain(all).cloned().collect();
        fenced(&Value::Object(project_results(self, &steps, SHOWN, wanted)).to_pretty())
    }
}

/// Words of others, so that a model can tell them from ours. They cannot end the fence themselves; in JSON, where they
/// try to, they still mean the same.
pub(super) fn fenced(text: &str) -> String {
    format!("<data>\n{}\n</data>", text.replace("</data", "<\\/data"))
}
