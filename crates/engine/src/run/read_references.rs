//! References without braces in the values that a model writes for a step: they must not reach the tool as text.

use reknit_plan::{PlannedStep, ReadValues, read_values};
use reknit_protocol::{Object, Value};

use super::Run;

impl Run {
    /// Reads the values that a model wrote for a step by the rules for a model's plan. Values that the call already has are
    /// not looked at: the plan may say that such a text is meant.
    pub(super) fn read_references(&self, planned: &PlannedStep, current: &Object, values: &Object) -> ReadValues {
        let is_new = |(name, value): &(&str, &Value)| current.get(name) != Some(*value);
        let new: Object = values.iter().filter(is_new).map(|(name, value)| (name.to_owned(), value.clone())).collect();
        let plan = self.state.plan.as_ref().or(self.started.plan.as_ref());
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
    match value {
        Value::String(own) => own.contains(text),
        Value::Array(items) => items.iter().any(|item| contains_text(item, text)),
        Value::Object(object) => object.values().any(|value| contains_text(value, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
