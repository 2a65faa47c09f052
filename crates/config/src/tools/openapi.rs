//! The services of `[[openapi]]`, which API descriptions describe.

use std::collections::HashMap;

use reknit_openapi::OperationFilter;
use reknit_protocol::{HttpMethod, Object, ToolName};
use reknit_tools::{Address, DocumentLocation, OpenApiOptions};
use secrecy::SecretString;

use super::EnvironmentLookup;
use super::http::{add_credential, certificate_key, http_options};
use crate::api_keys::{KeySource, find_secret};
use crate::entry::Entry;
use crate::error::ConfigError;

/// Reads an entry of `[[openapi]]`.
pub(super) fn options(
    entry: &Entry,
    name: &ToolName,
    keys: &mut Vec<KeySource>,
    environment: EnvironmentLookup<'_>,
) -> Result<OpenApiOptions, ConfigError> {
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
    keys.extend(certificate_key(entry));
    options.user = entry.text("user").map(str::to_owned);
    let (key, source) = find_secret(entry, environment)?;
    keys.push(source);
    let key: Option<SecretString> = key.map(Into::into);
    if entry.has("auth") {
        // Whoever says how a key is sent means every request.
        add_credential(entry, key, &mut options.http)?;
    } else {
        options.key = key;
    }
    (options.scheme_keys, *keys) = scheme_keys(entry, std::mem::take(keys), environment);
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
fn scheme_keys(
    entry: &Entry,
    mut sources: Vec<KeySource>,
    environment: EnvironmentLookup<'_>,
) -> (HashMap<String, SecretString>, Vec<KeySource>) {
    let mut keys = HashMap::new();
    for (scheme, variable) in &entry.get::<Object>("schemes").unwrap_or_default() {
        let variable = variable.as_str().unwrap_or_default();
        match environment(variable).filter(|key| !key.is_empty()) {
            Some(key) => {
                keys.insert(scheme.to_owned(), key.into());
                sources.push(KeySource::Variable(variable.to_owned()));
            }
            None => sources.push(KeySource::UnsetVariable(variable.to_owned())),
        }
    }
    (keys, sources)
}
