//! Tools described in lines of text. Models that are shown a JSON Schema tend to copy it into the plan.

use reknit_protocol::Value;

use crate::announced::properties;
use crate::catalogue::{Catalogue, CatalogueEntry, CatalogueTool};

/// How deep types are described; deeper ones are only an object or an array.
const MAX_DEPTH: u32 = 3;

/// Describes the tools with their capabilities, parameters and results, in the order of the catalogue.
pub fn describe_tools(catalogue: &Catalogue) -> String {
    catalogue.tools.iter().map(describe_tool).collect::<Vec<_>>().join("\n")
}

/// Lists the capabilities with one line each, for choosing among many.
pub fn summarize_tools(catalogue: &Catalogue) -> String {
    let line = |tool: &CatalogueTool, entry: &CatalogueEntry| {
        with_description(&format!("{}/{}", tool.name, entry.capability.name), &entry.capability.description)
    };
    let lines = catalogue.tools.iter().flat_map(|tool| tool.visible_capabilities().map(move |entry| line(tool, entry)));
    lines.collect::<Vec<_>>().join("\n")
}

fn describe_tool(tool: &CatalogueTool) -> String {
    let mut lines = vec![with_description(&format!("tool {}", tool.name), &tool.description)];
    lines.extend(tool.visible_capabilities().map(describe_capability));
    lines.join("\n")
}

fn describe_capability(entry: &CatalogueEntry) -> String {
    let capability = &entry.capability;
    let mut lines =
        vec![format!("  {}", with_description(&format!("capability {}", capability.name), &capability.description))];
    if let Some(schema) = entry.json_schema() {
        let required = entry.required_parameters();
        lines.extend(properties(&schema).map(|(name, field)| {
            let need = if required.iter().any(|other| other == name) { "required" } else { "optional" };
            format!("    {}", parameter(name, need, field, &schema))
        }));
    }
    if let Some(schema) = capability.output_schema() {
        let results: Vec<String> = properties(&schema)
            .map(|(name, field)| format!("{name} ({})", describe_type(field, &schema, MAX_DEPTH)))
            .collect();
        if !results.is_empty() {
            lines.push(format!("    returns: {}", results.join(", ")));
        }
    }
    lines.join("\n")
}

fn with_description(name: &str, description: &str) -> String {
    if description.is_empty() { name.to_owned() } else { format!("{name}: {description}") }
}

fn parameter(name: &str, need: &str, field: &Value, root: &Value) -> String {
    let text = |key: &str| field.get(key).and_then(Value::as_str);
    let mut line = with_description(
        &format!("{name} ({}, {need})", describe_type(field, root, MAX_DEPTH)),
        text("description").unwrap_or(""),
    );
    let example = field.get("examples").and_then(Value::as_array).and_then(|examples| examples.first());
    if let Some(example) = example {
        line = format!("{line} For example: {example}");
    }
    if let Some(default) = field.get("default") {
        line = format!("{line} If left out: {default}");
    }
    line
}

fn describe_type(field: &Value, root: &Value, depth: u32) -> String {
    let Some(depth) = depth.checked_sub(1) else { return "any".to_owned() };
    let field = follow_reference(field, root);
    let list = |values: &[Value], join: &str| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(join);
    if let Some(values) = field.get("enum").and_then(Value::as_array) {
        return format!("one of {}", list(values, ", "));
    }
    if let Some(value) = field.get("const") {
        return format!("always {value}");
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(kinds) = field.get(key).and_then(Value::as_array) {
            return kinds.iter().map(|other| describe_type(other, root, depth)).collect::<Vec<_>>().join(" or ");
        }
    }
    match field.get("type") {
        Some(Value::String(name)) if name == "array" => match field.get("items") {
            Some(items) => format!("array of {}", describe_type(items, root, depth)),
            None => "array".to_owned(),
        },
        Some(Value::String(name)) if name == "object" => {
            let inner: Vec<String> = properties(field)
                .map(|(name, field)| format!("{name}: {}", describe_type(field, root, depth)))
                .collect();
            if inner.is_empty() || depth == 0 { name.clone() } else { format!("object with {}", inner.join(", ")) }
        }
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    }
}

/// The schema that a local `$ref` points to; the field itself if it has none.
pub(super) fn follow_reference<'a>(field: &'a Value, root: &'a Value) -> &'a Value {
    let target = field.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix("#/"));
    let found = target.and_then(|path| path.split('/').try_fold(root, |value, key| value.get(key)));
    found.unwrap_or(field)
}
