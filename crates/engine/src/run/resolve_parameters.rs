//! Parameters that the plan leaves open: learned mappings, and the model's answer about missing values. References without braces
//! in the values that a model writes must not reach the tool as text.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use reknit_expressions::{
    Binding, FilledParameters, MappingCandidate, MappingStatus, ParameterMapping, Provenance, ResolvedBy,
    UnboundParameter, bind_with_mappings, fill_missing, learnable_expression,
};
use reknit_mend::{Learning, MendEffect, PeoplePolicy, Rung, parse_parameter_values};
use reknit_model_api::ModelAnswer;
use reknit_plan::{ITEM, PlannedStep, ReadValues, StepIndex, read_values};
use reknit_protocol::{Object, SideEffect, StepId, Value, truncate};

use super::Run;
use super::call_repair::CallRepair;
use super::correction::{Correction, NoHelp, Repair, changed_text};
use super::knowledge::{PlanContext, StepContext};
use super::stage::Stage;
use crate::effect::AskedBy;
use crate::internal_error::Decided;
use crate::policy::Sampling;
use crate::record::{MendDetail, RejectionCause};
use crate::synthesis::numbers_in_text::visit_scalars;

/// Additional answer tokens for each missing value: a truncated answer is useless.
const TOKENS_PER_VALUE: u32 = 100;

/// How much of the reason why a parameter has no value a model is shown, in bytes.
const SHOWN_REASON: usize = 400;

impl Run {
    /// Where models found values for calls that succeeded: later runs use these mappings without asking.
    pub fn learned(&self) -> Vec<ParameterMapping> {
        if self.policy().mending.learning == Learning::Off {
            return Vec::new();
        }
        let steps: Vec<StepId> = self.plan.written_steps().iter().map(|planned| planned.id.clone()).collect();
        let mut learned = Vec::new();
        for (planned, step) in self.plan.steps.iter().zip(self.state.steps.iter()) {
            let found = step.provenance.iter().filter(|_| matches!(step.stage(), Stage::Done(_)));
            // A value that the plan itself asked for says nothing about a plan that leaves it out.
            for (parameter, provenance) in found.filter(|(name, _)| planned.parameters.get(name).is_none()) {
                let Some((producer, expression)) = learnable_expression(provenance, &steps) else { continue };
                let producer = self.plan.step(producer.as_str()).map(capability);
                let (consumer, parameter) = (capability(planned), parameter.clone());
                let status = MappingStatus::Inferred;
                learned.extend(producer.map(|producer| ParameterMapping {
                    producer,
                    consumer,
                    parameter,
                    expression,
                    status,
                }));
            }
        }
        learned
    }
}

impl CallRepair<'_> {
    /// Applies a model's answer about where the missing values are.
    pub(super) fn on_resolution_text(&mut self, repair: Repair, answer: Arc<ModelAnswer>) -> Decided {
        let planned = self.planned()?;
        let parameters = self.step()?.parameters.clone();
        let supplied = parse_parameter_values(&answer.text)
            .and_then(|values| self.known().supplied(&parameters, planned, &values));
        let why = (NoHelp::Unusable, RejectionCause::Refused);
        let (FilledParameters { bound, ignored }, fixes) = match supplied {
            Ok(supplied) => supplied,
            Err(words) => return self.no_help(repair, words, why),
        };
        if let Some(words) = self.reject_ungrounded(planned, &repair.fault, &bound, &[])? {
            return self.no_help(repair, words, why);
        }
        let held = self.known().judge().judge_change(self.index, planned, &repair.fault, &bound)?;
        if let Some(words) = self.known().judge().cannot_ask_about(&held.reasons) {
            return self.no_help(repair, words, why);
        }
        let change = changed_text(&parameters, &bound.parameters);
        let mut words = format!("{change}: found in the request or in results{fixes}");
        if !ignored.is_empty() {
            words = format!("{words}; not asked for, and ignored: {}", ignored.join(", "));
        }
        let step = self.step_mut()?;
        step.set_parameters(bound.parameters.clone(), bound.provenance);
        let detail = MendDetail::ByModel {
            uses: 1,
            parameters: bound.parameters,
            analysis: String::new(),
            answer: Some(answer),
        };
        self.add_mend(Rung::Resolution, MendEffect::Applied, words, detail)?;
        if held.reasons.is_empty() {
            return self.set_stage(Stage::Queued);
        }
        let correction = Correction::new(change, "", &held);
        self.ask_about_correction(repair.fault, correction, AskedBy::Correction)
    }
}

