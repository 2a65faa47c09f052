//! JSON Schema from Rust types.

use reknit_protocol::Value;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};

/// The schema of a handler's arguments. It is closed: an undeclared field is more likely a mistake than an extension.
pub(crate) fn for_input<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_deserialize().with_transform(RecursiveTransform(close));
    generate::<T>(settings)
}

/// The schema of an answer. It is open: an answer may have more fields than the type declares.
pub(crate) fn for_output<T: JsonSchema>() -> Value {
    generate::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Value {
    // Field hints need the type itself, not a reference to it. Recursive types keep their references.
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    Value::from(serde_json::Value::from(settings.into_generator().into_root_schema_for::<T>()))
}

/// Refuses undeclared fields of an object that lists all its fields in one place. An object that is composed of several
/// schemas stays open, because none of them knows the fields of the others.
fn close(schema: &mut Schema) {
    const COMPOSITION: [&str; 5] = ["$ref", "allOf", "anyOf", "oneOf", "unevaluatedProperties"];
    let Some(keywords) = schema.as_object_mut() else { return };
    let is_object = keywords.get("type").is_some_and(|word| word == "object");
    if is_object && !COMPOSITION.iter().any(|keyword| keywords.contains_key(*keyword)) {
        keywords.entry("additionalProperties").or_insert(false.into());
    }
}
