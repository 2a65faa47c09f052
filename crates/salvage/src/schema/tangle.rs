//! Problems of nested values under a schema that leads back to itself.
//!
//! The validator lists the errors of every branch of a union, and of every branch of the unions inside those: with two
//! branches and twenty levels, a million lists. Here the way down is found by verdicts instead, and errors are collected
//! only where it ends.

use reknit_protocol::{Path, Value};

use super::parts::PartId;
use super::report::{Report, message};
use super::room::nests_deeper;
use super::shape::{Shape, ShapeId, Shapes};
use super::{Problem, ProblemKind, Schema};

/// Up to this many levels the validator's own lists stay short.
const FEW_LEVELS: usize = 6;

/// Whether the value is nested enough for the lists to grow out of hand.
pub(crate) fn is_nested(value: &Value) -> bool {
    nests_deeper(value, FEW_LEVELS)
}

/// What is wrong with the value, for these parts of the schema.
pub(crate) fn problems(schema: &Schema, parts: &[PartId], value: &Value) -> Vec<Problem> {
    let mut search = Search { schema, problems: Vec::new() };
    if parts == [PartId::WHOLE] {
        search.descend(value, Shapes::root(), &Path::root());
    }
    if search.problems.is_empty() && !parts.iter().all(|part| schema.parts.accepts(*part, value)) {
        search.push(&Path::root(), ProblemKind::NoBranch, value);
    }
    search.problems
}

struct Search<'a> {
    schema: &'a Schema,
    problems: Vec<Problem>,
}

impl Search<'_> {
    fn push(&mut self, path: &Path, kind: ProblemKind, found: &Value) {
        let message = message(&kind, found);
        self.problems.push(Problem { path: path.clone(), schema_path: String::new(), kind, message });
    }

    fn descend(&mut self, value: &Value, id: ShapeId, path: &Path) {
        let schema = self.schema;
        let shape = schema.shape(id);
        if schema.accepts(shape, value) {
            return;
        }
        let before = self.problems.len();
        if !shape.alternatives.is_empty() {
            if let Some(meant) = meant(schema, shape, value) {
                self.descend(value, meant, path);
            }
            if self.problems.len() == before {
                self.push(path, ProblemKind::NoBranch, value);
            }
            return;
        }
        self.descend_below(value, shape, path);
        if self.problems.len() == before {
            self.collect(value, shape, path);
        }
    }

    fn descend_below(&mut self, value: &Value, shape: &Shape, path: &Path) {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    let declared = shape.object.properties.get(key).map(|property| property.shape);
                    if let Some(id) = declared.or_else(|| shape.object.other(key)) {
                        self.descend(value, id, &path.key(key));
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    if let Some(id) = shape.array.item(index) {
                        self.descend(item, id, &path.index(index));
                    }
                }
            }
            _ => {}
        }
    }

    /// The errors of this place, when everything below is well.
    fn collect(&mut self, value: &Value, shape: &Shape, path: &Path) {
        let parts = if shape.chosen.is_empty() { &shape.heads } else { &shape.chosen };
        let mut report = Report::new(value, &self.schema.source, path.clone(), &[]);
        for validator in parts.iter().filter_map(|part| self.schema.parts.validator(*part)) {
            validator.iter_errors(value).for_each(|error| report.add(&error));
        }
        self.problems.extend(report.finish());
    }
}

/// The only alternative whose type and whose tags the value has.
fn meant(schema: &Schema, shape: &Shape, value: &Value) -> Option<ShapeId> {
    let is_meant = |id: &&ShapeId| {
        let shape = schema.shape(**id);
        shape.types.allow(value.kind()) && has_tags(schema, shape, value)
    };
    let mut candidates = shape.alternatives.iter().filter(is_meant);
    let first = candidates.next()?;
    candidates.next().is_none().then_some(*first)
}

fn has_tags(schema: &Schema, shape: &Shape, value: &Value) -> bool {
    let Value::Object(object) = value else { return true };
    object.iter().all(|(key, value)| {
        let wanted = shape.object.properties.get(key).map(|property| schema.shape(property.shape));
        wanted.is_none_or(|wanted| wanted.allowed.is_none() || schema.accepts(wanted, value))
    })
}
