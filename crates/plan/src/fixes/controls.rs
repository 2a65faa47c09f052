//! Puts `foreach`, `when` and computations where the check reads them. Models write them in several places.

use reknit_protocol::spelling::are_alike;
use reknit_protocol::{Object, Plan, Step, Value};

use super::{PlanFix, PlanFixKind};
use crate::RESULT;
use crate::catalogue::{Catalogue, CatalogueEntry};
use crate::check::COMPUTE;

/// The keys that a model may write beside `metadata` or `parameters` instead of inside `metadata`.
const KEYS: [&str; 3] = ["foreach", "when", COMPUTE];

/// Puts the controls in a model's plan where [`check`](crate::check()) reads them: keys beside `metadata`, keys among the
/// parameters of a capability that does not have them, and steps that compute, which models write as calls of `compute`.
/// Without this they would have no effect, and nobody would know.
pub fn place_controls(plan: &mut Plan, catalogue: &Catalogue) -> Vec<PlanFix> {
    plan.steps.iter_mut().flat_map(|step| place_in_step(step, catalogue)).collect()
}

fn place_in_step(step: &mut Step, catalogue: &Catalogue) -> Vec<PlanFix> {
    let mut fixes = Vec::new();
    for key in KEYS {
        if step.has_control(key) {
            continue;
        }
        let beside = step.extra.get(key).filter(|value| !value.is_null()).cloned();
        let (place, value) = match beside {
            Some(value) => (key.to_owned(), value),
            None => match take_parameter(step, key, catalogue) {
                Some(value) => (format!("parameters.{key}"), value),
                None => continue,
            },
        };
        step.metadata.insert(key, value);
        fixes.push(PlanFix::new(&step.step_id, PlanFixKind::Control, &place, &format!("metadata.{key}")));
    }
    fixes.extend(read_computation(step, catalogue));
    fixes
}

/// Takes a key out of the parameters of a step whose capability has no such parameter.
fn take_parameter(step: &mut Step, key: &str, catalogue: &Catalogue) -> Option<Value> {
    if !step.parameters()?.contains_key(key) {
        return None;
    }
    let entry = step.capability().and_then(|capability| catalogue.entry(step.tool.as_str(), capability));
    let schema = entry.and_then(CatalogueEntry::json_schema);
    let lacks_it = schema.is_some_and(|schema| schema.get("properties").is_some_and(|all| all.get(key).is_none()));
    if !lacks_it {
        return None;
    }
    let mut parameters = step.parameters()?.clone();
    let value = parameters.remove(key).filter(|value| !value.is_null());
    step.metadata.insert("parameters", parameters);
    value
}

/// A step that computes, as models write it: as a call of the tool `compute`, as they are told, or with the value itself under
/// `compute` or `result`.
fn read_computation(step: &mut Step, catalogue: &Catalogue) -> Option<PlanFix> {
    let calls_tool = catalogue.tool(step.tool.as_str()).is_some();
    let of_compute = step.metadata.get(COMPUTE).filter(|value| !matches!(value, Value::Null | Value::Bool(_)));
    let is_named = are_alike(step.tool.as_str(), COMPUTE);
    if calls_tool || !(is_named || of_compute.is_some() || step.is_computed()) {
        return None;
    }
    let has_parameters = step.parameters().is_some_and(|parameters| !parameters.is_empty());
    let of_result = step.metadata.get(RESULT).filter(|value| !value.is_null() && !has_parameters);
    let found = match (of_compute, of_result) {
        (Some(value), _) => Some((COMPUTE, value.clone())),
        (None, Some(value)) => Some((RESULT, value.clone())),
        (None, None) => None,
    };
    step.tool = COMPUTE.into();
    step.metadata.remove("capability");
    step.metadata.insert(COMPUTE, true);
    let (key, value) = found?;
    step.metadata.remove(RESULT);
    step.metadata.insert("parameters", Object::from([(RESULT, value)]));
    Some(PlanFix::new(&step.step_id, PlanFixKind::Control, &format!("metadata.{key}"), "parameters.result"))
}
