//! The JSON Schema of a plan over given tools, for providers with structured output: a model cannot write a name or a
//! parameter that does not exist.

use reknit_protocol::{Object, Value};
use serde::{Deserialize, Serialize};

use super::tool_descriptions::follow_reference;
use crate::catalogue::{Catalogue, CatalogueEntry};
use crate::check::COMPUTE;

/// The most capabilities: a longer schema is more than providers accept.
const MAX_CAPABILITIES: usize = 40;

/// How deep the schema of a parameter is kept; deeper values are strings.
const MAX_DEPTH: u32 = 4;

/// The keywords that are kept. The check of the plan covers the others, such as bounds and patterns.
const KEPT_KEYWORDS: [&str; 4] = ["type", "enum", "const", "items"];

/// What a planner is told that it may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanLanguage {
    /// Calls of tools only.
    Calls,
    /// Also `foreach`, `when` and steps that compute.
    #[default]
    Controls,
}

impl PlanLanguage {
    /// The language of runs that were started before planners could write loops: they are replayed as they were.
    pub fn calls() -> Self {
        Self::Calls
    }

    pub fn is_calls(&self) -> bool {
        *self == Self::Calls
    }
}

/// The JSON Schema of a plan over these tools. `None` if there are no capabilities or too many.
pub fn plan_json_schema(catalogue: &Catalogue, language: PlanLanguage) -> Option<Value> {
    let mut steps: Vec<Value> = catalogue
        .tools
        .iter()
        .flat_map(|tool| tool.visible_capabilities().map(move |entry| call(tool.name.as_str(), entry, language)))
        .collect();
    if steps.is_empty() || steps.len() > MAX_CAPABILITIES {
        return None;
    }
    // A tool of this name is called, and nothing is computed.
    if language == PlanLanguage::Controls && catalogue.tool(COMPUTE).is_none() {
        steps.push(computation());
    }
    let steps = Value::from([("type", "array".into()), ("items", Value::from([("anyOf", steps.into())]))]);
    Some(closed([
        ("plan_id", string()),
        ("original_request", string()),
        ("mode", Value::from([("enum", vec![Value::from("autonomous")].into())])),
        ("steps", steps),
    ]))
}

fn call(tool: &str, entry: &CatalogueEntry, language: PlanLanguage) -> Value {
    let mut metadata = Object::from([("capability", constant(entry.capability.name.as_str()))]);
    if language == PlanLanguage::Controls {
        metadata.insert("foreach", string_or_null());
        metadata.insert("when", string_or_null());
    }
    metadata.insert("parameters", parameters(entry));
    step(tool, closed_object(metadata))
}

fn computation() -> Value {
    let metadata = closed([
        ("foreach", string_or_null()),
        ("when", string_or_null()),
        ("parameters", closed([("result", string())])),
    ]);
    step(COMPUTE, metadata)
}

fn step(tool: &str, metadata: Value) -> Value {
    closed([
        ("step_id", string()),
        ("agent_name", constant(tool)),
        ("instruction", string()),
        ("depends_on", Value::from([("type", "array".into()), ("items", string())])),
        ("metadata", metadata),
    ])
}

/// The schema of the parameters. All are required, since strict providers demand it; an optional one may be null.
fn parameters(entry: &CatalogueEntry) -> Value {
    // A tool without a schema accepts any parameters.
    let Some(root) = entry.json_schema() else { return Value::from([("type", "object".into())]) };
    let required = entry.required_parameters();
    let fields = root.get("properties").and_then(Value::as_object);
    let parameter = |(name, field): (&str, &Value)| {
        // Any value may be a string, because templates are strings.
        let mut alternatives = vec![reduced(field, &root, MAX_DEPTH)];
        if alternatives.first() != Some(&string()) {
            alternatives.push(string());
        }
        if !required.iter().any(|other| other == name) {
            alternatives.push(Value::from([("type", "null".into())]));
        }
        let value = if alternatives.len() == 1 { string() } else { Value::from([("anyOf", alternatives.into())]) };
        (name.to_owned(), value)
    };
    closed_object(fields.into_iter().flat_map(Object::iter).map(parameter).collect())
}

/// A schema with only the keywords that every provider supports.
fn reduced(field: &Value, root: &Value, depth: u32) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return string() };
    let field = follow_reference(field, root);
    let Some(fields) = field.as_object() else { return string() };
    if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
        let inner = properties.iter().map(|(name, field)| (name.to_owned(), reduced(field, root, depth)));
        return closed_object(inner.collect());
    }
    let mut kept = Object::new();
    for key in KEPT_KEYWORDS {
        if let Some(value) = fields.get(key) {
            kept.insert(key, if key == "items" { reduced(value, root, depth) } else { value.clone() });
        }
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(alternatives) = fields.get(key).and_then(Value::as_array) {
            kept.insert("anyOf", alternatives.iter().map(|schema| reduced(schema, root, depth)).collect::<Vec<_>>());
        }
    }
    // A closed schema cannot describe an object of unknown keys, so the model writes it as a string.
    let is_open = kept.get("type").and_then(Value::as_str) == Some("object");
    if kept.is_empty() || is_open { string() } else { Value::Object(kept) }
}

/// Strict providers demand every key, so one that is not needed is null.
fn string_or_null() -> Value {
    Value::from([("anyOf", vec![string(), Value::from([("type", "null".into())])].into())])
}

fn string() -> Value {
    Value::from([("type", "string".into())])
}

fn constant(word: &str) -> Value {
    Value::from([("enum", vec![Value::from(word)].into())])
}

fn closed<const N: usize>(properties: [(&str, Value); N]) -> Value {
    closed_object(properties.into())
}

/// An object with exactly these properties, all required.
fn closed_object(properties: Object) -> Value {
    let names: Vec<Value> = properties.keys().map(Value::from).collect();
    Value::from([
        ("type", "object".into()),
        ("properties", properties.into()),
        ("required", names.into()),
        ("additionalProperties", false.into()),
    ])
}
