//! The models of `[[models]]`.

use std::collections::BTreeMap;
use std::time::Duration;

use reknit_model_api::{AttachmentKind, Price, Prices, TopP};
use reknit_models::{Caching, Provider, RequestDefaults, RequestExtras, Streaming, Target, Timeouts};
use reknit_protocol::{Object, Value};

use super::api_keys::find_key;
use super::entry::Entry;
use super::error::ConfigError;
use super::{Config, EnvironmentLookup};

/// Adds the models of a file to the configuration. A missing API key is an error only when the model is called.
pub(super) fn read_models(
    config: &mut Config,
    models: &[Entry],
    environment: EnvironmentLookup<'_>,
) -> Result<(), ConfigError> {
    for (index, model) in models.iter().enumerate() {
        let name = model.name(|name| config.models.iter().any(|known| known.name.as_str() == name))?;
        let mut target = target(name, model)?;
        config.last_limits.insert(target.name.clone(), limits(model, target.timeouts));
        if index + 1 < models.len() {
            target = target.with_fallback_timeouts();
        }
        target.timeouts = limits(model, target.timeouts);
        let (key, source) = find_key(model, target.provider, environment)?;
        target.key = key.map(Into::into);
        config.keys.insert(target.name.clone(), source);
        config.models.push(target);
    }
    Ok(())
}

fn target(name: &str, model: &Entry) -> Result<Target, ConfigError> {
    let named = model.text("provider");
    let provider = named.and_then(Provider::from_word);
    let provider = provider.unwrap_or(Provider::Compatible);
    let mut target = Target::for_provider(provider, name, model.text("model").unwrap_or_default());
    match model.text("url") {
        Some(url) => {
            url.clone_into(&mut target.base_url);
            // The published price holds only at the provider's own URL.
            target.prices = None;
        }
        None if provider.base_url().is_none() => {
            let expected = "it needs a `url`, like `http://127.0.0.1:8080/v1`, or a `provider` that has one";
            return Err(model.invalid("name", expected));
        }
        None => {}
    }
    target.max_context = model.get("max-context").or(target.max_context);
    target.prices = prices(model)?.or(target.prices);
    if let Some(streaming) = model.get("streaming") {
        target.streaming = if streaming { Streaming::On } else { Streaming::Off };
    }
    target.format = model.get("format").unwrap_or(target.format);
    target.inputs = inputs(model)?;
    if model.get("prompt-caching") == Some(false) {
        target.caching = Caching::Off;
    }
    let top_p = model.get::<f64>("top-p").map(TopP::try_from).transpose();
    target.defaults = RequestDefaults {
        top_p: top_p.map_err(|error| model.invalid("top-p", &error.to_string()))?,
        parallel_tool_calls: model.get("parallel-tool-calls"),
        thinking_tokens: model.get("thinking-tokens"),
    };
    target.extras = RequestExtras {
        body: model.get("body").unwrap_or_default(),
        without: model.texts("body-without"),
        headers: text_table(model, "headers"),
        query: text_table(model, "query"),
    };
    Ok(target)
}

/// The attachments that the model takes, if they are written.
fn inputs(model: &Entry) -> Result<Option<Vec<AttachmentKind>>, ConfigError> {
    if !model.has("inputs") {
        return Ok(None);
    }
    let words: Vec<String> = AttachmentKind::ALL.iter().map(|kind| format!("`{kind}`")).collect();
    let expected = format!("write a list of {}", words.join(", "));
    let kind = |word: &String| AttachmentKind::from_word(word).ok_or_else(|| model.invalid("inputs", &expected));
    model.texts("inputs").iter().map(kind).collect::<Result<_, _>>().map(Some)
}

/// The texts of a table; none if it is not written.
fn text_table(model: &Entry, key: &str) -> BTreeMap<String, String> {
    let table = model.get::<Object>(key).unwrap_or_default();
    let text = |(name, value): (&str, &Value)| Some((name.to_owned(), value.as_str()?.to_owned()));
    table.iter().filter_map(text).collect()
}

fn prices(model: &Entry) -> Result<Option<Prices>, ConfigError> {
    let read = |key: &str| {
        let price = model.get::<f64>(key).map(Price::try_from).transpose();
        price.map_err(|error| model.invalid(key, &error.to_string()))
    };
    let (cached, cache_written) = (read("price-cached")?, read("price-cache-written")?);
    match (read("price-input")?, read("price-output")?) {
        (Some(input), Some(output)) => Ok(Some(Prices { cached, cache_written, ..Prices::new(input, output) })),
        (None, None) if cached.or(cache_written).is_none() => Ok(None),
        _ => Err(model.invalid("name", "a price needs both `price-input` and `price-output`, per million tokens")),
    }
}

/// The time limits that are written, and the given ones for the others.
fn limits(model: &Entry, mut limits: Timeouts) -> Timeouts {
    let read = |key: &str| model.get::<Duration>(key);
    if let Some(total) = read("total-time") {
        limits.total = total;
        // A longer answer may begin later: without streaming its first byte comes with its last.
        limits.first_byte = limits.first_byte.max(total);
        limits.first_token = limits.first_token.max(total);
    }
    limits.connect = read("connect-time").unwrap_or(limits.connect);
    if let Some(first_token) = read("first-token-time") {
        limits.first_token = first_token;
        // Many servers send the response head with the first token.
        limits.first_byte = limits.first_byte.max(first_token);
    }
    limits.first_byte = read("first-byte-time").unwrap_or(limits.first_byte);
    limits.idle = read("idle-time").unwrap_or(limits.idle);
    limits
}
