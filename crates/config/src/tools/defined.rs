//! The tools of `[[http]]` and `[[command]]`, each of which is one capability that the configuration defines in full.

use std::fs;
use std::path::Path;

use reknit_protocol::{Object, SideEffect, ToolName, Value};
use reknit_tools::{DefinedCapability, InvalidDefinition};

use super::{DEFAULT_CAPABILITY, capability_name};
use crate::entry::Entry;
use crate::error::ConfigError;
use crate::regular_file::check_regular_file;

/// The size limit of a file with a schema in bytes.
const MAX_SCHEMA_BYTES: u64 = 1 << 20;

pub(super) fn defined(
    entry: &Entry,
    tool: &ToolName,
    usual_effect: SideEffect,
) -> Result<DefinedCapability, ConfigError> {
    Ok(DefinedCapability {
        tool: tool.clone(),
        name: capability_name(entry).unwrap_or_else(|| DEFAULT_CAPABILITY.into()),
        description: entry.text("description").unwrap_or_default().to_owned(),
        effect: entry.text("effect").and_then(SideEffect::from_word).unwrap_or(usual_effect),
        schema: schema(entry)?,
    })
}

/// The error of a definition, at the key that has it.
pub(super) fn invalid(entry: &Entry, error: &InvalidDefinition) -> ConfigError {
    let in_file = matches!(error.key, "parameters" | "required") && entry.has("schema");
    entry.invalid(if in_file { "schema" } else { error.key }, &error.problem)
}

/// The JSON Schema of the parameters: from `schema`, or made of `parameters` and `required`.
fn schema(entry: &Entry) -> Result<Value, ConfigError> {
    let parameters = entry.get::<Object>("parameters").unwrap_or_default();
    if let Some(path) = entry.text("schema") {
        if let Some(key) = ["parameters", "required"].into_iter().find(|key| entry.has(key)) {
            return Err(entry.invalid(key, "`schema` is set as well; write only one of the two"));
        }
        return read_schema(Path::new(path)).map_err(|problem| entry.invalid("schema", &problem));
    }
    let required: Value = if entry.has("required") {
        entry.texts("required").into_iter().map(Value::from).collect()
    } else {
        parameters.keys().map(Value::from).collect()
    };
    let property = |(name, schema): (&str, &Value)| {
        let schema = match schema {
            Value::String(word) => Value::Object(Object::from([("type", word.as_str().into())])),
            table => table.clone(),
        };
        (name.to_owned(), schema)
    };
    let properties: Object = parameters.iter().map(property).collect();
    Ok(Value::Object(Object::from([
        ("type", "object".into()),
        ("properties", Value::Object(properties)),
        ("required", required),
        ("additionalProperties", false.into()),
    ])))
}

fn read_schema(path: &Path) -> Result<Value, String> {
    let text = check_regular_file(path).and_then(|()| {
        let is_large = fs::metadata(path)?.len() > MAX_SCHEMA_BYTES;
        if is_large { Err(std::io::Error::other("it is larger than 1 MiB")) } else { fs::read_to_string(path) }
    });
    let text = text.map_err(|error| format!("it cannot be read: {error}"))?;
    let schema = Value::parse(&text).map_err(|error| format!("the file is not JSON: {error}"))?;
    match schema.get("properties") {
        Some(Value::Object(_)) => Ok(schema),
        _ => Err("the schema must have `properties`, which are the parameters".to_owned()),
    }
}
