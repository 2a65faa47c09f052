//! What the gate is told about the call of a step: each value with its role, its origin and its difference from what was written.

use std::sync::Arc;

use reknit_expressions::{BoundParameters, Provenance};
use reknit_mend::{CallFault, FaultOrigin};
use reknit_plan::{INPUTS, PlannedStep, StepIndex};
use reknit_protocol::{Object, Path, SideEffect, StepId, Value};

use super::call_repair::CallRepair;
use super::correction::{Correction, JudgedChange, changed_text};
use super::evidence::Evidence;
use super::knowledge::{CallJudge, Knowledge};
use super::parameter_leaves::{Leaf, collect, compare_with_replaced, display_path, is_other_value, top_level};
use super::planned;
use super::repair_by_rules::facts_about;
use super::step_run::StepRun;
use crate::effect::AskedBy;
use crate::exact_word::ExactWord;
use crate::gate::{
    Finding, GateDecision, GateVerdict, OriginClass, ParameterRole, ProposedCall, ProposedValue, RoleGuess,
    ValueDifference, find_role, is_own_word, is_phrase, joined, judge, key_path, row_of,
};
use crate::guard::{GuardLevel, ResultOrigin, plain_text};
use crate::internal_error::Decided;

/// What was written for a step.
struct Written<'a> {
    parameters: &'a Object,
    /// `None` if a person approved it.
    provenance: Option<&'a [(String, Provenance)]>,
}

impl<'a> Written<'a> {
    fn of(step: &'a StepRun) -> Self {
        match &step.written {
            Some(written) => Self { parameters: &written.parameters, provenance: written.provenance.as_deref() },
            None => Self { parameters: &step.parameters, provenance: Some(&step.provenance) },
        }
    }

    fn provenance_of(&self, name: &str) -> Option<&'a Provenance> {
        find(self.provenance?, name)
    }
}

/// What the leaves of a call are compared with.
struct Comparison<'a> {
    planned: &'a PlannedStep,
    class: SideEffect,
    evidence: Evidence<'a>,
    written: Written<'a>,
    /// The provenance of the changed parameters, the last change first.
    changed: [&'a [(String, Provenance)]; 2],
    /// The step of the first plan that a step of a second plan replaces.
    first: Option<&'a PlannedStep>,
    /// The places that the error refers to.
    referred: Vec<Path>,
}

impl Comparison<'_> {
    fn provenance_of(&self, leaf: &Leaf<'_>) -> Option<Provenance> {
        let name = top_level(&leaf.at).unwrap_or(leaf.name);
        let is_written = leaf.difference == ValueDifference::None || leaf.is_of_first_plan;
        if is_written && self.written.provenance.is_none() {
            return Some(Provenance::Person);
        }
        let changed = || self.changed.iter().find_map(|changed| find(changed, name));
        if is_written { self.written.provenance_of(name).cloned() } else { changed().cloned() }
    }

    /// Whether a step of a second plan repeats a parameter of the first one. It keeps its origin.
    fn is_repeated(&self, leaf: &Leaf<'_>) -> bool {
        let name = top_level(&leaf.at).unwrap_or(leaf.name);
        let first = self.first.and_then(|first| first.parameters.get(name));
        first.is_some() && first == self.planned.parameters.get(name)
    }
}

fn find<'a>(provenance: &'a [(String, Provenance)], name: &str) -> Option<&'a Provenance> {
    provenance.iter().find(|(known, _)| known == name).map(|(_, origin)| origin)
}

/// Whether a value has only another name: it was added in one place and left out in another.
fn is_moved(leaf: &Leaf<'_>, leaves: &[Leaf<'_>]) -> bool {
    let mut others = leaves.iter();
    match leaf.difference {
        ValueDifference::Added => others.any(|other| other.value.is_none() && other.written == leaf.value),
        ValueDifference::Dropped => {
            others.any(|other| other.difference == ValueDifference::Added && other.value == leaf.written)
        }
        _ => false,
    }
}

