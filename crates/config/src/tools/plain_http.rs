//! The capabilities of `[[http]]`: one request each.

use reknit_mend::ErrorsInSuccess;
use reknit_protocol::{HttpMethod, Object};
use reknit_tools::{Address, PlainHttpCapability, PlainHttpOptions};

use super::defined::{defined, invalid};
use super::http::http_options_with_key;
use super::{ConfiguredSource, ToolEntry};
use crate::entry::Entry;
use crate::error::ConfigError;

pub(super) fn capability(tool: &mut ToolEntry<'_>) -> Result<ConfiguredSource, ConfigError> {
    let ToolEntry { entry, name, .. } = *tool;
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
        http: http_options_with_key(tool)?,
    };
    if entry.has("body-format") && !entry.has("body") {
        return Err(entry.invalid("body-format", "it has no effect without `body`; remove it, or write a body"));
    }
    let capability = PlainHttpCapability::new(options).map_err(|error| invalid(entry, &error))?;
    Ok(ConfiguredSource::PlainHttp(Box::new(capability)))
}

/// The texts of a table, by name.
fn texts(entry: &Entry, key: &str) -> Vec<(String, String)> {
    let table = entry.get::<Object>(key).unwrap_or_default();
    table.iter().filter_map(|(name, text)| Some((name.to_owned(), text.as_str()?.to_owned()))).collect()
}
