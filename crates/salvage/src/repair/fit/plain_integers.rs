//! Respells what fits already: integers without a fraction or an exponent, and unambiguous dates as `format` asks for.

use reknit_protocol::{Number, Path, Value};

use crate::fix::FixList;
use crate::schema::shape::{Shape, ShapeId, Shapes};
use crate::schema::{Formats, Schema, SchemaType, has_format, in_format, visit_formatted_texts, with_large_stack};
use crate::{Fix, FixKind};

/// Rewrites `5.0` and `1e3` as `5` and `1000` where the schema asks for an integer and not for any number. The value fits the
/// schema before and after, because JSON Schema compares numbers by value. Records every change.
pub fn write_plain_integers(value: &mut Value, schema: &Schema) -> Vec<Fix> {
    let mut writer = IntegerWriter { schema, path: Path::root(), fixes: FixList::default() };
    writer.visit(value, Shapes::ROOT);
    writer.fixes.into_vec()
}

struct IntegerWriter<'s> {
    schema: &'s Schema,
    path: Path,
    fixes: FixList,
}

impl IntegerWriter<'_> {
    /// Visits a value and the values in it. The depth of a value is limited when it is parsed.
    fn visit(&mut self, value: &mut Value, id: ShapeId) {
        let schema = self.schema;
        let shape = schema.shape(id);
        match value {
            Value::Number(number) if wants_integer(shape, schema) => {
                let Some(plain) = plain_integer(number) else { return };
                let path = &self.path;
                self.fixes.push(|| path.clone(), FixKind::NumberSpelling, &number.to_string(), plain.to_string());
                *number = plain;
            }
            Value::Object(object) => {
                let Some(shape) = only_alternative(shape, schema, SchemaType::Object) else { return };
                for (key, entry) in object.iter_mut() {
                    let Some(id) = shape.object.entry(key) else { continue };
                    self.path.push_key(key);
                    self.visit(entry, id);
                    self.path.pop();
                }
            }
            Value::Array(items) => {
                let Some(shape) = only_alternative(shape, schema, SchemaType::Array) else { return };
                for (index, item) in items.iter_mut().enumerate() {
                    let Some(id) = shape.array.item(index) else { continue };
                    self.path.push_index(index);
                    self.visit(item, id);
                    self.path.pop();
                }
            }
            _ => {}
        }
    }
}

fn wants_integer(shape: &Shape, schema: &Schema) -> bool {
    let takes = |shape: &Shape, kind| shape.types.contains(kind);
    if shape.alternatives.is_empty() {
        return takes(shape, SchemaType::Integer) && !takes(shape, SchemaType::Number);
    }
    let alternatives = || shape.alternatives.iter().map(|id| schema.shape(*id));
    alternatives().any(|shape| takes(shape, SchemaType::Integer))
        && !alternatives().any(|shape| takes(shape, SchemaType::Number))
}

/// The shape itself, or the one alternative of a union that takes values of this type.
fn only_alternative<'s>(shape: &'s Shape, schema: &'s Schema, kind: SchemaType) -> Option<&'s Shape> {
    if shape.alternatives.is_empty() {
        return Some(shape);
    }
    let mut taking = shape.alternatives.iter().map(|id| schema.shape(*id)).filter(|shape| shape.types.contains(kind));
    taking.next().filter(|_| taking.next().is_none())
}

/// The integer without fraction and exponent; `None` if it is written so, or is no integer, or too long.
fn plain_integer(number: &Number) -> Option<Number> {
    number.to_string().contains(['.', 'e', 'E']).then(|| number.to_integer())?
}

/// Writes each unambiguous date as the schema asks for and records it, if formats guide fitting. Texts that cannot be written
/// so stay as they are.
pub(super) fn rewrite_dates(value: &mut Value, schema: &Schema, fixes: &mut FixList) {
    if schema.formats != Formats::Guide {
        return;
    }
    let changes = with_large_stack(schema.needs_large_stack(value), || find_changes(value, schema));
    for (path, written) in changes {
        if let Some(place) = value.at_mut(&path) {
            fixes.push(|| path.clone(), FixKind::DateSpelling, &place.to_string(), written.to_string());
            *place = written;
        }
    }
}

fn find_changes(value: &Value, schema: &Schema) -> Vec<(Path, Value)> {
    let mut changes: Vec<(Path, Value)> = Vec::new();
    visit_formatted_texts(schema, value, &mut |path, text, shape| {
        let format = shape.format.as_deref().unwrap_or_default();
        let written = || in_format(text.as_str()?, format).map(Value::from);
        if !has_format(text, format)
            && let Some(written) = written()
            && has_format(&written, format)
            && schema.accepts(shape, &written)
        {
            changes.push((path.clone(), written));
        }
    });
    changes
}
