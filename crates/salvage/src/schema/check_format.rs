//! Whether the texts of a value have the formats that a schema states.

use std::sync::LazyLock;

use jsonschema::{Draft, Validator};
use reknit_protocol::{Path, Value};

use super::fast_hash::HashMap;
use super::formats::KNOWN_FORMATS;
use super::shape::{Shape, ShapeId, Shapes};
use super::validator_input::ValueInput;
use super::{FitProblem, FitProblemKind, Schema, SchemaType};

static VALIDATORS: LazyLock<HashMap<&'static str, Validator<ValueInput>>> = LazyLock::new(|| {
    let validator = |name: &'static str| {
        let schema = serde_json::json!({ "format": name });
        let options = jsonschema::options_for::<ValueInput>().with_draft(Draft::Draft202012).offline();
        Some((name, options.should_validate_formats(true).build(&schema).ok()?))
    };
    KNOWN_FORMATS.split(' ').filter_map(validator).collect()
});

pub(crate) fn has_format(text: &Value, format: &str) -> bool {
    VALIDATORS.get(format).is_none_or(|validator| validator.is_valid(text))
}

/// Calls `visit` with every text in the value for which the schema states a format, and with the shape that states it.
pub(crate) fn visit_formatted_texts<'a>(
    schema: &'a Schema,
    value: &'a Value,
    visit: &mut impl FnMut(&Path, &'a Value, &'a Shape),
) {
    visit_texts(schema, value, Shapes::ROOT, &mut Path::root(), visit);
}

fn visit_texts<'a>(
    schema: &'a Schema,
    value: &'a Value,
    id: ShapeId,
    path: &mut Path,
    visit: &mut impl FnMut(&Path, &'a Value, &'a Shape),
) {
    let shape = schema.shape(id);
    if !shape.alternatives.is_empty() {
        // Where several alternatives are possible, it is not known which format is meant.
        let is_possible = |id: &&ShapeId| schema.shape(**id).types.allows(value.kind());
        let mut possible = shape.alternatives.iter().filter(is_possible);
        if let (Some(only), None) = (possible.next(), possible.next()) {
            visit_texts(schema, value, *only, path, visit);
        }
        return;
    }
    match value {
        Value::String(_) if shape.types.contains(SchemaType::String) && shape.format.is_some() => {
            visit(path, value, shape);
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if let Some(id) = shape.array.item(index) {
                    path.push_index(index);
                    visit_texts(schema, item, id, path, visit);
                    path.pop();
                }
            }
        }
        Value::Object(object) => {
            for (key, value) in object {
                if let Some(id) = shape.object.entry(key) {
                    path.push_key(key);
                    visit_texts(schema, value, id, path, visit);
                    path.pop();
                }
            }
        }
        _ => {}
    }
}

/// The texts in the value that do not have the format that the schema states.
pub(super) fn problems(schema: &Schema, value: &Value) -> Vec<FitProblem> {
    let mut problems = Vec::new();
    visit_formatted_texts(schema, value, &mut |path, text, shape| {
        let format = shape.format.as_deref().unwrap_or_default();
        if !has_format(text, format) {
            let kind = FitProblemKind::Format { format: format.to_owned() };
            problems.push(FitProblem::new(path.clone(), kind, text));
        }
    });
    problems
}
