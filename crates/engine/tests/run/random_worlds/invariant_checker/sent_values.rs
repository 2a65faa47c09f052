//! The invariants of the values of one call: what may differ from the plan and from the call before.

use std::collections::HashSet;

use reknit_engine::{Run, StepView};
use reknit_expressions::{Backing, Provenance};
use reknit_protocol::{CallTool, Object, SideEffect, StepId, Value};

use super::super::hostile::{BANK, hostile_texts, is_reference_of_first_plan};
use super::super::world_generator::SECOND;
use super::super::{RandomWorld, world_generator};
use super::step_log::{ApprovedCall, StepLog};

/// Checks that a person has approved a call that a rule or the plan holds back.
pub(super) fn check_approval(world: &RandomWorld, log: &StepLog, call: &CallTool) {
    let policy = &world.started.policy;
    let planned = world.written_step(&call.step);
    let by_plan = planned.is_some_and(|step| step.metadata.contains_key("approve"));
    let is_covered = policy.approvals.ask == reknit_engine::AskScope::Plan;
    if by_plan && !is_covered || world_generator::needs_approval(policy, call) {
        let text = call.parameters.to_string();
        let is_this = |approved: &ApprovedCall| match approved {
            ApprovedCall::AsAsked(parameters, key) => *parameters == text && *key == call.idempotency_key,
            ApprovedCall::Edited(parameters) | ApprovedCall::Item(parameters) => *parameters == text,
        };
        assert!(
            log.approved_calls.iter().any(is_this),
            "no call that matches a rule is sent without an approval of exactly that call: {} {text}",
            call.id
        );
    }
}

pub(super) fn is_second_plan(step: &StepId) -> bool {
    step.as_str().split('[').next().is_some_and(|id| id.ends_with(SECOND))
}

/// Whether a call lacks a value that the plan writes out or takes from an input, or has one that the plan leaves out.
pub(super) fn differs_from_plan(world: &RandomWorld, call: &CallTool) -> bool {
    let written = world.written_step(&call.step).and_then(|step| step.parameters());
    let has_another = |(name, value): (&str, &Value)| {
        let known = known_value(world, value);
        known.is_some_and(|known| call.parameters.get(name).map(ToString::to_string) != Some(known.to_string()))
    };
    let is_new = |name: &str| written.is_none_or(|written| !written.contains_key(name));
    written.into_iter().flat_map(Object::iter).any(has_another) || call.parameters.keys().any(is_new)
}

/// A value of a plan before the run starts; `None` for one that results decide.
fn known_value<'w>(world: &'w RandomWorld, value: &'w Value) -> Option<&'w Value> {
    let input = value.as_str().and_then(|text| text.strip_prefix("{{inputs.")?.strip_suffix("}}"));
    match input {
        Some(name) => world.started.inputs.get(name).or_else(|| {
            let (_, input) = world.plan.inputs.iter().find(|(known, _)| known == name)?;
            input.default.as_ref()
        }),
        None => Some(value).filter(|value| !value.to_string().contains("{{")),
    }
}

/// A longer text is content, unless the name of its parameter says more.
const LONGEST_TARGET: usize = 64;

/// No text that only tools wrote is in a payment, unless a reference of the first plan or a person chose it, or it is content: a longer text
/// for a parameter whose name says nothing else. Of content each change is told.
pub(super) fn check_hostile_values(world: &RandomWorld, log: &StepLog, call: &CallTool, view: &StepView) {
    if call.tool.as_str() != BANK {
        return;
    }
    for (name, text) in hostile_texts(&call.parameters) {
        let is_content = ["x", "note"].contains(&name) && text.chars().count() > LONGEST_TARGET;
        if is_content && call.side_effect == SideEffect::Keyed {
            continue;
        }
        let origin = view.provenance.iter().find(|(known, _)| known == name).map(|(_, origin)| origin);
        let is_chosen = is_reference_of_first_plan(world, &call.step, name)
            && origin.is_some_and(|origin| {
                matches!(
                    origin,
                    Provenance::Reference { .. }
                        | Provenance::Expression { .. }
                        | Provenance::Text { .. }
                        | Provenance::Nested { .. }
                )
            });
        // A person chose the values of each call of the step that was approved. A call after it is judged by what a correction changes in
        // it: what the correction leaves is still what the person chose.
        let is_approved = log.approved.iter().any(|known| known.get(name) == call.parameters.get(name));
        assert!(
            is_chosen || is_approved,
            "no value that only a tool wrote is sent without a person: {name} = {text} in {}, {origin:?}",
            call.id
        );
    }
}

/// Compares a new call of a step with the last one: its idempotency key, and what a correction has changed.
pub(super) fn check_change(log: &StepLog, call: &CallTool) {
    let Some(last) = &log.last_call else { return };
    if last.parameters == call.parameters {
        assert_eq!(last.idempotency_key, call.idempotency_key, "the same call has the same key");
        return;
    }
    if let Some(named) = &log.named {
        for name in changed_names(&last.parameters, &call.parameters) {
            assert!(
                contains_name(named, &name),
                "a correction changes only the parameters that it names: {name} in {}, named: {named:?}",
                call.id
            );
        }
    }
    if call.side_effect != SideEffect::Read {
        assert!(!log.uncertainty.is_open(), "a call that may have taken effect is not changed: {}", call.id);
        assert_ne!(last.idempotency_key, call.idempotency_key, "a corrected call has a new key");
    }
}

