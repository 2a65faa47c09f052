//! The tools of `[[http]]` and `[[command]]`, each of which is one capability that the configuration defines in full.

use std::fs;
use std::path::{Path, PathBuf};

use reknit_mend::ErrorsInSuccess;
use reknit_openapi::HttpMethod;
use reknit_protocol::{AgentName, CapabilityName, Object, SideEffect, Value};
use reknit_tools::{
    Address, CommandInput, CommandOptions, CommandTool, DefinedCapability, InvalidDefinition, PlainHttpCapability,
    PlainHttpOptions, SandboxMode,
};

use super::{ConfiguredSource, http_options_with_key, sandbox};
use crate::config::EnvironmentLookup;
use crate::config::api_keys::KeySource;
use crate::config::entry::Entry;
use crate::config::error::ConfigError;
use crate::config::regular_file::check_regular_file;

/// The capability of a command that does not name one.
const DEFAULT_CAPABILITY: &str = "run";

/// The variables that every command gets.
const USUAL_VARIABLES: [&str; 3] = ["PATH", "HOME", "LANG"];

/// The size limit of a file with a schema in bytes.
const MAX_SCHEMA_BYTES: u64 = 1 << 20;

/// The name of the capability, if the entry is one capability.
pub(super) fn capability_name(entry: &Entry) -> Option<CapabilityName> {
    match entry.list() {
        "http" | "command" => Some(entry.text("capability").unwrap_or(DEFAULT_CAPABILITY).into()),
        _ => None,
    }
}

/// Reads an entry of `[[http]]`.
pub(super) fn plain_http(
    entry: &Entry,
    name: &AgentName,
    keys: &mut Vec<KeySource>,
    environment: EnvironmentLookup<'_>,
) -> Result<ConfiguredSource, ConfigError> {
    let method = entry.text("method").unwrap_or("GET");
    let method = HttpMethod::from_word(&method.to_ascii_lowercase()).ok_or_else(|| {
        let words: Vec<String> = HttpMethod::ALL.iter().map(|method| method.as_str().to_ascii_uppercase()).collect();
        entry.invalid("method", &format!("write a method of HTTP: {}", words.join(", ")))
    })?;
    let address = Address::parse(name.clone(), entry.text("url").unwrap_or_default())
        .map_err(|_| entry.invalid("url", "write an http or https address, like `https://api.example.com/v1`"))?;
    let errors_in_success: Option<ErrorsInSuccess> = entry.get("errors-in-success");
    let options = PlainHttpOptions {
        capability: defined(entry, name, method.side_effect())?,
        address,
        method,
        path: entry.text("path").unwrap_or_default().to_owned(),
        query: texts(entry, "query"),
        headers: texts(entry, "request-headers"),
        body: entry.value("body").cloned(),
        body_format: entry.get("body-format").unwrap_or_default(),
        result: entry.text("result").map(str::to_owned),
        looks_for_errors: errors_in_success != Some(ErrorsInSuccess::Ignore),
        http: http_options_with_key(entry, keys, environment)?,
    };
    if entry.has("body-format") && !entry.has("body") {
        return Err(entry.invalid("body-format", "it has no effect without `body`; remove it, or write a body"));
    }
    let capability = PlainHttpCapability::new(options).map_err(|error| invalid(entry, &error))?;
    Ok(ConfiguredSource::PlainHttp(Box::new(capability)))
}

/// Reads an entry of `[[command]]`.
pub(super) fn command(
    entry: &Entry,
    name: &AgentName,
    keys: &mut Vec<KeySource>,
    environment: EnvironmentLookup<'_>,
) -> Result<ConfiguredSource, ConfigError> {
    let mut options = CommandOptions::new(defined(entry, name, SideEffect::Undeclared)?, entry.texts("command"));
    options.stdin = match entry.text("stdin") {
        None => CommandInput::Empty,
        Some("json") => CommandInput::Json,
        Some(text) => CommandInput::Text(text.to_owned()),
    };
    options.time_limit = entry.get("time");
    options.max_output = entry.get("max-bytes").unwrap_or(options.max_output);
    options.folder = entry.text("folder").map(PathBuf::from);
    options.output = entry.get("output");
    options.sandbox = sandbox(entry, SandboxMode::Off)?;
    let usual = USUAL_VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), environment(name)?.into())));
    options.environment = usual.collect();
    for variable in entry.texts("environment") {
        if variable.is_empty() || variable.contains(['=', '\0']) {
            return Err(entry.hidden("environment", "write the names of variables, without values"));
        }
        match environment(&variable) {
            Some(value) => {
                options.environment.push((variable.clone(), value.into()));
                keys.push(KeySource::Variable(variable));
            }
            None => keys.push(KeySource::UnsetVariable(variable)),
        }
    }
    let tool = CommandTool::new(options).map_err(|error| invalid(entry, &error))?;
    Ok(ConfiguredSource::Command(Box::new(tool)))
}

fn defined(entry: &Entry, tool: &AgentName, usual_effect: SideEffect) -> Result<DefinedCapability, ConfigError> {
    Ok(DefinedCapability {
        tool: tool.clone(),
        name: capability_name(entry).unwrap_or_else(|| DEFAULT_CAPABILITY.into()),
        description: entry.text("description").unwrap_or_default().to_owned(),
        effect: entry.text("effect").and_then(SideEffect::from_word).unwrap_or(usual_effect),
        schema: schema(entry)?,
    })
}

/// The error of a definition, at the key that has it.
fn invalid(entry: &Entry, error: &InvalidDefinition) -> ConfigError {
    let in_file = matches!(error.key, "parameters" | "required") && entry.has("schema");
    entry.invalid(if in_file { "schema" } else { error.key }, &error.problem)
}

/// The texts of a table, by name.
fn texts(entry: &Entry, key: &str) -> Vec<(String, String)> {
    let table = entry.get::<Object>(key).unwrap_or_default();
    table.iter().filter_map(|(name, text)| Some((name.to_owned(), text.as_str()?.to_owned()))).collect()
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