impl<'a> PlanContext<'a> {
    /// The learned mappings that apply to a step, with the earlier steps whose results they read.
    fn learned_for(self, planned: &'a PlannedStep) -> Vec<MappingCandidate<'a>> {
        let name = capability(planned);
        let mappings = self.started.mappings.iter().filter(|mapping| mapping.consumer == name);
        // If nobody can approve the value of an inferred mapping, a model is asked as if nothing had been learned.
        let is_usable = |mapping: &&ParameterMapping| {
            mapping.status == MappingStatus::Accepted
                || self.policy().people == PeoplePolicy::Ask
                || self.side_effect(planned) == SideEffect::Read
        };
        let mappings = mappings.filter(|_| self.policy().mending.learning == Learning::On);
        let mappings: Vec<&ParameterMapping> = mappings.filter(is_usable).collect();
        if mappings.is_empty() {
            return Vec::new();
        }
        let before: Vec<&PlannedStep> =
            self.indices_before(planned).iter().filter_map(|at| self.plan.get(*at)).collect();
        let pairs = mappings.iter().flat_map(|mapping| before.iter().map(move |step| (*mapping, *step)));
        let fitting = pairs.filter(|(mapping, step)| mapping.producer == capability(step));
        let known = |(mapping, step): (&'a ParameterMapping, &'a PlannedStep)| MappingCandidate {
            parameter: &mapping.parameter,
            step: &step.id,
            expression: &mapping.expression,
            status: mapping.status,
        };
        fitting.map(known).collect()
    }

    /// The indices of the direct and indirect dependencies of a step, the nearest first.
    pub(super) fn indices_before(&self, planned: &PlannedStep) -> Vec<StepIndex> {
        let mut indices: Vec<StepIndex> = planned.dependency_indices.clone();
        let mut seen: HashSet<StepIndex> = indices.iter().copied().collect();
        let mut next = 0;
        while let Some(step) = indices.get(next).and_then(|at| self.plan.get(*at)) {
            indices.extend(step.dependency_indices.iter().filter(|at| seen.insert(**at)));
            next += 1;
        }
        indices
    }

    /// Reads the values that a model wrote for a step by the rules for a model's plan. Values that the call already has are
    /// not looked at: the plan may say that such a text is meant.
    pub(super) fn read_references(&self, planned: &PlannedStep, current: &Object, values: &Object) -> ReadValues {
        let is_new = |(name, value): &(&str, &Value)| current.get(name) != Some(*value);
        let new: Object = values.iter().filter(is_new).map(|(name, value)| (name.to_owned(), value.clone())).collect();
        let plan = self.planning.plan.as_ref().or(self.started.plan.as_ref());
        let mut read = match plan {
            Some(plan) => read_values(plan, self.catalogue(), &planned.id, &new),
            // The calls of a session cannot refer to each other.
            None => ReadValues { values: new, fixes: Vec::new(), doubtful: Vec::new() },
        };
        let mut all = values.clone();
        for (name, value) in std::mem::take(&mut read.values) {
            all.insert(name, value);
        }
        read.values = all;
        read
    }
}

impl StepContext<'_> {
    /// Temperature and length of a model's answer about the missing values of a step.
    pub(super) fn resolution_sampling(&self, planned: &PlannedStep) -> Sampling {
        let sampling = self.policy().asking.resolution;
        let missing = u32::try_from(self.missing(planned).len()).unwrap_or(u32::MAX);
        let max_tokens = TOKENS_PER_VALUE.saturating_mul(missing).saturating_add(sampling.max_tokens);
        Sampling { max_tokens, ..sampling }
    }

    /// Binds the parameters of a step from its plan and the results so far.
    pub(super) fn binding(&self, planned: &PlannedStep) -> Binding {
        let results = self.results(Some(planned));
        let known = self.learned_for(planned);
        let wire_from = wire_sources(planned);
        let binding = bind_with_mappings(&planned.parameters, &results, &wire_from, planned.schema.as_deref(), &known);
        self.without_placeholders(planned, binding)
    }

    /// The parameters of a step that have no value. They follow from the plan and the results, so they are not stored.
    pub(super) fn missing(&self, planned: &PlannedStep) -> Vec<UnboundParameter> {
        match self.binding(planned) {
            Binding::Unbound { unbound, .. } => unbound,
            Binding::Bound(_) | Binding::Misfit { .. } => Vec::new(),
        }
    }

