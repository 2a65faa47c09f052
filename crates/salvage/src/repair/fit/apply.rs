//! Applying a plan to a value and recording the changes.

use reknit_protocol::{Object, Path, Value};

use super::envelope::layered_value;
use super::plan::{Action, EntryChange, EntryEdit, Plan};
use crate::FixKind;
use crate::fix::FixList;

#[derive(Debug)]
pub(super) struct AppliedPlan {
    pub(super) value: Value,
    /// The paths of the expressions in `value`.
    pub(super) expressions: Vec<Path>,
}

pub(super) fn preview(value: &Value, plan: &Plan) -> AppliedPlan {
    apply_with(value, plan, None)
}

/// Applies a plan and records every change.
pub(super) fn apply(value: &Value, plan: &Plan) -> (AppliedPlan, FixList) {
    let mut fixes = FixList::default();
    let applied = apply_with(value, plan, Some(&mut fixes));
    (applied, fixes)
}

fn apply_with(value: &Value, plan: &Plan, fixes: Option<&mut FixList>) -> AppliedPlan {
    let mut applier = PlanApplier { path: Path::root(), fixes, expressions: Vec::new() };
    let value = applier.apply(value, plan);
    AppliedPlan { value, expressions: applier.expressions }
}

struct PlanApplier<'f> {
    path: Path,
    fixes: Option<&'f mut FixList>,
    expressions: Vec<Path>,
}

impl PlanApplier<'_> {
    fn apply(&mut self, value: &Value, plan: &Plan) -> Value {
        match &plan.action {
            Action::Keep => value.clone(),
            Action::Replace(replacement) => {
                let (kind, result) = replacement.as_ref();
                self.record(*kind, value, result);
                result.clone()
            }
            Action::Expression(text) => {
                let result = Value::from(text.as_ref());
                // The parser has already converted and recorded an unquoted reference.
                if *value != result {
                    self.record(FixKind::Arithmetic, value, &result);
                }
                self.expressions.push(self.path.clone());
                result
            }
            Action::Object(edits) => self.apply_edits(value, edits),
            Action::Array(changes) => {
                let mut items = value.as_array().unwrap_or_default().to_vec();
                for (index, plan) in changes.iter() {
                    if let Some(item) = items.get_mut(*index) {
                        self.path.push_index(*index);
                        *item = self.apply(item, plan);
                        self.path.pop();
                    }
                }
                Value::Array(items)
            }
            Action::Wrap(plan) => {
                self.record_wrap(value);
                self.path.push_index(0);
                let item = self.apply(value, plan);
                self.path.pop();
                Value::Array(vec![item])
            }
            Action::Unwrap(plan) => {
                let Some([only]) = value.as_array() else { return value.clone() };
                self.record(FixKind::ListOfOne, value, only);
                self.apply(only, plan)
            }
            Action::TakeValue(taken) => {
                let (name, plan) = taken.as_ref();
                let Some(inner) = layered_value(value, name.as_deref()) else { return value.clone() };
                self.record(FixKind::ValueLayer, value, inner);
                self.apply(inner, plan)
            }
            Action::Decode(decode) => {
                let (decoded, plan) = decode.as_ref();
                self.record(decoded.kind, value, &decoded.value);
                self.record_nested(&decoded.fixes);
                self.apply(&decoded.value, plan)
            }
        }
    }

    fn apply_edits(&mut self, value: &Value, edits: &[EntryEdit]) -> Value {
        let Value::Object(object) = value else { return value.clone() };
        let mut result = Object::with_capacity(object.len());
        let mut edits = edits.iter().peekable();
        for (index, (key, value)) in object.iter().enumerate() {
            match edits.next_if(|edit| edit.index == index).map(|edit| &edit.change) {
                None => {
                    result.insert(key, value.clone());
                }
                Some(EntryChange::Drop) => {
                    self.at_key(key, |applier| {
                        applier.record_text(FixKind::NullForOptional, &value.to_string(), "");
                    });
                }
                Some(EntryChange::Fit(plan)) => {
                    let value = self.at_key(key, |applier| applier.apply(value, plan));
                    result.insert(key, value);
                }
                Some(EntryChange::Rename(name, kind, plan)) => {
                    let value = self.at_key(name, |applier| {
                        applier.record_text(*kind, key, name);
                        applier.apply(value, plan)
                    });
                    result.insert(name.as_ref(), value);
                }
            }
        }
        Value::Object(result)
    }

    fn at_key<T>(&mut self, key: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push_key(key);
        let result = work(self);
        self.path.pop();
        result
    }

    fn record(&mut self, kind: FixKind, before: &Value, after: &Value) {
        if self.fixes.is_some() {
            self.record_text(kind, &before.to_string(), &after.to_string());
        }
    }

    fn record_wrap(&mut self, before: &Value) {
        if self.fixes.is_some() {
            let before = before.to_string();
            self.record_text(FixKind::ScalarForArray, &before, &format!("[{before}]"));
        }
    }

    fn record_text(&mut self, kind: FixKind, before: &str, after: &str) {
        let path = &self.path;
        if let Some(fixes) = &mut self.fixes {
            fixes.push(|| path.clone(), kind, before, after);
        }
    }

    /// Records the repairs of a decoded text; their paths are relative to that text.
    fn record_nested(&mut self, repairs: &[crate::Fix]) {
        let parent = &self.path;
        if let Some(fixes) = &mut self.fixes {
            for fix in repairs {
                let path = || parent.segments().iter().chain(fix.path.segments()).cloned().collect();
                fixes.push(path, fix.kind, &fix.before, &fix.after);
            }
        }
    }
}
