//! Removes Markdown emphasis around whole names and values: `**TSLA**`, `*x*`, `` `x` ``. Underscores stay, because
//! they belong to names such as `__init__`.

use reknit_protocol::{Object, Plan, Step, StepId, Value};

use super::{PlanFix, PlanFixKind};
use crate::unbraced::{is_free_text, is_pattern};

/// The marks of emphasis. A longer one stands before a shorter one with the same start.
const MARKS: [&str; 4] = ["***", "**", "*", "`"];

/// Removes the emphasis in a plan. Text for people keeps it, and so do patterns, in which `*` is a wildcard, and values that the
/// request contains with their marks.
pub(super) fn remove(plan: &mut Plan) -> Vec<PlanFix> {
    let mut fixes = Vec::new();
    let ids: Vec<StepId> = plan.steps.iter().map(|step| step.step_id.clone()).collect();
    for step in &mut plan.steps {
        remove_from_id(step, &ids, &mut fixes);
        remove_from_names(step, &mut fixes);
        remove_from_parameters(step, &plan.original_request, &mut fixes);
    }
    fixes
}

fn remove_from_id(step: &mut Step, ids: &[StepId], fixes: &mut Vec<PlanFix>) {
    if let Some(plain) = plain(step.step_id.as_str())
        && !ids.iter().any(|id| id.as_str() == plain)
    {
        let plain: StepId = plain.into();
        fixes.push(PlanFix::new(&plain, PlanFixKind::StepId, step.step_id.as_str(), plain.as_str()));
        step.step_id = plain;
    }
    for needed in &mut step.depends_on {
        if let Some(plain) = plain(needed.as_str()).map(StepId::from) {
            *needed = plain;
        }
    }
}

fn remove_from_names(step: &mut Step, fixes: &mut Vec<PlanFix>) {
    if let Some(plain) = plain(step.tool.as_str()) {
        fixes.push(PlanFix::new(&step.step_id, PlanFixKind::Tool, step.tool.as_str(), plain));
        step.tool = plain.into();
    }
    if let Some(name) = step.capability().map(str::to_owned)
        && let Some(plain) = plain(&name)
    {
        fixes.push(PlanFix::new(&step.step_id, PlanFixKind::Capability, &name, plain));
        step.metadata.insert("capability", plain);
    }
}

fn remove_from_parameters(step: &mut Step, request: &str, fixes: &mut Vec<PlanFix>) {
    let Some(parameters) = step.parameters() else { return };
    let before = fixes.len();
    let mut object = Object::new();
    for (name, value) in parameters {
        let plain = plain(name).filter(|plain| !parameters.contains_key(plain));
        if let Some(plain) = plain {
            fixes.push(PlanFix::new(&step.step_id, PlanFixKind::Parameter, name, plain));
        }
        let name = plain.unwrap_or(name);
        let mut value = value.clone();
        let mut remover = ValueEmphasis { request, step: &step.step_id, fixes };
        remover.remove(name, &mut value);
        object.insert(name, value);
    }
    if fixes.len() > before {
        step.metadata.insert("parameters", object);
    }
}

struct ValueEmphasis<'a> {
    request: &'a str,
    step: &'a StepId,
    fixes: &'a mut Vec<PlanFix>,
}

impl ValueEmphasis<'_> {
    fn remove(&mut self, name: &str, value: &mut Value) {
        match value {
            Value::String(text) => {
                let is_kept = is_free_text(name)
                    || is_pattern(name)
                    || text.contains(['\n', '\r'])
                    || self.request.contains(text.trim());
                if let Some(plain) = plain(text).filter(|_| !is_kept) {
                    self.fixes.push(PlanFix::new(self.step, PlanFixKind::Value, text, plain));
                    *text = plain.to_owned();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.remove(name, item)),
            Value::Object(object) => object.iter_mut().for_each(|(key, value)| self.remove(key, value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// A name or a value without the emphasis around all of it.
fn plain(text: &str) -> Option<&str> {
    let trimmed = text.trim();
    let mark = MARKS.iter().find(|mark| trimmed.starts_with(**mark))?;
    let inside = trimmed.strip_prefix(mark)?.strip_suffix(mark)?;
    let is_emphasis = !inside.is_empty() && inside == inside.trim() && !inside.contains(['*', '`']);
    is_emphasis.then_some(inside)
}
