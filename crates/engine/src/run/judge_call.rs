//! What the gate is told about the call of a step: each value with its role, its origin and its difference from what was written.

use std::sync::Arc;

use reknit_expressions::{BoundParameters, Provenance};
use reknit_mend::{CallFault, FaultOrigin, is_same_value};
use reknit_plan::{INPUTS, PlannedStep, StepIndex};
use reknit_protocol::{Object, Path, Segment, SideEffect, StepId, Value, exact};
use serde::{Deserialize, Serialize};

use super::evidence::{Evidence, is_word_for};
use super::repair_by_model::changed_text;
use super::repair_by_rules::facts_about;
use super::state::Stage;
use super::step_events::Correction;
use super::{Run, planned};
use crate::effect::AskedBy;
use crate::gate::{
    Finding, GateDecision, GateRow, GateVerdict, OriginClass, ParameterRole, ProposedCall, ProposedValue, RoleGuess,
    ValueDifference, guess_role, joined, judge, row_of,
};
use crate::internal_error::Decided;

/// The parameters of a step before they were changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct WrittenCall {
    #[serde(with = "exact")]
    pub(super) parameters: Object,
    /// Their provenance; `None` if a person approved them.
    pub(super) provenance: Option<Vec<(String, Provenance)>>,
}

/// What the gate says about a call with changed values.
#[derive(Debug, Default)]
pub(super) struct JudgedChange {
    /// Why a person decides about it, one sentence for each value; empty if it may be sent.
    pub(super) reasons: Vec<String>,
    /// The numbers among them that nothing supports, each with its parameter.
    pub(super) numbers: Vec<String>,
}

/// A leaf of the parameters, with what was written in its place.
struct Leaf<'a> {
    at: Path,
    /// The key that the value has; that of the list for an item.
    name: &'a str,
    /// `None` if it is left out.
    value: Option<&'a Value>,
    written: Option<&'a Value>,
    schema: Option<&'a Value>,
    siblings: &'a Object,
    difference: ValueDifference,
    /// Whether the difference is from the call of the first plan that the step replaces.
    is_of_first_plan: bool,
}

impl<'a> Leaf<'a> {
    /// A parameter that is left out.
    fn left_out(name: &'a str, written: &'a Value, schema: Option<&'a Value>, siblings: &'a Object) -> Self {
        let (at, difference) = (Path::root().key(name), ValueDifference::Dropped);
        Self { at, name, value: None, written: Some(written), schema, siblings, difference, is_of_first_plan: false }
    }
}

/// Marks what a second plan changes of the call that it replaces.
fn compare_with_replaced<'a>(first: &'a Object, parameters: &'a Object, leaves: &mut Vec<Leaf<'a>>) {
    for leaf in leaves.iter_mut().filter(|leaf| leaf.difference == ValueDifference::None) {
        let old = value_at(first, &leaf.at);
        if let Some(old) = old.filter(|old| !leaf.value.is_some_and(|new| is_same_value(old, new))) {
            (leaf.written, leaf.difference, leaf.is_of_first_plan) = (Some(old), ValueDifference::Replaced, true);
        }
    }
    for (name, value) in first.iter().filter(|(name, _)| !parameters.contains_key(name)) {
        let left_out = Leaf { is_of_first_plan: true, ..Leaf::left_out(name, value, None, parameters) };
        collect(left_out, leaves);
    }
}

impl Run {
    /// What the gate says about the call of a step as it stands.
    pub(super) fn judge_call(&self, index: StepIndex) -> Decided<GateVerdict> {
        let (planned, step) = (planned(&self.plan, index)?, self.state.steps.get(index)?);
        let mut call = ProposedCall { class: self.side_effect(planned), ..ProposedCall::default() };
        let is_as_written =
            step.written.is_none() && !self.state.lost_parameters.contains_key(self.written_id(planned));
        if call.class == SideEffect::Read && is_as_written {
            return Ok(judge(&call));
        }
        call.is_approved = self.is_approved(index)? || self.is_in_approved_plan(index)?;
        if !call.is_approved {
            let bound = BoundParameters { parameters: step.parameters.clone(), ..BoundParameters::default() };
            call = self.proposed_call(index, planned, None, &bound)?;
        }
        Ok(judge(&call))
    }

