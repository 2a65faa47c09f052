//! Visits every text in the parameters of a step.

use reknit_protocol::{Object, Path, Plan, Value};

use super::context::innermost_name;
use super::{Certainty, ParameterContext, UnbracedFinder, UnbracedReference, reference_in_object};
use crate::StepIndex;
use crate::announced::property;

/// Visits the texts in the parameters of one step and collects the unbraced references in them.
pub(crate) struct PlanTexts<'f, 'a> {
    finder: &'f UnbracedFinder<'a>,
    step: StepIndex,
    /// The steps that the plan says it depends on.
    dependencies: Vec<StepIndex>,
    /// The steps whose fields a text may mean without naming the step.
    nearby: Vec<StepIndex>,
    /// What was found, with its path in the parameters.
    pub(crate) found: Vec<(Path, UnbracedReference)>,
}

impl<'f, 'a> PlanTexts<'f, 'a> {
    pub(crate) fn new(finder: &'f UnbracedFinder<'a>, plan: &Plan, step: StepIndex) -> Self {
        let declared = plan.steps.get(step.get()).map(|step| step.depends_on.as_slice()).unwrap_or_default();
        let dependencies: Vec<StepIndex> = declared
            .iter()
            .filter_map(|id| match finder.names.exact(id.as_str())? {
                super::Source::Step(index) => Some(index),
                super::Source::Inputs => None,
            })
            .collect();
        let nearby =
            if dependencies.is_empty() { (0..step.get()).map(StepIndex::new).collect() } else { dependencies.clone() };
        Self { finder, step, dependencies, nearby, found: Vec::new() }
    }

    /// Visits one parameter. Returns the value with all certain references rewritten, or `None` if there is none.
    pub(crate) fn visit_parameter(&mut self, name: &str, value: &Value, schema: Option<&Value>) -> Option<Value> {
        let schema = schema.and_then(|schema| property(schema, name));
        self.visit(value, &mut Path::root().key(name), schema)
    }

    fn visit(&mut self, value: &Value, path: &mut Path, schema: Option<&Value>) -> Option<Value> {
        match value {
            Value::String(text) => self.visit_text(text, path, schema),
            Value::Array(items) => {
                let schema = schema.and_then(|schema| schema.get("items"));
                let mut changed: Option<Vec<Value>> = None;
                for (index, item) in items.iter().enumerate() {
                    path.push_index(index);
                    if let Some(new) = self.visit(item, path, schema)
                        && let Some(slot) = changed.get_or_insert_with(|| items.clone()).get_mut(index)
                    {
                        *slot = new;
                    }
                    path.pop();
                }
                changed.map(Value::Array)
            }
            Value::Object(object) => self.visit_object(object, path, schema),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }

    fn visit_text(&mut self, text: &str, path: &Path, schema: Option<&Value>) -> Option<Value> {
        let found = self.finder.find(text, &self.context(path, schema));
        let mut rewritten = text.to_owned();
        let mut is_changed = false;
        for each in found.iter().rev().filter(|each| each.certainty == Certainty::Certain) {
            if let Some(rewrite) = &each.rewrite {
                rewritten.replace_range(each.range.clone(), rewrite);
                is_changed = true;
            }
        }
        self.found.extend(found.into_iter().map(|each| (path.clone(), each)));
        is_changed.then(|| rewritten.into())
    }

    fn visit_object(&mut self, object: &Object, path: &mut Path, schema: Option<&Value>) -> Option<Value> {
        if let Some(found) = reference_in_object(self.finder, object, &self.context(path, schema)) {
            let new = found.rewrite.clone().filter(|_| found.certainty == Certainty::Certain);
            self.found.push((path.clone(), found));
            return new.map(Value::from);
        }
        let mut changed: Option<Object> = None;
        for (key, value) in object {
            path.push_key(key);
            if let Some(new) = self.visit(value, path, schema.and_then(|schema| property(schema, key))) {
                changed.get_or_insert_with(|| object.clone()).insert(key, new);
            }
            path.pop();
        }
        changed.map(Value::Object)
    }

    fn context<'c>(&'c self, path: &'c Path, schema: Option<&'c Value>) -> ParameterContext<'c> {
        ParameterContext {
            step: self.step,
            dependencies: &self.dependencies,
            nearby: &self.nearby,
            name: innermost_name(path.segments()),
            schema,
        }
    }
}
