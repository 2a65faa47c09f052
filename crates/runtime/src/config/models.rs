//! Which models may be asked.

use std::collections::BTreeMap;
use std::time::Duration;

use reknit_dialogue::{Price, Prices, TargetName};
use reknit_models::{FormatSupport, Limits, Provider, Streaming, Target};

use super::Lookup;
use super::entry::Entry;
use super::error::ConfigError;
use super::keys::{KeySource, key};
use super::place::Words;

/// The models that are written.
#[derive(Debug)]
pub(super) struct Written {
    /// In order.
    pub(super) targets: Vec<Target>,
    /// Where their keys are: only who asks a model needs one.
    pub(super) keys: BTreeMap<TargetName, KeySource>,
    /// How long each is waited for by who asks it last.
    pub(super) patience: BTreeMap<TargetName, Limits>,
}

pub(super) fn targets(models: &[Entry], environment: Lookup<'_>) -> Result<Written, ConfigError> {
    let mut targets: Vec<Target> = Vec::with_capacity(models.len());
    let (mut keys, mut patience) = (BTreeMap::new(), BTreeMap::new());
    for (index, model) in models.iter().enumerate() {
        let name = model.name(|name| targets.iter().any(|known| known.name.as_str() == name))?;
        let mut target = target(name, model)?;
        patience.insert(target.name.clone(), limits(model, target.limits));
        if index + 1 < models.len() {
            target = target.before_another();
        }
        target.limits = limits(model, target.limits);
        let (key, source) = key(model, target.provider, environment)?;
        target.key = key.map(Into::into);
        keys.insert(target.name.clone(), source);
        targets.push(target);
    }
    Ok(Written { targets, keys, patience })
}

/// The model with the usual limits.
fn target(name: &str, model: &Entry) -> Result<Target, ConfigError> {
    let named = model.text("provider");
    let provider = Provider::ALL.into_iter().find(|provider| named == Some(provider.as_str()));
    let provider = provider.unwrap_or(Provider::Compatible);
    let mut target = Target::of(provider, name, model.text("model").unwrap_or_default());
    match model.text("url") {
        Some(url) => {
            url.clone_into(&mut target.base_url);
            // Somebody else may ask for another price.
            target.prices = None;
        }
        None if provider.base_url().is_none() => {
            let wanted = "it needs a `url`, like `http://127.0.0.1:8080/v1`, or a `provider` that has one";
            return Err(model.problem("name", wanted));
        }
        None => {}
    }
    target.max_context = model.count("max-context").or(target.max_context);
    target.prices = prices(model)?.or(target.prices);
    if let Some(streaming) = model.flag("streaming") {
        target.streaming = if streaming { Streaming::On } else { Streaming::Off };
    }
    if let Some((_, format)) = FormatSupport::WORDS.iter().find(|(word, _)| model.text("format") == Some(word)) {
        target.format = *format;
    }
    Ok(target)
}

/// What a million tokens cost, if that is said of both the question and the answer.
fn prices(model: &Entry) -> Result<Option<Prices>, ConfigError> {
    let read = |key: &str| {
        model.number(key).map(Price::try_from).transpose().map_err(|error| model.problem(key, error.to_string()))
    };
    let (cached, cache_written) = (read("price-cached")?, read("price-cache-written")?);
    match (read("price-input")?, read("price-output")?) {
        (Some(input), Some(output)) => Ok(Some(Prices { cached, cache_written, ..Prices::new(input, output) })),
        (None, None) if cached.or(cache_written).is_none() => Ok(None),
        _ => {
            let wanted = "a price needs both `price-input` and `price-output`, for a million tokens each";
            Err(model.problem("name", wanted))
        }
    }
}

/// The usual limits, with those in their place that are written.
fn limits(model: &Entry, mut limits: Limits) -> Limits {
    let read = |key: &str| model.millis(key).map(Duration::from_millis);
    if let Some(total) = read("total-time") {
        limits.total = total;
        // Who allows a long answer allows that it begins late: without streaming it begins with its end.
        limits.first_byte = limits.first_byte.max(total);
        limits.first_token = limits.first_token.max(total);
    }
    limits.connect = read("connect-time").unwrap_or(limits.connect);
    if let Some(first_token) = read("first-token-time") {
        limits.first_token = first_token;
        // Many servers send the head with the first token.
        limits.first_byte = limits.first_byte.max(first_token);
    }
    limits.first_byte = read("first-byte-time").unwrap_or(limits.first_byte);
    limits.idle = read("idle-time").unwrap_or(limits.idle);
    limits
}
