//! From templates to values.

use reknit_protocol::{Path, Value};

use crate::evaluate::{Halt, Work, evaluate};
use crate::lookup::look_up;
use crate::provenance::NestedPart;
use crate::template::{Part, Text};
use crate::{Change, Exactness, Expression, Provenance, Reason, Reference, Sources, Template};

/// Resolves the templates of one step, and notes what has to be looked at again when the schema is known.
pub(crate) struct Resolver<'a> {
    sources: &'a dyn Sources,
    work: Work,
    pub(crate) changes: Vec<Change>,
    /// Where a reference or an expression gave null, and which one.
    pub(crate) nulls: Vec<(Path, String)>,
    /// The texts that could be calculations.
    pub(crate) calculations: Vec<(Path, &'a Expression)>,
}

/// A value and where it comes from.
pub(crate) type Resolved = (Value, Provenance);

impl<'a> Resolver<'a> {
    pub(crate) fn new(sources: &'a dyn Sources) -> Self {
        Self { sources, work: Work::new(), changes: Vec::new(), nulls: Vec::new(), calculations: Vec::new() }
    }

    /// The value of a template that stands at `path`.
    pub(crate) fn resolve(&mut self, template: &'a Template, path: &mut Path) -> Result<Resolved, Reason> {
        match template {
            Template::Literal(value) => Ok((value.clone(), Provenance::Literal)),
            Template::Reference(reference) => self.reference(reference, path),
            Template::Expression(expression) => {
                let (value, provenance) = self.expression(expression, path)?;
                if value.is_null() {
                    self.nulls.push((path.clone(), expression.to_string()));
                }
                Ok((value, provenance))
            }
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

    /// Resolves a part of a list or an object.
    fn part(&mut self, template: &'a Template, path: &mut Path, parts: &mut Vec<NestedPart>) -> Result<Value, Reason> {
        let (value, provenance) = self.resolve(template, path)?;
        match provenance {
            Provenance::Literal => {}
            Provenance::Nested { parts: inner } => parts.extend(inner),
            provenance => parts.push(NestedPart { path: path.clone(), provenance }),
        }
        Ok(value)
    }

    fn reference(&mut self, reference: &Reference, path: &Path) -> Result<Resolved, Reason> {
        let found = look_up(self.sources, reference.step(), reference.path())
            .map_err(|missed| Halt::from(missed).into_reason(&reference.clone().into()))?;
        if found.value.is_null() {
            self.nulls.push((path.clone(), reference.to_string()));
        }
        let provenance = Provenance::Reference { step: reference.step().clone(), path: found.path };
        Ok((found.value.clone(), provenance))
    }

    /// Calculates an expression that stands at `path`.
    pub(crate) fn expression(&mut self, expression: &Expression, path: &Path) -> Result<Resolved, Reason> {
        let evaluated = evaluate(expression, self.sources, &mut self.work, path)?;
        self.changes.extend(evaluated.changes);
        let (inputs, exact) = (evaluated.inputs, evaluated.exact);
        Ok((evaluated.value, Provenance::Expression { text: expression.to_string(), inputs, exact }))
    }

    fn text(&mut self, text: &'a Text, path: &Path) -> Result<Resolved, Reason> {
        let mut written = String::new();
        let mut inputs = Vec::new();
        let mut exact = Exactness::Exact;
        for part in &text.parts {
            match part {
                Part::Literal(literal) => written.push_str(literal),
                Part::Hole(expression) => {
                    let evaluated = evaluate(expression, self.sources, &mut self.work, path)?;
                    written.push_str(&in_text(&evaluated.value, expression)?);
                    self.changes.extend(evaluated.changes);
                    inputs.extend(evaluated.inputs);
                    exact = exact.and(evaluated.exact);
                }
            }
        }
        if let Some(calculation) = &text.calculation {
            self.calculations.push((path.clone(), calculation));
        }
        let has_holes = text.parts.iter().any(|part| matches!(part, Part::Hole(_)));
        let provenance = if has_holes { Provenance::Text { inputs, exact } } else { Provenance::Literal };
        Ok((Value::String(written), provenance))
    }
}

/// A value as it stands inside a text: numbers as they were written.
fn in_text(value: &Value, expression: &Expression) -> Result<String, Reason> {
    let what = || expression.to_string();
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        Value::Null => Err(Reason::Null { what: what() }),
        Value::Array(_) | Value::Object(_) => {
            Err(Reason::NotText { what: what(), kind: value.kind().with_article().to_owned() })
        }
    }
}