impl CallRepair<'_> {
    /// Asks a person about a call as it stands, with what the gate found.
    pub(super) fn ask_about_findings(&mut self, findings: &[Finding]) -> Decided {
        let step = self.step()?;
        let found = step.provenance.iter().filter(|(_, origin)| is_found_before_call(origin));
        let open: Vec<&str> = found.map(|(name, _)| name.as_str()).collect();
        let written = |name: &str| match &step.written {
            Some(written) => written.parameters.get(name),
            None => step.parameters.get(name).filter(|_| !open.contains(&name)),
        };
        let known = step.parameters.iter().filter_map(|(name, _)| Some((name.to_owned(), written(name)?.clone())));
        let known: Object = known.collect();
        let change = changed_text(&known, &step.parameters);
        let message = match open.as_slice() {
            [] => "a person decides about it first".to_owned(),
            names => format!("the plan gives no value for {}", names.join(", ")),
        };
        let held = JudgedChange { reasons: vec![joined(findings)], ..JudgedChange::of(findings) };
        let correction = Correction::new(change, "", &held);
        self.ask_about_correction(Arc::new(CallFault::local(message)), correction, AskedBy::Correction)
    }
}

impl Knowledge<'_> {
    /// What the gate says about the call that a step would make next.
    pub(super) fn judge_next_call(&self, index: StepIndex) -> Decided<GateVerdict> {
        let (planned, step) = (planned(self.plan, index)?, self.steps.get(index)?);
        let refusal = if self.ruled_out.avoids(planned, step) {
            "not made: an earlier call with the same arguments may have happened"
        } else if let (true, _) = self.ruled_out.denied_like(planned, step) {
            "not made: a person denied the same call in this session"
        } else {
            return self.judge().judge_call(index);
        };
        let class = self.side_effect(planned);
        Ok(judge(&ProposedCall { class, refusal: Some(refusal.to_owned()), ..ProposedCall::default() }))
    }
}

impl<'a> CallJudge<'a> {
    /// Whether only a second plan has the capability of a step, or the mandate of the agent does not cover it.
    fn is_outside_mandate(&self, planned: &'a PlannedStep) -> bool {
        if self.known.planning.earlier.outside.contains(self.written_id(planned).as_str()) {
            return true;
        }
        let is_same = |first: &PlannedStep| first.tool == planned.tool && first.capability == planned.capability;
        let mut first = self.known.plan.steps.iter().filter(|step| !self.known.is_of_second_plan(step));
        self.known.is_of_second_plan(planned) && !first.any(is_same)
    }

    /// Whether a value needs evidence because it was written after data was read. `said` is what the data says about it.
    fn is_guarded(&self, role: ParameterRole, guess: RoleGuess<'_>, said: Option<ResultOrigin>) -> bool {
        let is_strict = self.known.policy().effects.guard == GuardLevel::Strict;
        let is_quoted = said == Some(ResultOrigin::InText);
        // Where nobody says what the person asked for, a name may be in a result by chance, and an account or an address is not.
        let is_from_data = || {
            let is_exact = ExactWord::of(&plain_text(guess.value).to_lowercase()).is_some();
            match said {
                Some(ResultOrigin::InText) => is_exact || is_strict || is_phrase(guess),
                Some(ResultOrigin::AnyResult) => is_exact || is_strict,
                Some(ResultOrigin::SameService | ResultOrigin::Vouched) | None => false,
            }
        };
        self.known.is_after_data()
            && (!self.known.planning.earlier.is_without_request || is_from_data())
            && match role {
                ParameterRole::Target => is_strict || !is_own_word(guess) || is_phrase(guess) && is_quoted,
                ParameterRole::Quantity => is_strict,
                ParameterRole::Switch | ParameterRole::Content => false,
            }
    }

    /// What the gate says about the values of a call as it stands.
    pub(super) fn judge_call(&self, index: StepIndex) -> Decided<GateVerdict> {
        let (planned, step) = (planned(self.known.plan, index)?, self.known.steps.get(index)?);
        let mut call = ProposedCall { class: self.known.side_effect(planned), ..ProposedCall::default() };
        if call.class == SideEffect::Read && self.is_read_as_planned(planned, step) {
            return Ok(judge(&call));
        }
        call.is_approved = self.is_approved(index)? || self.is_in_approved_plan(index)?;
        if !call.is_approved {
            let bound = BoundParameters { parameters: step.parameters.clone(), ..BoundParameters::default() };
            call = self.proposed_call(index, planned, None, &bound)?;
            call.is_outside_mandate = self.known.policy().effects.guard.is_on() && self.is_outside_mandate(planned);
        }
        Ok(judge(&call))
    }

