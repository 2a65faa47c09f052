//! Which models may be asked.

use std::collections::BTreeMap;
use std::time::Duration;

use reknit_dialogue::{Price, Prices, TargetName};
use reknit_models::{FormatSupport, Limits, Provider, Streaming, Target};

use super::duration::Time;
use super::error::Problem;
use super::keys::{KeySource, key};
use super::sections::{choose, name, positive_time, set};
use super::{Lookup, raw};

/// The models in order, and where their keys are: only who asks a model needs one.
pub(super) fn targets(
    models: &[raw::Model],
    environment: Lookup<'_>,
) -> Result<(Vec<Target>, BTreeMap<TargetName, KeySource>), Problem> {
    let mut targets: Vec<Target> = Vec::with_capacity(models.len());
    let mut keys = BTreeMap::new();
    for model in models {
        name("models.name", &model.name, targets.iter().any(|known| known.name.as_str() == model.name))?;
        let mut target = target(model)?;
        let (key, source) = key(model, target.provider, environment)?;
        target.key = key.map(Into::into);
        keys.insert(target.name.clone(), source);
        targets.push(target);
    }
    Ok((targets, keys))
}

fn target(model: &raw::Model) -> Result<Target, Problem> {
    let provider = match &model.provider {
        Some(word) => choose("models.provider", word, &Provider::ALL.map(|provider| (provider.as_str(), provider)))?,
        None => Provider::Compatible,
    };
    let mut target = Target::of(provider, model.name.as_str(), &model.model);
    match &model.url {
        Some(url) => {
            target.base_url.clone_from(url);
            // Somebody else may ask for another price.
            target.prices = None;
        }
        None if provider.base_url().is_none() => {
            let wanted = "it needs a `url`, like `http://127.0.0.1:8080/v1`, or a `provider` that has one";
            return Err(Problem::new("models.name", &model.name, wanted));
        }
        None => {}
    }
    target.max_context = model.max_context.map(|count| count.0).or(target.max_context);
    target.limits = limits(model)?;
    target.prices = prices(model)?.or(target.prices);
    if let Some(streaming) = model.streaming {
        target.streaming = if streaming { Streaming::On } else { Streaming::Off };
    }
    if let Some(word) = &model.format {
        let words = [("schema", FormatSupport::Schema), ("json", FormatSupport::Json), ("text", FormatSupport::Text)];
        target.format = choose("models.format", word, &words)?;
    }
    Ok(target)
}

/// What a million tokens cost, if that is said of both the question and the answer.
fn prices(model: &raw::Model) -> Result<Option<Prices>, Problem> {
    let read = |key: &str, number: Option<f64>| {
        let price = number.map(Price::try_from).transpose();
        price.map_err(|error| Problem::new(key, &number.unwrap_or_default().to_string(), error.to_string()))
    };
    let cached = read("models.price-cached", model.price_cached)?;
    let cache_written = read("models.price-cache-written", model.price_cache_written)?;
    match (read("models.price-input", model.price_input)?, read("models.price-output", model.price_output)?) {
        (Some(input), Some(output)) => Ok(Some(Prices { cached, cache_written, ..Prices::new(input, output) })),
        (None, None) if cached.or(cache_written).is_none() => Ok(None),
        _ => {
            let wanted = "a price needs both `price-input` and `price-output`, for a million tokens each";
            Err(Problem::new("models.name", &model.name, wanted))
        }
    }
}

fn limits(model: &raw::Model) -> Result<Limits, Problem> {
    let mut limits = Limits::default();
    let read = |key: &str, text: &Option<Time>| {
        text.as_ref().map(|text| positive_time(key, &text.0).map(Duration::from_millis)).transpose()
    };
    if let Some(total) = read("models.total-time", &model.total_time)? {
        limits.total = total;
        // Who allows a long answer allows that it begins late: without streaming it begins with its end.
        limits.first_byte = limits.first_byte.max(total);
        limits.first_token = limits.first_token.max(total);
    }
    set(&mut limits.connect, read("models.connect-time", &model.connect_time)?);
    set(&mut limits.first_byte, read("models.first-byte-time", &model.first_byte_time)?);
    set(&mut limits.first_token, read("models.first-token-time", &model.first_token_time)?);
    set(&mut limits.idle, read("models.idle-time", &model.idle_time)?);
    Ok(limits)
}
