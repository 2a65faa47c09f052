//! Results of steps and inputs of the plan, as binding and prompts read them.

use reknit_bind::{StepResult, StepResults, abridge_results};
use reknit_plan::{CheckedPlan, INPUTS, PlannedStep};
use reknit_protocol::{StepId, Value};

use super::Run;
use super::state::Stage;
use super::steps::{StepRun, Steps};

/// How much of all results together a model is shown, in bytes of JSON.
const SHOWN: usize = 16_384;

/// The steps of a run as sources of values.
pub(super) struct Results<'a> {
    pub(super) plan: &'a CheckedPlan,
    pub(super) steps: &'a Steps,
    /// The step whose parameters are bound, if any.
    pub(super) asking: Option<&'a PlannedStep>,
    pub(super) inputs: Option<&'a Value>,
}

impl Run {
    /// The sources that parameters and outputs are bound from.
    pub(super) fn results<'a>(&'a self, asking: Option<&'a PlannedStep>) -> Results<'a> {
        Results { plan: &self.plan, steps: &self.state.steps, asking, inputs: self.inputs.as_ref() }
    }

    /// The names that parameters can refer to.
    pub(super) fn source_ids(&self) -> Vec<StepId> {
        let steps = self.plan.steps.iter().map(|planned| planned.id.clone());
        steps.chain(self.inputs.as_ref().map(|_| INPUTS.into())).collect()
    }
}

impl Run {
    /// The names of the values that a model is shown: the fields of all results and of the inputs.
    pub(super) fn source_keys(&self) -> Vec<String> {
        let results = self.plan.steps.iter().zip(self.state.steps.iter()).filter_map(|(planned, step)| {
            let Stage::Done(value) = step.stage() else { return None };
            Some((planned.id.as_str(), value))
        });
        let names = |(source, value): (&str, &Value)| match crate::synthesis::response_data(value).as_object() {
            Some(fields) => fields.iter().map(|(field, _)| format!("{source}.{field}")).collect(),
            None => vec![source.to_owned()],
        };
        results.chain(self.inputs.as_ref().map(|inputs| (INPUTS, inputs))).flat_map(names).collect()
    }
}

impl StepResults for Results<'_> {
    fn result_of(&self, step: &StepId) -> StepResult<'_> {
        let index = self.plan.index_of(step.as_str());
        match index.and_then(|index| self.steps.get(index).ok()).map(StepRun::stage) {
            None if step.as_str() == INPUTS => self.inputs.map_or(StepResult::Unknown, StepResult::Ready),
            None => StepResult::Unknown,
            Some(Stage::Done(value)) => StepResult::Ready(value),
            Some(Stage::Failed { .. }) => StepResult::Failed,
            Some(Stage::Skipped { .. }) => StepResult::Skipped,
            Some(_) => StepResult::Pending,
        }
    }

    fn announced(&self, step: &StepId) -> Option<&Value> {
        self.plan.step(step.as_str())?.announced.as_deref()
    }
}

impl Results<'_> {
    /// Inputs and results by step, dependencies first, cut to the size limit.
    pub(super) fn shown(&self, wanted: &[&str]) -> String {
        let needs = self.asking.into_iter().flat_map(|planned| planned.dependencies.iter().cloned());
        let all = self.plan.steps.iter().map(|planned| planned.id.clone()).chain(self.inputs.map(|_| INPUTS.into()));
        let steps: Vec<StepId> = needs.chain(all).collect();
        as_untrusted_data(&Value::Object(abridge_results(self, &steps, SHOWN, wanted)).to_pretty())
    }
}

/// Outside text in a fence, so that a model can tell it from our own words. The text cannot close the fence; escaped JSON
/// keeps its meaning.
pub(super) fn as_untrusted_data(text: &str) -> String {
    format!("<data>\n{}\n</data>", text.replace("</data", "<\\/data"))
}