    /// Asks a person about a call as it stands, with what the gate found.
    pub(super) fn ask_about_findings(&mut self, index: StepIndex, findings: &[Finding]) -> Decided {
        let step = self.state.steps.get(index)?;
        let found = step.provenance.iter().filter(|(_, origin)| is_found_before_call(origin));
        let open: Vec<&str> = found.map(|(name, _)| name.as_str()).collect();
        let given = |name: &str| !open.contains(&name) && !findings.iter().any(|finding| finding.is_about(name));
        let known = step.parameters.iter().filter(|(name, _)| given(name));
        let known: Object = known.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        let change = changed_text(&known, &step.parameters);
        let message = match open.as_slice() {
            [] => "a person decides about it first".to_owned(),
            names => format!("the plan gives no value for {}", names.join(", ")),
        };
        let correction = Correction::new(change, "", &[joined(findings)]);
        self.ask_about_correction(index, Arc::new(CallFault::local(message)), correction, AskedBy::Correction)
    }

    /// What reads left out although the request states it, one sentence for each parameter.
    pub(super) fn lost_filters(&self) -> Vec<String> {
        let steps = self.plan.steps.iter().zip(self.state.steps.iter());
        let done = self.plan.indices().zip(steps).filter(|(_, (_, step))| matches!(step.stage(), Stage::Done(_)));
        let reads = done.filter(|(_, (planned, _))| self.side_effect(planned) == SideEffect::Read);
        let findings = reads.filter_map(|(index, (planned, _))| match self.judge_call(index) {
            Ok(GateVerdict::SendAndTell(_, findings)) => Some((&planned.id, findings)),
            _ => None,
        });
        let lines = findings.flat_map(|(step, findings)| {
            let lost = findings.into_iter().filter(|finding| finding.row == GateRow::DroppedFilter);
            lost.map(move |finding| format!("step `{step}`: {finding}"))
        });
        lines.collect()
    }

    /// The id under which a step is written in the plan: that of the loop for an item.
    fn written_id<'a>(&'a self, planned: &'a PlannedStep) -> &'a StepId {
        let of_loop = planned.item.and_then(|item| self.plan.get(item.of));
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
        Ok(JudgedChange { numbers: numbers.collect(), reasons: findings.iter().map(Finding::to_string).collect() })
    }

    /// The call of a step with these parameters, of which `bound` knows the provenance of the changed ones.
    fn proposed_call(
        &self,
        index: StepIndex,
        planned: &PlannedStep,
        fault: Option<&CallFault>,
        bound: &BoundParameters,
    ) -> Decided<ProposedCall> {
        let (class, step) = (self.side_effect(planned), self.state.steps.get(index)?);
        let (written, origins) = match &step.written {
            Some(written) => (&written.parameters, written.provenance.as_deref()),
            None => (&step.parameters, Some(step.provenance.as_slice())),
        };
        // What we say ourselves about a missing value is no evidence for it.
        let is_own = |fault: &CallFault| fault.origin == FaultOrigin::Local && !self.missing(planned).is_empty();
        let said = fault.or_else(|| step.last_fault().map(AsRef::as_ref)).filter(|fault| !is_own(fault));
        let facts = said.map(|fault| facts_about(planned, step, fault)).unwrap_or_default();
        let referred = match said.filter(|_| fault.is_some()) {
            Some(fault) => self.rejected_call(planned, step, fault, &facts)?.referred_paths(),
            None => Vec::new(),
        };
        let properties = planned.schema.as_ref().and_then(|schema| schema.source().get("properties"));
        let mut leaves = Vec::new();
        let names = bound.parameters.keys().chain(written.keys().filter(|name| !bound.parameters.contains_key(name)));
        for name in names {
            let (value, old) = (bound.parameters.get(name), written.get(name));
            let is_plain = value == old && !origins.is_some_and(|origins| needs_look(origins, name));
            if is_plain && !self.is_of_second_plan(planned) && !self.may_have_typo(planned) {
                continue;
            }
            let schema = properties.and_then(|properties| properties.get(name));
            let siblings = &bound.parameters;
            let (at, difference) = (Path::root().key(name), ValueDifference::None);
            let leaf = Leaf { at, name, value, written: old, schema, siblings, difference, is_of_first_plan: false };
            collect(leaf, &mut leaves);
        }
        let lost = self.state.lost_parameters.get(self.written_id(planned));
        for (name, value) in lost.iter().flat_map(|lost| &lost.0) {
            let schema = properties.and_then(|properties| properties.get(name));
            collect(Leaf::left_out(name, value, schema, &bound.parameters), &mut leaves);
        }
        let replaced = self.replaced_step(planned);
        let other_tool = replaced.filter(|(first, _)| first.tool != planned.tool);
        let rerouted_from = self.state.rerouted.get(self.written_id(planned)).cloned();
        let rerouted_from = rerouted_from.or_else(|| other_tool.map(|(first, _)| first.tool.to_string()));
        let mut call = ProposedCall { class, rerouted_from, ..ProposedCall::default() };
        let replaced = replaced.filter(|(first, _)| first.tool == planned.tool);
        if let Some((_, first)) = replaced {
            compare_with_replaced(&first.parameters, &bound.parameters, &mut leaves);
        }
        if leaves.is_empty() {
            return Ok(call);
        }
        let evidence = self.evidence(planned, said);
        let moved: Vec<&Value> =
            leaves.iter().filter(|leaf| leaf.value.is_none()).filter_map(|leaf| leaf.written).collect();
        let added: Vec<&Value> = leaves
            .iter()
            .filter(|leaf| leaf.difference == ValueDifference::Added)
            .filter_map(|leaf| leaf.value)
            .collect();
        for leaf in &leaves {
            let is_moved = match leaf.difference {
                ValueDifference::Added => leaf.value.is_some_and(|value| moved.contains(&value)),
                ValueDifference::Dropped => leaf.written.is_some_and(|value| added.contains(&value)),
                _ => false,
            };
            let top = top_level(&leaf.at).unwrap_or(leaf.name);
            let of = |list: &[(String, Provenance)]| {
                list.iter().find(|(name, _)| name == top).map(|(_, origin)| origin.clone())
            };
            let is_written = leaf.difference == ValueDifference::None || leaf.is_of_first_plan;
            // A step of a second plan that repeats a parameter keeps its origin.
            let is_repeated = replaced.is_some_and(|(first, _)| {
                first.parameters.get(top).is_some_and(|known| planned.parameters.get(top) == Some(known))
            });
            let provenance = match (is_written, origins) {
                (true, None) => Some(Provenance::Person),
                (true, Some(origins)) => of(origins),
                (false, _) => of(&bound.provenance).or_else(|| of(&step.provenance)),
            };
            let referred_to = reference_to(&leaf.at, &referred);
            call.values.push(self.proposed_value(
                planned,
                class,
                &evidence,
                leaf,
                (provenance.as_ref(), is_moved, is_repeated, referred_to),
            ));
        }
        Ok(call)
    }

