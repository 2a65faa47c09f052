//! The JSON Schema of a plan over these tools, for providers that hold a model to one: a name that does not exist, or a
//! parameter that nobody knows, cannot be written then.

use reknit_protocol::{Object, Value};

use super::tools::follow;
use crate::catalogue::{Catalogue, Entry};

/// Beyond this a schema with each capability by itself is longer than providers take.
const CAPABILITIES: usize = 40;

/// How deep the schema of a parameter is told; beyond that only its type is.
const DEPTH: u32 = 4;

/// What a schema is made of where a model is held to it. Everything else (bounds, patterns) is checked by us.
const KEPT: [&str; 4] = ["type", "enum", "const", "items"];

/// The shape of a plan over these tools; `None` if there are too many of them, or none.
pub fn plan_shape(catalogue: &Catalogue) -> Option<Value> {
    let steps: Vec<Value> = catalogue
        .tools
        .iter()
        .flat_map(|tool| tool.shown().map(move |entry| step(tool.name.as_str(), entry)))
        .collect();
    if steps.is_empty() || steps.len() > CAPABILITIES {
        return None;
    }
    let steps = object([("type", "array".into()), ("items", object([("anyOf", steps.into())]))]);
    Some(closed([
        ("plan_id", text()),
        ("original_request", text()),
        ("mode", object([("enum", vec![Value::from("autonomous")].into())])),
        ("steps", steps),
    ]))
}

fn step(agent: &str, entry: &Entry) -> Value {
    let metadata = closed([("capability", only(entry.capability.name.as_str())), ("parameters", parameters(entry))]);
    closed([
        ("step_id", text()),
        ("agent_name", only(agent)),
        ("instruction", text()),
        ("depends_on", object([("type", "array".into()), ("items", text())])),
        ("metadata", metadata),
    ])
}

/// Every parameter must be written, since strict providers want it so: an optional one may be null.
fn parameters(entry: &Entry) -> Value {
    // A tool that says nothing about its parameters takes any.
    let Some(root) = entry.source() else { return object([("type", "object".into())]) };
    let required = entry.required();
    let fields = root.get("properties").and_then(Value::as_object);
    let parameter = |(name, field): (&str, &Value)| {
        // A text may stand for any value: that is how a reference is written.
        let mut kinds = vec![reduced(field, &root, DEPTH)];
        if kinds.first() != Some(&text()) {
            kinds.push(text());
        }
        if !required.iter().any(|other| other == name) {
            kinds.push(object([("type", "null".into())]));
        }
        let value = if kinds.len() == 1 { text() } else { object([("anyOf", kinds.into())]) };
        (name.to_owned(), value)
    };
    closed_over(fields.into_iter().flat_map(Object::iter).map(parameter).collect())
}

/// A schema with only what every provider knows.
fn reduced(field: &Value, root: &Value, depth: u32) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return text() };
    let field = follow(field, root);
    let Some(fields) = field.as_object() else { return text() };
    if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
        let inner = properties.iter().map(|(name, field)| (name.to_owned(), reduced(field, root, depth)));
        return closed_over(inner.collect());
    }
    let mut kept = Object::new();
    for key in KEPT {
        if let Some(value) = fields.get(key) {
            kept.insert(key, if key == "items" { reduced(value, root, depth) } else { value.clone() });
        }
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(kinds) = fields.get(key).and_then(Value::as_array) {
            kept.insert("anyOf", kinds.iter().map(|kind| reduced(kind, root, depth)).collect::<Vec<_>>());
        }
    }
    // An object of unknown keys cannot be held to a closed schema: its text can.
    let is_open = kept.get("type").and_then(Value::as_str) == Some("object");
    if kept.is_empty() || is_open { text() } else { Value::Object(kept) }
}

fn text() -> Value {
    object([("type", "string".into())])
}

fn only(word: &str) -> Value {
    object([("enum", vec![Value::from(word)].into())])
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn closed<const N: usize>(properties: [(&str, Value); N]) -> Value {
    closed_over(properties.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// An object with these properties, all of them and no others.
fn closed_over(properties: Object) -> Value {
    let names: Vec<Value> = properties.keys().map(Value::from).collect();
    object([
        ("type", "object".into()),
        ("properties", properties.into()),
        ("required", names.into()),
        ("additionalProperties", false.into()),
    ])
}
