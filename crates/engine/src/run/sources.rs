//! The results of steps and the inputs of the plan, as binding and models see them.

use reknit_bind::{Source, Sources, project_results};
use reknit_protocol::{StepId, Value};

use super::Run;
use super::state::Stage;
use super::steps::{StepRun, Steps};
use reknit_plan::{Checked, INPUTS, Planned};

/// The most of all results together that a model is shown, in bytes of their JSON.
const SHOWN: usize = 16_384;

/// The steps of a run as places where values come from.
pub(super) struct Results<'a> {
    pub(super) plan: &'a Checked,
    pub(super) steps: &'a Steps,
    /// The step that asks, if one does.
    pub(super) asking: Option<&'a Planned>,
    pub(super) inputs: Option<&'a Value>,
}

impl Run {
    /// What parameters and outputs can be bound from.
    pub(super) fn results<'a>(&'a self, asking: Option<&'a Planned>) -> Results<'a> {
        Results { plan: &self.plan, steps: &self.state.steps, asking, inputs: self.inputs.as_ref() }
    }

    /// What parameters can refer to.
    pub(super) fn source_ids(&self) -> Vec<StepId> {
        let steps = self.plan.steps.iter().map(|planned| planned.id.clone());
        steps.chain(self.inputs.as_ref().map(|_| INPUTS.into())).collect()
    }
}

impl Sources for Results<'_> {
    fn source(&self, step: &StepId) -> Source<'_> {
        let index = self.plan.place(step.as_str());
        match index.and_then(|index| self.steps.get(index)).map(StepRun::stage) {
            None if step.as_str() == INPUTS => self.inputs.map_or(Source::Unknown, Source::Ready),
            None => Source::Unknown,
            Some(Stage::Done(value)) => Source::Ready(value),
            Some(Stage::Failed { .. }) => Source::Failed,
            Some(Stage::Skipped { .. }) => Source::Skipped,
            Some(_) => Source::Pending,
        }
    }
}

impl Results<'_> {
    /// The inputs and the results there are, by step, those that the step needs first, as far as there is room for them.
    pub(super) fn shown(&self, wanted: &[&str]) -> String {
        let needs = self.asking.into_iter().flat_map(|planned| planned.needs.iter().cloned());
        let all = self.plan.steps.iter().map(|planned| planned.id.clone()).chain(self.inputs.map(|_| INPUTS.into()));
        let steps: Vec<StepId> = needs.chain(all).collect();
        fenced(&Value::Object(project_results(self, &steps, SHOWN, wanted)).to_pretty())
    }
}

/// Words of others, so that a model can tell them from ours. They cannot end the fence themselves; in JSON, where they
/// try to, they still mean the same.
pub(super) fn fenced(text: &str) -> String {
    format!("<data>\n{}\n</data>", text.replace("</data", "<\\/data"))
}