    fn proposed_value(
        &self,
        planned: &PlannedStep,
        class: SideEffect,
        evidence: &Evidence<'_>,
        leaf: &Leaf<'_>,
        (provenance, is_moved, is_repeated, referred): (Option<&Provenance>, bool, bool, Referred),
    ) -> ProposedValue {
        let given = leaf.value.filter(|value| **value != Value::Null);
        let shown = given.or(leaf.written).or(leaf.value).unwrap_or(&Value::Null);
        let guess = RoleGuess { class, name: leaf.name, value: shown, schema: leaf.schema, siblings: leaf.siblings };
        let role = guess_role(guess);
        let is_open = provenance.is_some_and(is_found_before_call);
        let difference = match leaf.difference {
            ValueDifference::None if is_open => ValueDifference::Added,
            _ if is_moved => ValueDifference::Respelled,
            difference => difference,
        };
        let origin = match leaf.difference {
            ValueDifference::None if !is_open && (is_repeated || !self.is_of_second_plan(planned)) => {
                self.origin_of_written(provenance)
            }
            _ => self.origin_of_found(evidence, provenance, shown, role),
        };
        let is_changed = !matches!(difference, ValueDifference::None | ValueDifference::Respelled);
        let stated = leaf.written.filter(|_| is_changed).filter(|written| evidence.stated.has(written));
        // A second plan may have other values than the first one, but for what the request states and for switches.
        let may_differ = leaf.is_of_first_plan && stated.is_none() && role != ParameterRole::Switch
            || leaf.is_of_first_plan && role == ParameterRole::Content;
        let difference = if may_differ { ValueDifference::None } else { difference };
        let is_listed = leaf.schema.is_some_and(|schema| schema.get("enum").is_some());
        let is_in_plan = origin == OriginClass::Literal && self.state.plan.is_some();
        let nearly_stated = (is_in_plan && role == ParameterRole::Target && !is_listed)
            .then(|| evidence.stated.nearest(shown.as_str()?))
            .flatten();
        ProposedValue {
            name: display_path(&leaf.at),
            role,
            origin,
            difference,
            stated: stated.map(text_of),
            is_refused_elsewhere: referred == Referred::Others,
            nearly_stated,
        }
    }

