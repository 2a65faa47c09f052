//! Doing what was decided, and recording it.

use reknit_protocol::{Object, Path, Value};

use super::plan::{Act, Change, Edit, Plan};
use crate::FixKind;
use crate::fix::Fixes;

/// The result of a plan.
#[derive(Debug)]
pub(super) struct Applied {
    pub(super) value: Value,
    /// Where it holds expressions.
    pub(super) expressions: Vec<Path>,
}

/// What a plan leads to.
pub(super) fn preview(value: &Value, plan: &Plan) -> Applied {
    run(value, plan, None)
}

/// Carries out a plan and records every change.
pub(super) fn apply(value: &Value, plan: &Plan) -> (Applied, Fixes) {
    let mut fixes = Fixes::default();
    let applied = run(value, plan, Some(&mut fixes));
    (applied, fixes)
}

fn run(value: &Value, plan: &Plan, fixes: Option<&mut Fixes>) -> Applied {
    let mut hand = Hand { path: Path::root(), fixes, expressions: Vec::new() };
    let value = hand.apply(value, plan);
    Applied { value, expressions: hand.expressions }
}

struct Hand<'f> {
    /// Where in the result we are.
    path: Path,
    fixes: Option<&'f mut Fixes>,
    expressions: Vec<Path>,
}

impl Hand<'_> {
    fn apply(&mut self, value: &Value, plan: &Plan) -> Value {
        match &plan.act {
            Act::Keep => value.clone(),
            Act::Set(set) => {
                let (kind, result) = set.as_ref();
                self.record(*kind, value, result);
                result.clone()
            }
            Act::Expression(text) => {
                let result = Value::from(text.as_ref());
                // A reference without quotes was made an expression when it was read, and recorded then.
                if *value != result {
                    self.record(FixKind::Arithmetic, value, &result);
                }
                self.expressions.push(self.path.clone());
                result
            }
            Act::Object(edits) => self.apply_edits(value, edits),
            Act::Array(changes) => {
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
            Act::Wrap(plan) => {
                self.record_wrap(value);
                self.path.push_index(0);
                let item = self.apply(value, plan);
                self.path.pop();
                Value::Array(vec![item])
            }
            Act::Decode(decode) => {
                let (decoded, plan) = decode.as_ref();
                self.record(FixKind::DoubleEncoding, value, &decoded.value);
                self.adopt(&decoded.fixes);
                self.apply(&decoded.value, plan)
            }
        }
    }

    fn apply_edits(&mut self, value: &Value, edits: &[Edit]) -> Value {
        let Value::Object(object) = value else { return value.clone() };
        let mut result = Object::with_capacity(object.len());
        let mut edits = edits.iter().peekable();
        for (index, (key, value)) in object.iter().enumerate() {
            match edits.next_if(|edit| edit.index == index).map(|edit| &edit.change) {
                None => {
                    result.insert(key, value.clone());
                }
                Some(Change::Drop) => self.at_key(key, |hand| hand.record_drop(value)),
                Some(Change::Value(plan)) => {
                    let value = self.at_key(key, |hand| hand.apply(value, plan));
                    result.insert(key, value);
                }
                Some(Change::Rename(name, plan)) => {
                    let value = self.at_key(name, |hand| {
                        hand.record_text(FixKind::KeySpelling, key, name);
                        hand.apply(value, plan)
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

    fn record_drop(&mut self, before: &Value) {
        if self.fixes.is_some() {
            self.record_text(FixKind::NullForOptional, &before.to_string(), "");
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

    /// Takes over the repairs of a text that was read, which know only their place in that text.
    fn adopt(&mut self, repairs: &[crate::Fix]) {
        let place = &self.path;
        if let Some(fixes) = &mut self.fixes {
            for fix in repairs {
                let path = || place.segments().iter().chain(fix.path.segments()).cloned().collect();
                fixes.push(path, fix.kind, &fix.before, &fix.after);
            }
        }
    }
}