    /// Whether a call, if it only reads, needs no look at its values: they are as in the plan, and the guard is off.
    pub(super) fn is_read_as_planned(&self, planned: &'a PlannedStep, step: &StepRun) -> bool {
        let lost = &self.known.planning.lost_parameters;
        step.written.is_none()
            && !self.known.policy().effects.guard.is_on()
            && (lost.is_empty() || !lost.contains_key(self.written_id(planned)))
    }

    /// The id under which a step is written in the plan: that of the loop for an item.
    fn written_id(self, planned: &'a PlannedStep) -> &'a StepId {
        let of_loop = planned.item.and_then(|item| self.known.plan.get(item.of));
        of_loop.map_or(&planned.id, |of_loop| &of_loop.id)
    }

    /// What the gate says about the call of a step with changed parameters.
    pub(super) fn judge_change(
        &self,
        index: StepIndex,
        planned: &PlannedStep,
        fault: &CallFault,
        bound: &BoundParameters,
    ) -> Decided<JudgedChange> {
        let call = self.proposed_call(index, planned, Some(fault), bound)?;
        let GateVerdict::Ask(findings) = judge(&call) else { return Ok(JudgedChange::default()) };
        let is_asked_for = call.class != SideEffect::Unsafe;
        let is_unsupported = |value: &&ProposedValue| {
            is_asked_for
                && value.role == ParameterRole::Quantity
                && value.origin == OriginClass::FoundNowhere
                && row_of(call.class, value).decision() == GateDecision::Ask
        };
        let numbers =
            call.values.iter().filter(is_unsupported).filter_map(|value| {
                Some(format!("{}: {}", value.name, bound.parameters.get(&value.name)?.as_number()?))
            });
        Ok(JudgedChange { numbers: numbers.collect(), ..JudgedChange::of(&findings) })
    }

    /// The call of a step with these parameters, of which `bound` knows the provenance of the changed ones.
    fn proposed_call(
        &self,
        index: StepIndex,
        planned: &PlannedStep,
        fault: Option<&CallFault>,
        bound: &BoundParameters,
    ) -> Decided<ProposedCall> {
        let (class, step) = (self.known.side_effect(planned), self.known.steps.get(index)?);
        let written = Written::of(step);
        // What we say ourselves about a missing value is no evidence for it.
        let is_own = |fault: &CallFault| fault.origin == FaultOrigin::Local && !self.known.missing(planned).is_empty();
        let said = fault.or_else(|| step.last_fault().map(AsRef::as_ref)).filter(|fault| !is_own(fault));
        let facts = said.map(|fault| facts_about(planned, step, fault)).unwrap_or_default();
        let referred = match said.filter(|_| fault.is_some()) {
            Some(fault) => self.known.rejected_call(planned, step, fault, &facts)?.referred_paths(),
            None => Vec::new(),
        };
        let replaced = self.known.replaced_step(planned);
        let other_tool = replaced.filter(|(first, _)| first.tool != planned.tool);
        let rerouted_from = self.known.planning.rerouted.get(self.written_id(planned)).cloned();
        let rerouted_from = rerouted_from.or_else(|| other_tool.map(|(first, _)| first.tool.to_string()));
        let replaced = replaced.filter(|(first, _)| first.tool == planned.tool);
        let mut leaves = self.leaves(planned, &written, &bound.parameters);
        if let Some((_, first)) = replaced {
            compare_with_replaced(&first.parameters, &bound.parameters, &mut leaves);
        }
        let mut call = ProposedCall { class, rerouted_from, ..ProposedCall::default() };
        if leaves.is_empty() {
            return Ok(call);
        }
        let comparison = Comparison {
            planned,
            class,
            evidence: self.known.evidence(planned, said),
            written,
            changed: [&bound.provenance, &step.provenance],
            first: replaced.map(|(first, _)| first),
            referred,
        };
        let values = leaves.iter().filter_map(|leaf| self.proposed_value(&comparison, leaf, is_moved(leaf, &leaves)));
        call.values = values.collect();
        Ok(call)
    }

    /// The leaves of the parameters that the gate has to look at.
    fn leaves(self, planned: &'a PlannedStep, written: &Written<'a>, parameters: &'a Object) -> Vec<Leaf<'a>> {
        let root = planned.schema.as_ref().map(|schema| schema.source());
        let looks_at_all = self.known.policy().effects.guard.is_on()
            || self.known.is_of_second_plan(planned)
            || self.may_have_typo(planned);
        let mut leaves = Vec::new();
        let lost = written.parameters.keys().filter(|name| !parameters.contains_key(name));
        for name in parameters.keys().chain(lost) {
            let (value, old) = (parameters.get(name), written.parameters.get(name));
            let is_found = written.provenance_of(name).is_some_and(is_found_before_call);
            if value == old && !is_found && !looks_at_all {
                continue;
            }
            let (at, difference, is_of_first_plan) = (Path::root().key(name), ValueDifference::None, false);
            let siblings = parameters;
            collect(Leaf { at, name, value, written: old, root, siblings, difference, is_of_first_plan }, &mut leaves);
        }
        let left_out = self.known.planning.lost_parameters.get(self.written_id(planned));
        for (name, value) in left_out.iter().flat_map(|lost| &lost.0) {
            collect(Leaf::left_out(name, value, root, parameters), &mut leaves);
        }
        leaves
    }

    /// A leaf as the gate sees it. `None` for one that a second plan may leave out.
    fn proposed_value(&self, comparison: &Comparison<'_>, leaf: &Leaf<'_>, is_moved: bool) -> Option<ProposedValue> {
        let Comparison { planned, class, evidence, .. } = comparison;
        let given = leaf.value.filter(|value| **value != Value::Null);
        let shown = given.or(leaf.written).or(leaf.value).unwrap_or(&Value::Null);
        let (tool, capability) = (planned.tool.as_str(), planned.capability.as_str());
        let configured = self.known.policy().effects.declared_role(tool, capability, &key_path(&leaf.at));
        let Leaf { name, siblings, .. } = *leaf;
        let schemas = &leaf.schemas();
        let guess = |value| RoleGuess { configured, class: *class, name, value, schemas, siblings };
        let find = |value| find_role(guess(value)).0;
        // A name that is replaced by a long text was still a name. Undeclared tools of the protocol say so by the name alone.
        let was = leaf.written.filter(|was| **was != Value::Null && *class != SideEffect::Undeclared).map(find);
        let role = was.into_iter().chain([find(shown)]).min().unwrap_or(ParameterRole::Target);
        let provenance = comparison.provenance_of(leaf);
        let is_open = provenance.as_ref().is_some_and(is_found_before_call);
        let origin = self.origin_of_leaf(comparison, leaf, guess(shown), (role, provenance.as_ref(), is_moved));
        let is_flag_of_read = |written: &Value| {
            let flag = written.as_bool().filter(|_| *class == SideEffect::Read);
            flag.is_some_and(|flag| evidence.stated.asks_for_flag(name, flag))
        };
        let is_stated = |written: &&Value| evidence.stated.has(written) || is_flag_of_read(written);
        let stated = leaf.written.filter(|_| leaf.is_changed()).filter(is_stated);
        // A second plan may have other values than the first one, but for what the request states and for switches.
        let is_kept = role == ParameterRole::Switch || role != ParameterRole::Content && stated.is_some();
        let may_differ = leaf.is_of_first_plan && !is_kept;
        if may_differ && leaf.value.is_none() {
            return None;
        }
        let difference = match leaf.difference {
            ValueDifference::None if is_open => ValueDifference::Added,
            _ if is_moved => ValueDifference::Respelled,
            _ if may_differ => ValueDifference::None,
            difference => difference,
        };
        let is_listed = schemas.iter().any(|schema| schema.get("enum").is_some());
        let is_in_plan = origin == OriginClass::Literal && self.known.planning.plan.is_some();
        let nearly_stated = (is_in_plan && role == ParameterRole::Target && !is_listed)
            .then(|| evidence.stated.nearest(shown.as_str()?))
            .flatten();
        Some(ProposedValue {
            name: display_path(&leaf.at),
            role,
            origin,
            difference,
            stated: stated.filter(|_| !is_moved).map(text_of),
            carries_results: self.may_carry_results(origin) && self.known.carries_results(evidence, shown),
            found_in: self.known.found_in(planned, &leaf.at, shown),
            is_refused_elsewhere: reference_to(&leaf.at, &comparison.referred) == Referred::Others,
            nearly_stated,
        })
    }

    /// The origin of a leaf of a call, with its role and with where its value comes from.
    fn origin_of_leaf(
        &self,
        comparison: &Comparison<'_>,
        leaf: &Leaf<'_>,
        guess: RoleGuess<'_>,
        (role, provenance, is_moved): (ParameterRole, Option<&Provenance>, bool),
    ) -> OriginClass {
        let (planned, place) = (comparison.planned, (&leaf.at, leaf.value, leaf.written));
        let is_open = provenance.is_some_and(is_found_before_call);
        let is_guarded = self.is_guarded(role, guess, self.known.said_of(planned, place));
        let is_planned = comparison.is_repeated(leaf) || !self.known.is_of_second_plan(planned) && !is_guarded;
        match leaf.difference {
            difference if !is_open && is_planned && (is_moved || !is_other_value(difference)) => {
                self.origin_of_written(provenance)
            }
            _ if is_guarded && self.known.planning.earlier.is_without_request => OriginClass::FoundElsewhere,
            _ => {
                let found = self.known.origin_of_found(&comparison.evidence, provenance, guess.value, role);
                self.known.origin_in_results(planned, place, found, provenance, role)
            }
        }
    }

    /// Whether a value may carry something out of a result. One that was written before anything was read does not.
    fn may_carry_results(&self, origin: OriginClass) -> bool {
        let is_of_plan = matches!(origin, OriginClass::Literal | OriginClass::Person);
        self.known.policy().effects.guard.is_on() && (self.known.planning.earlier.is_without_request || !is_of_plan)
    }

    /// The origin of a value that stands in the first plan.
    fn origin_of_written(&self, provenance: Option<&Provenance>) -> OriginClass {
        match provenance {
            Some(Provenance::Person) => OriginClass::Person,
            Some(Provenance::Reference { step, .. }) if step.as_str() == INPUTS && self.known.is_plan_of_person() => {
                OriginClass::Person
            }
            Some(Provenance::Reference { .. }) => OriginClass::Reference,
            Some(Provenance::Expression { .. } | Provenance::Text { .. } | Provenance::Nested { .. }) => {
                OriginClass::Computed
            }
            _ if self.known.is_plan_of_person() => OriginClass::Person,
            _ => OriginClass::Literal,
        }
    }

    /// Whether a literal may be a typo: a model wrote it into a plan. An agent's own calls are its own words.
    fn may_have_typo(&self, planned: &PlannedStep) -> bool {
        !self.known.is_plan_of_person()
            && self.known.planning.plan.is_some()
            && planned.parameters.names().next().is_some()
    }
}

/// Whether a value was found for a parameter that the plan leaves open.
fn is_found_before_call(origin: &Provenance) -> bool {
    match origin {
        Provenance::Wired { .. } | Provenance::Inferred | Provenance::Resolved { .. } => true,
        Provenance::Nested { parts } => parts.iter().any(|part| is_found_before_call(&part.provenance)),
        Provenance::Literal
        | Provenance::Reference { .. }
        | Provenance::Expression { .. }
        | Provenance::Text { .. }
        | Provenance::Person
        | Provenance::Corrected { .. } => false,
    }
}

/// What an error refers to, seen from a changed place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Referred {
    /// To it, or to a place around or inside it.
    Here,
    Others,
    Nothing,
}

fn reference_to(path: &Path, referred: &[Path]) -> Referred {
    let is_prefix = |one: &Path, other: &Path| other.segments().starts_with(one.segments());
    match referred {
        [] => Referred::Nothing,
        places if places.iter().any(|place| is_prefix(place, path) || is_prefix(path, place)) => Referred::Here,
        _ => Referred::Others,
    }
}

/// A value as a request has it.
fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
