//! What counts as a JSON Schema of parameters. Some services answer every path, also that of a schema, with a status or an error.

use reknit_protocol::schema::normalise_types;
use reknit_protocol::{Object, Value};

/// The keywords that restrict an object, as the parameters of a call are, and the one that names the dialect. `title` and
/// `description` are not among them: other answers have them, too.
const KEYWORDS: &[&str] = &[
    "$schema",
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "enum",
    "const",
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "required",
    "minProperties",
    "maxProperties",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
];

/// Why an answer is not a JSON Schema of parameters; `None` if it is one. An empty object is one: it restricts nothing.
pub(super) fn schema_problem(answer: &Value) -> Option<&'static str> {
    let Value::Object(schema) = answer else { return Some("it is not an object") };
    match allows_objects(schema) {
        Some(true) => None,
        Some(false) => Some("its type is not `object`"),
        None if schema.is_empty() || KEYWORDS.iter().any(|keyword| schema.contains_key(keyword)) => None,
        None => Some("it has no keyword that restricts parameters"),
    }
}

/// Whether the type of a schema allows objects; `None` if it has no type, or one that JSON Schema does not know.
fn allows_objects(schema: &Object) -> Option<bool> {
    let mut typed = Value::from([("type", schema.get("type")?.clone())]);
    normalise_types(&mut typed);
    match typed.get("type")? {
        Value::String(word) => Some(word == "object"),
        Value::Array(words) => Some(words.iter().any(|word| word.as_str() == Some("object"))),
        _ => None,
    }
}
