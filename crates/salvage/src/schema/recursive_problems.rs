//! Problems of nested values under a recursive schema.
//!
//! The validator lists the errors of every branch of a union, and of every branch of the unions inside: with two branches
//! and twenty levels, that makes a million lists. This module descends by whether subschemas accept the values, and
//! collects errors only at the innermost values that do not fit.

use reknit_protocol::{Path, Value};

use super::complexity::Complexity;
use super::nesting::{count_values, nests_deeper};
use super::report::Report;
use super::shape::{Shape, ShapeId, Shapes};
use super::subschemas::SubschemaId;
use super::{FitProblem, FitProblemKind, Schema};

/// Up to this many levels, the lists of the validator stay short if a schema refers to itself once.
const MAX_FLAT_LEVELS: u32 = 6;

/// How many lists the validator may make.
const MAX_LISTS: u64 = 4096;

/// A schema with fewer visits per value makes no long lists, however large the value.
const FEW_VISITS: u64 = 64;

/// How many errors the validator may list about one value, in all lists together. Each takes about half a kilobyte.
const MAX_ERRORS: u64 = 16_384;

const MAX_PROBLEMS: usize = 1000;

/// Whether the lists of the validator would explode, because the value nests deep in a recursive schema or the schema is
/// complex.
pub(crate) fn are_needed(schema: &Schema, value: &Value) -> bool {
    let Complexity { visits, recursions, .. } = schema.complexity;
    if schema.is_recursive {
        let levels = (0..MAX_FLAT_LEVELS).take_while(|level| recursions.saturating_pow(level + 1) <= MAX_LISTS).count();
        if nests_deeper(value, levels) {
            return true;
        }
    }
    visits > FEW_VISITS && visits.saturating_mul(count_values(value)) > MAX_LISTS
}

pub(crate) fn problems(schema: &Schema, subschemas: &[SubschemaId], value: &Value) -> Vec<FitProblem> {
    let mut search = Search { schema, problems: Vec::new() };
    if subschemas == [SubschemaId::ROOT] {
        search.descend(value, Shapes::ROOT, &Path::root());
    }
    if search.problems.is_empty() && !subschemas.iter().all(|id| schema.subschemas.accepts(*id, value)) {
        search.push(&Path::root(), FitProblemKind::NoAlternativeFits, value);
    }
    search.problems
}

struct Search<'a> {
    schema: &'a Schema,
    problems: Vec<FitProblem>,
}

impl Search<'_> {
    fn push(&mut self, path: &Path, kind: FitProblemKind, found: &Value) {
        self.problems.push(FitProblem::new(path.clone(), kind, found));
    }

    fn descend(&mut self, value: &Value, id: ShapeId, path: &Path) {
        let schema = self.schema;
        let shape = schema.shape(id);
        if self.problems.len() >= MAX_PROBLEMS || schema.accepts(shape, value) {
            return;
        }
        let before = self.problems.len();
        if !shape.alternatives.is_empty() {
            if let Some(alternative) = matching_alternative(schema, shape, value) {
                self.descend(value, alternative, path);
            }
            if self.problems.len() == before {
                let kind = if self.fits_several(shape, value) {
                    FitProblemKind::SeveralAlternativesFit
                } else {
                    FitProblemKind::NoAlternativeFits
                };
                self.push(path, kind, value);
            }
            return;
        }
        self.descend_into_children(value, shape, path);
        if self.problems.len() == before {
            self.collect(value, shape, path);
        }
    }

    /// Whether the value fits several alternatives. This is not looked up in large unions, because each alternative of a
    /// large union may be large.
    fn fits_several(&self, shape: &Shape, value: &Value) -> bool {
        let schema = self.schema;
        let count = u64::try_from(shape.alternatives.len()).unwrap_or(u64::MAX);
        let fits = |id: &&ShapeId| schema.accepts_chosen(schema.shape(**id), value);
        count.saturating_mul(schema.complexity.visits) <= MAX_LISTS
            && shape.alternatives.iter().filter(fits).take(2).count() == 2
    }

    fn descend_into_children(&mut self, value: &Value, shape: &Shape, path: &Path) {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    if let Some(id) = shape.object.entry(key) {
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

    /// Collects the errors of a value whose children all fit: only the first one if there may be very many, as for an object
    /// with a thousand wrong names.
    fn collect(&mut self, value: &Value, shape: &Shape, path: &Path) {
        // Shapes do not follow `dependentSchemas`, so the errors may be those of all values inside, many times.
        if self.schema.complexity.has_recursive_dependencies && nests_deeper(value, 1) {
            return self.push(path, FitProblemKind::NoAlternativeFits, value);
        }
        let ids = if shape.chosen.is_empty() { &shape.subschemas } else { &shape.chosen };
        let mut report = Report::new(value, self.schema.source(), path.clone(), &[]);
        let may_be_many = self.schema.complexity.visits.saturating_mul(count_values(value)) > MAX_ERRORS;
        for validator in ids.iter().filter_map(|id| self.schema.subschemas.validator(*id)) {
            if may_be_many {
                report.add_first(validator, self.schema.copies());
            } else {
                report.add_all(validator, self.schema.copies());
            }
        }
        self.problems.extend(report.finish());
    }
}

/// The only alternative that matches the type and the tags of the value.
fn matching_alternative(schema: &Schema, shape: &Shape, value: &Value) -> Option<ShapeId> {
    let matches = |id: &&ShapeId| {
        let shape = schema.shape(**id);
        shape.types.allows(value.kind()) && matches_tags(schema, shape, value)
    };
    let mut candidates = shape.alternatives.iter().filter(matches);
    let first = candidates.next()?;
    candidates.next().is_none().then_some(*first)
}

fn matches_tags(schema: &Schema, shape: &Shape, value: &Value) -> bool {
    let Value::Object(object) = value else { return true };
    object.iter().all(|(key, value)| {
        let property = shape.object.properties.get(key).map(|property| schema.shape(property.shape));
        property.is_none_or(|shape| shape.allowed.is_none() || schema.accepts(shape, value))
    })
}