    /// The origin of a value that stands in the first plan.
    fn origin_of_written(&self, provenance: Option<&Provenance>) -> OriginClass {
        match provenance {
            Some(Provenance::Person) => OriginClass::Person,
            Some(Provenance::Reference { step, .. }) if step.as_str() == INPUTS && self.is_plan_of_person() => {
                OriginClass::Person
            }
            Some(Provenance::Reference { .. }) => OriginClass::Reference,
            Some(Provenance::Expression { .. } | Provenance::Text { .. } | Provenance::Nested { .. }) => {
                OriginClass::Computed
            }
            _ if self.is_plan_of_person() => OriginClass::Person,
            _ => OriginClass::Literal,
        }
    }

    /// Whether a literal may be a typo: a model wrote it into a plan. An agent's own calls are its own words.
    fn may_have_typo(&self, planned: &PlannedStep) -> bool {
        !self.is_plan_of_person() && self.state.plan.is_some() && planned.parameters.names().next().is_some()
    }
}

/// Whether the gate has to look at an unchanged parameter.
fn needs_look(origins: &[(String, Provenance)], name: &str) -> bool {
    origins.iter().any(|(known, origin)| known == name && is_found_before_call(origin))
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

/// Collects the leaves of a parameter, each with what was written in its place.
fn collect<'a>(leaf: Leaf<'a>, leaves: &mut Vec<Leaf<'a>>) {
    let difference = match (leaf.written, leaf.value) {
        (Some(old), Some(new)) if old == new => ValueDifference::None,
        (Some(old), Some(new)) if is_same_value(old, new) || is_word_for(old, new) || is_list_of(old, new) => {
            leaves.push(Leaf { difference: ValueDifference::Respelled, ..leaf });
            return;
        }
        (None, Some(_)) => ValueDifference::Added,
        (Some(old), None | Some(Value::Null)) if is_empty(old) => return,
        (_, None) | (Some(_), Some(Value::Null)) => ValueDifference::Dropped,
        (Some(_), Some(_)) => ValueDifference::Replaced,
    };
    let part = |inner: Option<&'a Value>, key: &str| inner.and_then(|inner| inner.as_object()?.get(key));
    let item = |inner: Option<&'a Value>, index: usize| inner.and_then(|inner| inner.as_array()?.get(index));
    // Something else stood in the place of the whole.
    let old_scalar = leaf.written.filter(|old| old.as_object().is_none() && old.as_array().is_none());
    match leaf.value.or(leaf.written) {
        Some(Value::Object(object)) if !object.is_empty() => {
            let written = leaf.written.and_then(Value::as_object);
            let lost = written.into_iter().flat_map(Object::keys).filter(|key| !object.contains_key(key));
            for key in object.keys().chain(lost) {
                let schema = leaf.schema.and_then(|schema| schema.get("properties")?.get(key));
                let written = part(leaf.written, key).or(old_scalar);
                let value = part(leaf.value, key);
                let at = leaf.at.key(key);
                collect(Leaf { at, name: key, value, written, schema, siblings: object, ..leaf }, leaves);
            }
        }
        Some(Value::Array(items)) if !items.is_empty() => {
            let count = leaf.written.and_then(Value::as_array).map_or(0, <[Value]>::len).max(items.len());
            for index in 0..count {
                let schema = leaf.schema.and_then(|schema| schema.get("items"));
                let (value, written) = (item(leaf.value, index), item(leaf.written, index).or(old_scalar));
                collect(Leaf { at: leaf.at.index(index), value, written, schema, ..leaf }, leaves);
            }
        }
        _ => leaves.push(Leaf { difference, ..leaf }),
    }
}

/// Whether a value is a list of the other one alone.
fn is_list_of(one: &Value, list: &Value) -> bool {
    matches!(list.as_array(), Some([only]) if is_same_value(one, only))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn value_at<'a>(parameters: &'a Object, at: &Path) -> Option<&'a Value> {
    let [Segment::Key(name), inner @ ..] = at.segments() else { return None };
    parameters.get(name)?.at(&inner.iter().cloned().collect())
}

fn top_level(at: &Path) -> Option<&str> {
    match at.segments().first()? {
        Segment::Key(name) => Some(name),
        Segment::Index(_) => None,
    }
}

/// A place as people write it: `payment.to.iban`.
pub(super) fn display_path(at: &Path) -> String {
    let text = at.to_string();
    text.strip_prefix("$.").unwrap_or(&text).to_owned()
}

/// A value as a request has it.
fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
