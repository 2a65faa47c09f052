//! Resolves templates to values.

use reknit_protocol::{Path, Value};

use crate::evaluate::lookup::look_up;
use crate::evaluate::{WorkBudget, evaluate};
use crate::provenance::NestedPart;
use crate::template::{TextPart, TextTemplate};
use crate::{Exactness, Expression, Provenance, Reference, StepResults, Template, UnboundReason, ValueChange};

/// Resolves the templates of one step, and collects what the schema decides later.
pub(crate) struct Resolver<'a> {
    results: &'a dyn StepResults,
    budget: WorkBudget,
    pub(crate) changes: Vec<ValueChange>,
    /// References and expressions that evaluated to null, with their location.
    pub(crate) nulls: Vec<(Path, String)>,
    /// The expressions of strings that may be evaluated, with their location.
    pub(crate) calculations: Vec<(Path, &'a Expression)>,
}

/// A value and its provenance.
pub(crate) type Resolved = (Value, Provenance);

impl<'a> Resolver<'a> {
    pub(crate) fn new(results: &'a dyn StepResults) -> Self {
        Self { results, budget: WorkBudget::new(), changes: Vec::new(), nulls: Vec::new(), calculations: Vec::new() }
    }

    pub(crate) fn resolve(&mut self, template: &'a Template, path: &mut Path) -> Result<Resolved, UnboundReason> {
        match template {
            Template::Literal(value) => Ok((value.clone(), Provenance::Literal)),
            Template::Reference(reference) => self.reference(reference, path),
            Template::Expression(expression) => self.expression(expression, path),
            Template::Text(text) => self.text(text, path),
            Template::Array(items) => {
                let mut values = Vec::with_capacity(items.len());
                let mut parts = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    path.push_index(index);
                    values.push(self.part(item, path, &mut parts)?);
                    path.pop();
                }
                Ok((Value::Array(values), Provenance::Nested { parts }))
            }
            Template::Object(entries) => {
                let mut object = reknit_protocol::Object::with_capacity(entries.len());
                let mut parts = Vec::new();
                for (key, template) in entries {
                    path.push_key(key);
                    object.insert(key, self.part(template, path, &mut parts)?);
                    path.pop();
                }
                Ok((Value::Object(object), Provenance::Nested { parts }))
            }
        }
    }

    /// Resolves a part of an array or an object, and adds its provenance to `parts`.
    fn part(
        &mut self,
        template: &'a Template,
        path: &mut Path,
        parts: &mut Vec<NestedPart>,
    ) -> Result<Value, UnboundReason> {
        let (value, provenance) = self.resolve(template, path)?;
        match provenance {
            Provenance::Literal => {}
            Provenance::Nested { parts: inner } => parts.extend(inner),
            provenance => parts.push(NestedPart { path: path.clone(), provenance }),
        }
        Ok(value)
    }

    fn reference(&mut self, reference: &Reference, path: &Path) -> Result<Resolved, UnboundReason> {
        let found = look_up(self.results, reference.step(), reference.path())
            .map_err(|failure| failure.into_reason(&reference.clone().into()))?;
        if found.value.is_null() {
            self.nulls.push((path.clone(), reference.to_string()));
        }
        let provenance = Provenance::Reference { step: reference.step().clone(), path: found.path };
        Ok((found.value.clone(), provenance))
    }

    /// Evaluates the expression at `path`.
    pub(crate) fn expression(&mut self, expression: &Expression, path: &Path) -> Result<Resolved, UnboundReason> {
        let evaluation = evaluate(expression, self.results, &mut self.budget, path)?;
        self.changes.extend(evaluation.changes);
        if evaluation.value.is_null() {
            self.nulls.push((path.clone(), expression.to_string()));
        }
        let (inputs, exact) = (evaluation.inputs, evaluation.exact);
        Ok((evaluation.value, Provenance::Expression { text: expression.to_string(), inputs, exact }))
    }

    fn text(&mut self, text: &'a TextTemplate, path: &Path) -> Result<Resolved, UnboundReason> {
        let mut output = String::new();
        let mut inputs = Vec::new();
        let mut exact = Exactness::Exact;
        for part in &text.parts {
            match part {
                TextPart::Literal(literal) => output.push_str(literal),
                TextPart::Placeholder(expression) => {
                    let evaluation = evaluate(expression, self.results, &mut self.budget, path)?;
                    output.push_str(&interpolated(&evaluation.value, expression)?);
                    self.changes.extend(evaluation.changes);
                    inputs.extend(evaluation.inputs);
                    exact = exact.and(evaluation.exact);
                }
            }
        }
        if let Some(calculation) = &text.calculation {
            self.calculations.push((path.clone(), calculation));
        }
        let has_placeholders = text.parts.iter().any(|part| matches!(part, TextPart::Placeholder(_)));
        let provenance = if has_placeholders { Provenance::Text { inputs, exact } } else { Provenance::Literal };
        Ok((Value::String(output), provenance))
    }
}

/// The text of a value inside a string. Numbers keep their spelling.
fn interpolated(value: &Value, expression: &Expression) -> Result<String, UnboundReason> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        Value::Null => Err(UnboundReason::Null { expression: expression.to_string() }),
        Value::Array(_) | Value::Object(_) => {
            let kind = value.kind().with_article().to_owned();
            Err(UnboundReason::NotText { expression: expression.to_string(), kind })
        }
    }
}
