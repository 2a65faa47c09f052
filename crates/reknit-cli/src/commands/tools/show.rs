//! `reknit tools show`: what a capability does, needs and returns.

use std::fmt::Write as _;
use std::process::ExitCode;

use reknit_engine::ShownRole;
use reknit_plan::CatalogueEntry;
use reknit_protocol::{KeyRule, Object, SideEffect, Value, human_duration};
use reknit_runtime::config::ConfiguredTool;

use super::{find, known_tools};
use crate::output::{Failure, escape_controls, one_line, print_data};
use crate::setup::SetupArguments;

pub(super) async fn run(name: &str, arguments: &SetupArguments, json: bool) -> Result<ExitCode, Failure> {
    let (config, catalogue) = known_tools(arguments).await?;
    let (tool, entry) = find(&catalogue, name)?;
    let capability = &entry.capability;
    let class = config.policy.effects.class(tool.name.as_str(), capability.name.as_str(), capability.effect);
    let configured = config.policy.effects.key(tool.name.as_str(), capability.name.as_str());
    let key = configured.or(capability.business_key.as_ref());
    let schema = entry.json_schema();
    let (tool_name, name) = (tool.name.as_str(), capability.name.as_str());
    let effects = &config.policy.effects;
    let roles = schema.as_ref().map(|schema| effects.shown_roles(tool_name, name, class, schema)).unwrap_or_default();
    let trusted = effects.trusted_fields(tool_name, name);
    if json {
        let mut shown = Object::from([
            ("capability", Value::from(tool.key(entry))),
            ("class", class.to_string().into()),
            ("description", capability.description.as_str().into()),
            ("parameters", schema.unwrap_or(Value::Null)),
            ("roles", Value::Object(roles.iter().map(role_as_json).collect())),
            ("result", capability.output_schema().unwrap_or(Value::Null)),
            ("trusted", trusted.is_some().into()),
        ]);
        let fields = trusted.filter(|fields| !fields.is_empty());
        shown.extend(fields.map(|fields| ("trusted_fields".to_owned(), fields.into_iter().map(Value::from).collect())));
        shown.extend(key.map(|rule| ("business_key".to_owned(), rule.to_value())));
        if let Some(reason) = &entry.withheld {
            shown.insert("withheld", reason.as_str());
        }
        return print_data(&format!("{shown}\n")).map(|()| ExitCode::SUCCESS);
    }
    let mut page = format!("{}  ({class})\n", one_line(&tool.key(entry), usize::MAX));
    if let Some(reason) = &entry.withheld {
        let _ = writeln!(page, "\nIt is withheld: {}", one_line(reason, usize::MAX));
    }
    let configured = config.tools.iter().find(|known| {
        let is_capability = known.capability.as_ref().is_none_or(|name| *name == capability.name);
        known.name == tool.name && is_capability
    });
    if let Some(sandbox) = configured.and_then(ConfiguredTool::sandbox) {
        let _ = writeln!(page, "\nIts program is {}.", one_line(&sandbox.describe(), usize::MAX));
    }
    if !capability.description.trim().is_empty() {
        let _ = writeln!(page, "\n{}", escape_controls(capability.description.trim()));
    }
    let _ = match schema {
        None => writeln!(page, "\nIt says nothing about its parameters.\n"),
        Some(schema) => writeln!(page, "\nParameters:\n{}", fields(&schema)),
    };
    if class != SideEffect::Read {
        page.push_str(&role_lines(&roles));
    }
    if let Some(result) = capability.output_schema() {
        let _ = writeln!(page, "Result:\n{}", fields(&result));
    }
    let _ = writeln!(page, "{}\n", one_line(&trust_line(trusted.as_deref()), usize::MAX));
    page.extend(key.map(key_lines));
    let _ = writeln!(page, "Call it:\n  reknit tools call {}{}", tool.key(entry), example(entry));
    print_data(&page).map(|()| ExitCode::SUCCESS)
}

fn key_lines(rule: &KeyRule) -> String {
    let window = human_duration(rule.window_s.saturating_mul(1_000));
    let fields = one_line(&rule.fields.join(", "), usize::MAX);
    format!("Business key:\n  {fields}, within {window}\n\n")
}

/// The roles of the parameters, one line each.
fn role_lines(roles: &[ShownRole]) -> String {
    if roles.is_empty() {
        return String::new();
    }
    let line =
        |shown: &ShownRole| one_line(&format!("{}: {}  {}", shown.parameter, shown.role, shown.source), usize::MAX);
    let lines = roles.iter().map(|shown| format!("  {}\n", line(shown)));
    format!("Roles, by which changed and found values need a person:\n{}\n", lines.collect::<String>())
}

/// Whether the results of the capability are evidence.
fn trust_line(trusted: Option<&[&str]>) -> String {
    match trusted {
        None => {
            "Its results are data: a person decides about a target or quantity that a model takes from them.".to_owned()
        }
        Some([]) => "Its results are trusted, as the configuration says.".to_owned(),
        Some(fields) => format!("Trusted in its results, as the configuration says: {}.", fields.join(", ")),
    }
}

fn role_as_json(shown: &ShownRole) -> (String, Value) {
    let parts = [("role", shown.role.as_str()), ("source", &shown.source)].map(|(key, text)| (key, Value::from(text)));
    (shown.parameter.clone(), Value::Object(Object::from(parts)))
}

/// One line for each field of an object.
fn fields(schema: &Value) -> String {
    let empty = Object::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    if properties.is_empty() {
        return "  none\n".to_owned();
    }
    let required = schema.get("required").and_then(Value::as_array).unwrap_or_default();
    properties.iter().fold(String::new(), |mut lines, (name, field)| {
        let need = if required.iter().any(|word| word.as_str() == Some(name)) { ", required" } else { "" };
        let description = field.get("description").and_then(Value::as_str).unwrap_or_default();
        let line = format!("{name}: {}{need}  {}", type_of(schema, field), description.trim());
        let _ = writeln!(lines, "  {}", one_line(line.trim_end(), usize::MAX));
        lines
    })
}

/// The type of a field in one word or a few.
fn type_of(schema: &Value, field: &Value) -> String {
    let definition = field.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix("#/$defs/"));
    let resolved = definition.and_then(|name| schema.get("$defs")?.get(name));
    let field = resolved.unwrap_or(field);
    if let Some(allowed) = field.get("enum").and_then(Value::as_array) {
        return allowed.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | ");
    }
    match field.get("type") {
        Some(Value::String(word)) => word.clone(),
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "),
        _ => "any".to_owned(),
    }
}

/// The required parameters, to be filled in.
fn example(entry: &CatalogueEntry) -> String {
    entry.required_parameters().iter().flat_map(|name| [" ", name, "=..."].map(str::to_owned)).collect()
}
