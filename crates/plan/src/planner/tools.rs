//! Tools in words: a line for each parameter, since a model that is shown a schema tends to copy it into its plan.

use reknit_protocol::{Object, Value};

use crate::catalogue::{Catalogue, Entry, Tool};

/// How deep a type is told; beyond that it is an object or an array, and no more.
const DEPTH: u32 = 3;

/// The tools with everything a planner needs, in the order of the catalogue.
pub fn list_tools(catalogue: &Catalogue) -> String {
    catalogue.tools.iter().map(list_tool).collect::<Vec<_>>().join("\n")
}

/// The tools with a line for each capability, for choosing among many.
pub fn name_tools(catalogue: &Catalogue) -> String {
    let line = |tool: &Tool, entry: &Entry| {
        described(&format!("{}/{}", tool.name, entry.capability.name), &entry.capability.description)
    };
    let lines = catalogue.tools.iter().flat_map(|tool| tool.shown().map(move |entry| line(tool, entry)));
    lines.collect::<Vec<_>>().join("\n")
}

fn list_tool(tool: &Tool) -> String {
    let mut lines = vec![described(&format!("tool {}", tool.name), &tool.description)];
    lines.extend(tool.shown().map(list_capability));
    lines.join("\n")
}

fn list_capability(entry: &Entry) -> String {
    let capability = &entry.capability;
    let mut lines =
        vec![format!("  {}", described(&format!("capability {}", capability.name), &capability.description))];
    if let Some(schema) = entry.source() {
        let required = entry.required();
        lines.extend(fields(&schema).map(|(name, field)| {
            let need = if required.iter().any(|other| other == name) { "required" } else { "optional" };
            format!("    {}", parameter(name, need, field, &schema))
        }));
    }
    if let Some(schema) = capability.output_schema() {
        let results: Vec<String> =
            fields(&schema).map(|(name, field)| format!("{name} ({})", kind(field, &schema, DEPTH))).collect();
        if !results.is_empty() {
            lines.push(format!("    returns: {}", results.join(", ")));
        }
    }
    lines.join("\n")
}

fn described(name: &str, description: &str) -> String {
    if description.is_empty() { name.to_owned() } else { format!("{name}: {description}") }
}

fn parameter(name: &str, need: &str, field: &Value, root: &Value) -> String {
    let text = |key: &str| field.get(key).and_then(Value::as_str);
    let mut line =
        described(&format!("{name} ({}, {need})", kind(field, root, DEPTH)), text("description").unwrap_or(""));
    let example = field.get("examples").and_then(Value::as_array).and_then(|examples| examples.first());
    if let Some(example) = example {
        line = format!("{line} For example: {example}");
    }
    if let Some(default) = field.get("default") {
        line = format!("{line} If left out: {default}");
    }
    line
}

fn fields(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Object::iter)
}

/// The type of a field in words.
fn kind(field: &Value, root: &Value, depth: u32) -> String {
    let Some(depth) = depth.checked_sub(1) else { return "any".to_owned() };
    let field = follow(field, root);
    let list = |values: &[Value], join: &str| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(join);
    if let Some(values) = field.get("enum").and_then(Value::as_array) {
        return format!("one of {}", list(values, ", "));
    }
    if let Some(value) = field.get("const") {
        return format!("always {value}");
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(kinds) = field.get(key).and_then(Value::as_array) {
            return kinds.iter().map(|other| kind(other, root, depth)).collect::<Vec<_>>().join(" or ");
        }
    }
    match field.get("type") {
        Some(Value::String(name)) if name == "array" => match field.get("items") {
            Some(items) => format!("array of {}", kind(items, root, depth)),
            None => "array".to_owned(),
        },
        Some(Value::String(name)) if name == "object" => {
            let inner: Vec<String> =
                fields(field).map(|(name, field)| format!("{name}: {}", kind(field, root, depth))).collect();
            if inner.is_empty() || depth == 0 { name.clone() } else { format!("object with {}", inner.join(", ")) }
        }
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    }
}

/// What a reference inside the schema stands for; itself if it is none.
pub(super) fn follow<'a>(field: &'a Value, root: &'a Value) -> &'a Value {
    let target = field.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix("#/"));
    let found = target.and_then(|path| path.split('/').try_fold(root, |value, key| value.get(key)));
    found.unwrap_or(field)
}
