//! Writes integers without a fraction or an exponent, for tools that read `5.0` as no integer.

use reknit_protocol::{Number, Path, Value};

use crate::fix::FixList;
use crate::schema::SchemaType;
use crate::schema::shape::{Shape, ShapeId, Shapes};
use crate::{Fix, FixKind, Schema};

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
                    let declared = shape.object.properties.get(key).map(|property| property.shape);
                    let Some(id) = declared.or_else(|| shape.object.undeclared(key)) else { continue };
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

/// Whether a shape takes integers and no other numbers.
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