/// Every changed value of a call that does not only read is referred to by the error, or the error refers to no parameter and
/// something supports the value.
pub(super) fn check_evidence(log: &StepLog, call: &CallTool, provenance: &[(String, Provenance)], evidence: &str) {
    let Some(last) = log.last_call.as_ref().filter(|_| call.side_effect != SideEffect::Read) else { return };
    let refers_to = |name: &str| {
        let mut shown = Vec::new();
        collect_scalars(last.parameters.get(name).unwrap_or(&Value::Null), &mut shown);
        contains_word(&log.last_error, &name.to_lowercase())
            || shown.iter().any(|value| contains_word(&log.last_error, value))
    };
    // A number in an error need not be the value of a parameter, and `to` need not be its name.
    let is_named = |name: &str| name.len() > 2 && contains_word(&log.last_error, &name.to_lowercase());
    let is_about_none = !last.parameters.keys().any(is_named);
    let is_same = |name: &String| spelling(last.parameters.get(name)) == spelling(call.parameters.get(name));
    for name in changed_names(&last.parameters, &call.parameters).into_iter().filter(|name| !is_same(name)) {
        let value = call.parameters.get(&name);
        let origin = provenance.iter().find(|(known, _)| *known == name).map(|(_, origin)| origin);
        let is_known = |backing: &Backing| matches!(backing, Backing::Known | Backing::Explained { .. });
        let is_derived = origin.is_some_and(|origin| match origin {
            Provenance::Corrected { backing, .. } => is_known(backing),
            origin => origin.comes_from_result(),
        });
        let mut scalars = Vec::new();
        collect_scalars(value.unwrap_or(&Value::Null), &mut scalars);
        let is_word = call.side_effect == SideEffect::Undeclared
            && matches!(value, Some(Value::String(_) | Value::Bool(_) | Value::Null));
        // A text that says something, and names nothing, is what the model says. The tool knows which one it wants.
        let is_long = |value: &Value| {
            value.as_str().is_some_and(|text| text.chars().count() > 64 || text.contains('\n')) || *value == Value::Null
        };
        let is_content = value.is_some_and(is_long) && last.parameters.get(&name).is_none_or(is_long);
        let is_supported = |scalar: &String| contains_word(evidence, scalar) || contains_word(&log.last_error, scalar);
        let is_proved = is_derived || is_word || is_content || scalars.iter().all(is_supported);
        assert!(
            refers_to(&name) || (is_about_none && is_proved),
            "a changed value is referred to by the error, supported or approved: {name} = {value:?} in {}: {}, after {}",
            call.id,
            Value::Object(last.parameters.clone()),
            log.last_error
        );
    }
}

/// What may support a value: the request, the results, and the instructions and inputs of a person's plan, as one text in lower case.
pub(super) fn evidence(world: &RandomWorld, run: &Run) -> String {
    let results = world.plan.steps.iter().filter_map(|step| run.result(step.step_id.as_str()));
    // Instructions and the defaults of inputs are the words of who wrote the plan.
    let of_person = || world.started.plan.iter();
    let instructions = of_person().flat_map(|plan| &plan.steps).map(|step| step.instruction.clone());
    let inputs = of_person().flat_map(|plan| &plan.inputs);
    let inputs = inputs.filter_map(|(_, input)| Some(input.default.as_ref()?.to_string()));
    let texts = results.map(ToString::to_string).chain(instructions);
    texts.chain([world.started.request.clone()]).chain(inputs).collect::<Vec<_>>().join("\n").to_lowercase()
}

/// The texts and numbers in a value, in lower case; `null` and empty texts too.
pub(super) fn collect_scalars(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_scalars(item, texts)),
        Value::Object(object) => object.values().for_each(|value| collect_scalars(value, texts)),
        Value::String(text) => texts.push(text.to_lowercase()),
        value => texts.push(value.to_string()),
    }
}

/// Whether a text has another one as whole words.
pub(super) fn contains_word(text: &str, word: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    !word.is_empty()
        && text.match_indices(word).any(|(at, found)| {
            let before = text[..at].chars().next_back();
            let after = text[at + found.len()..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
}

pub(super) fn changed_names(before: &Object, after: &Object) -> Vec<String> {
    let names: HashSet<&str> = before.keys().chain(after.keys()).collect();
    names.into_iter().filter(|name| before.get(name) != after.get(name)).map(str::to_owned).collect()
}

/// The text of a value without quotes and capitals.
pub(super) fn spelling(value: Option<&Value>) -> Option<String> {
    value.map(|value| value.to_string().replace('"', "").to_lowercase())
}

pub(super) fn contains_name(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Tools and escapes may put braces into values; all of those contain `evil`. Any other braces are an unresolved template.
pub(super) fn assert_no_template(value: &Value, call: &CallTool) {
    match value {
        Value::String(text) => {
            let rest = text.replace("{{evil", "").replace("}}{{", "");
            assert!(!rest.contains("{{"), "no template is ever sent: {text} in {}", call.id);
        }
        Value::Array(items) => items.iter().for_each(|item| assert_no_template(item, call)),
        Value::Object(object) => {
            for (key, item) in object {
                assert!(!key.contains("{{"), "no template is ever sent as a key: {key} in {}", call.id);
                assert_no_template(item, call);
            }
        }
        _ => {}
    }
}
