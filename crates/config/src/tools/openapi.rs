//! The services of `[[openapi]]`, which API descriptions describe.

use std::collections::HashMap;

use reknit_openapi::OperationFilter;
use reknit_protocol::{HttpMethod, Object};
use reknit_tools::{Address, DocumentLocation, OpenApiOptions};
use secrecy::SecretString;

use super::ToolEntry;
use super::http::{add_credential, certificate_key, http_options};
use crate::api_keys::{KeySource, find_secret};
use crate::entry::Entry;
use crate::error::ConfigError;

pub(super) fn options(tool: &mut ToolEntry<'_>) -> Result<OpenApiOptions, ConfigError> {
    let ToolEntry { entry, name, environment, .. } = *tool;
    let document = DocumentLocation::parse(entry.text("document").unwrap_or_default())
        .map_err(|problem| entry.invalid("document", &format!("{problem}; write a file or an http address")))?;
    let mut options = OpenApiOptions::new(name.clone(), document);
    if let Some(url) = entry.text("url") {
        let address = Address::parse(name.clone(), url);
        let expected = "write an http or https address, like `https://api.example.com/v1`";
        options.url = Some(address.map_err(|_| entry.invalid("url", expected))?.into_base());
    }
    options.server_variables = entry.get("server-variables").unwrap_or_default();
    options.allowed_hosts = entry.texts("allow-hosts");
    options.filter = OperationFilter {
        tags: entry.texts("tags"),
        paths: entry.texts("paths"),
        methods: methods(entry)?,
        operation_ids: entry.texts("operations"),
    };
    options.trusted = entry.get("trusted").unwrap_or(false);
    options.http = http_options(entry)?;
    tool.keys.extend(certificate_key(entry));
    options.user = entry.text("user").map(str::to_owned);
    let (key, source) = find_secret(entry, environment)?;
    tool.keys.push(source);
    let key: Option<SecretString> = key.map(Into::into);
    if entry.has("auth") {
        // Whoever says how a key is sent means every request.
        add_credential(entry, key, &mut options.http)?;
    } else {
        options.key = key;
    }
    options.scheme_keys = scheme_keys(tool);
    Ok(options)
}

fn methods(entry: &Entry) -> Result<Vec<HttpMethod>, ConfigError> {
    let words: Vec<&str> = HttpMethod::ALL.iter().map(|method| method.as_str()).collect();
    let method = |word: String| {
        let expected = || format!("write methods of HTTP: {}", words.join(", "));
        HttpMethod::from_word(&word.to_ascii_lowercase()).ok_or_else(|| entry.invalid("methods", &expected()))
    };
    entry.texts("methods").into_iter().map(method).collect()
}

/// The secrets of `schemes`, which names an environment variable for each security scheme.
fn scheme_keys(tool: &mut ToolEntry<'_>) -> HashMap<String, SecretString> {
    let mut keys = HashMap::new();
    for (scheme, variable) in &tool.entry.get::<Object>("schemes").unwrap_or_default() {
        let variable = variable.as_str().unwrap_or_default();
        match (tool.environment)(variable).filter(|key| !key.is_empty()) {
            Some(key) => {
                keys.insert(scheme.to_owned(), key.into());
                tool.keys.push(KeySource::Variable(variable.to_owned()));
            }
            None => tool.keys.push(KeySource::UnsetVariable(variable.to_owned())),
        }
    }
    keys
}