    /// The parameters with the values of a model's answer, and a note about the references that were read.
    fn supplied(
        &self,
        parameters: &Object,
        planned: &PlannedStep,
        answer: &Object,
    ) -> Result<(FilledParameters, String), String> {
        let missing = self.missing(planned);
        let names: Vec<&str> = missing.iter().map(|unbound| unbound.parameter.as_str()).collect();
        let (results, sources) = (self.results_before(planned), self.source_ids(planned));
        let read = self.read_references(planned, parameters, answer);
        let supplied = fill_missing(parameters, &read.values, &names, &results, &sources, planned.schema.as_deref())
            .map_err(|error| format!("the answer is refused: {error}"))?;
        refuse_doubtful(&read, parameters, &supplied.bound.parameters)?;
        self.require_all(planned, &supplied.bound.parameters)?;
        Ok((supplied, fixes_text(&read)))
    }

    /// Requires a value for every parameter that the plan gives before the first call, optional ones too: an order without
    /// its limit is another order.
    pub(super) fn require_all(&self, planned: &PlannedStep, parameters: &Object) -> Result<(), String> {
        let missing = self.missing(planned);
        let lost: Vec<&str> = missing.iter().map(|unbound| unbound.parameter.as_str()).collect();
        let lost: Vec<&str> = lost.into_iter().filter(|name| !parameters.contains_key(name)).collect();
        if lost.is_empty() { Ok(()) } else { Err(format!("the answer has no value for {}", lost.join(", "))) }
    }
}

/// The sources of required parameters that the plan omits. An item of a loop stands for the result that the list comes from.
fn wire_sources(planned: &PlannedStep) -> Cow<'_, [StepId]> {
    let (Some(foreach), Some(_)) = (&planned.controls.foreach, planned.item) else {
        return Cow::Borrowed(&planned.dependencies);
    };
    let listed = foreach.list.references();
    let others = planned.dependencies.iter().filter(|id| !listed.iter().any(|reference| reference.step() == *id));
    std::iter::once(ITEM.into()).chain(others.cloned()).collect()
}

/// A capability as mappings and rules name it.
pub(super) fn capability(planned: &PlannedStep) -> String {
    format!("{}/{}", planned.tool, planned.capability)
}

/// The parameters of interest: the missing ones, or else all that the tool declares.
pub(super) fn wanted<'a>(planned: &'a PlannedStep, missing: &'a [UnboundParameter]) -> Vec<&'a str> {
    if !missing.is_empty() {
        return missing.iter().map(|unbound| unbound.parameter.as_str()).collect();
    }
    let declared = planned.schema.as_ref().and_then(|schema| schema.source().get("properties")?.as_object());
    declared.into_iter().flat_map(Object::keys).collect()
}

/// The missing parameters, each with why it has no value.
pub(super) fn missing_text(missing: &[UnboundParameter]) -> String {
    let line = |unbound: &UnboundParameter| format!("- {}", truncate(unbound.to_string(), SHOWN_REASON));
    missing.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The parameters whose values were found by mappings, separated by commas.
pub(super) fn found_names(provenance: &[(String, Provenance)], by: ResolvedBy) -> String {
    let is_found = |origin: &Provenance| matches!(origin, Provenance::Resolved { by: found, .. } if *found == by);
    let found = provenance.iter().filter(|(_, origin)| is_found(origin)).map(|(name, _)| name.as_str());
    found.collect::<Vec<_>>().join(", ")
}

/// Refuses parameters that contain a text which may be a reference, unless the call had it before.
pub(super) fn refuse_doubtful(read: &ReadValues, current: &Object, parameters: &Object) -> Result<(), String> {
    let changed: Vec<&Value> =
        parameters.iter().filter(|(name, value)| current.get(name) != Some(*value)).map(|(_, value)| value).collect();
    let is_sent = |text: &str| changed.iter().any(|value| contains_text(value, text));
    match read.doubtful.iter().find(|doubtful| is_sent(&doubtful.text)) {
        Some(doubtful) => Err(doubtful.message.clone()),
        None => Ok(()),
    }
}

/// Which references were read, to be added to the description of a repair.
pub(super) fn fixes_text(read: &ReadValues) -> String {
    let fixes = read.fixes.iter().map(|fix| format!("; `{}` read as `{}`", fix.before, fix.after));
    fixes.collect::<Vec<_>>().concat()
}

fn contains_text(value: &Value, text: &str) -> bool {
    let mut found = false;
    visit_scalars(value, &mut |scalar| found |= scalar.as_str().is_some_and(|own| own.contains(text)));
    found
}

/// The message of a call that cannot be sent because parameters have no value.
pub(super) fn unbound_message(unbound: &[UnboundParameter]) -> String {
    let words: Vec<String> = unbound.iter().map(ToString::to_string).collect();
    format!("not every parameter has a value: {}", words.join("; "))
}
