//! JSON Schema from Rust types, and the hints that planners read first.

mod hints;
mod words;

pub(crate) use hints::{example, summary};
pub(crate) use words::{Form, allowed, branches, expected, resolve};

use reknit_protocol::Value;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};

/// What the arguments of a handler may look like. Closed: a field nobody declared is more likely a mistake than a wish.
pub(crate) fn of_input<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_deserialize().with_transform(RecursiveTransform(close));
    of::<T>(settings)
}

/// What an answer looks like; it may say more than announced.
pub(crate) fn of_output<T: JsonSchema>() -> Value {
    of::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn of<T: JsonSchema>(settings: SchemaSettings) -> Value {
    // Inlined where that ends, so that the hints see through names.
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    Value::from(serde_json::Value::from(settings.into_generator().into_root_schema_for::<T>()))
}

/// Refuses undeclared fields of an object that lists its fields in one place. One that is put together from several
/// places stays open: no part of it knows the fields of the others.
fn close(schema: &mut Schema) {
    const ELSEWHERE: [&str; 5] = ["$ref", "allOf", "anyOf", "oneOf", "unevaluatedProperties"];
    let Some(keywords) = schema.as_object_mut() else { return };
    let is_object = keywords.get("type").is_some_and(|word| word == "object");
    if is_object && !ELSEWHERE.iter().any(|keyword| keywords.contains_key(*keyword)) {
        keywords.entry("additionalProperties").or_insert(false.into());
    }
}
