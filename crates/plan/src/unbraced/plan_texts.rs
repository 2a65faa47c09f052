//! Visits every text in the parameters of a step.

use reknit_protocol::{Path, Plan, Value};

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

    /// Visits one parameter, and rewrites all certain references in it. Returns whether there is one.
    pub(crate) fn visit_parameter(&mut self, name: &str, value: &mut Value, schema: Option<&Value>) -> bool {
        let schema = schema.and_then(|schema| property(schema, name));
        self.visit(value, &mut Path::root().key(name), schema)
    }

    fn visit(&mut self, value: &mut Value, path: &mut Path, schema: Option<&Value>) -> bool {
        let mut is_changed = false;
        match value {
            Value::String(text) => return self.visit_text(text, path, schema),
            Value::Array(items) => {
                let schema = schema.and_then(|schema| schema.get("items"));
                for (index, item) in items.iter_mut().enumerate() {
                    path.push_index(index);
                    is_changed |= self.visit(item, path, schema);
                    path.pop();
                }
            }
            Value::Object(object) => {
                if let Some(found) = reference_in_object(self.finder, object, &self.context(path, schema)) {
                    let new = found.rewrite.clone().filter(|_| found.certainty == Certainty::Certain);
                    self.found.push((path.clone(), found));
                    let Some(new) = new else { return false };
                    *value = new.into();
                    return true;
                }
                for (key, value) in object.iter_mut() {
                    path.push_key(key);
                    is_changed |= self.visit(value, path, schema.and_then(|schema| property(schema, key)));
                    path.pop();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        is_changed
    }

    fn visit_text(&mut self, text: &mut String, path: &Path, schema: Option<&Value>) -> bool {
        let found = self.finder.find(text, &self.context(path, schema));
        let mut is_changed = false;
        for each in found.iter().rev().filter(|each| each.certainty == Certainty::Certain) {
            if let Some(rewrite) = &each.rewrite {
                text.replace_range(each.range.clone(), rewrite);
                is_changed = true;
            }
        }
        self.found.extend(found.into_iter().map(|each| (path.clone(), each)));
        is_changed
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
