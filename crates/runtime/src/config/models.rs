//! Which models may be asked.

use std::time::Duration;

use reknit_models::{FormatSupport, Limits, Streaming, Target};

use super::duration::Time;
use super::error::Problem;
use super::sections::{choose, name, positive_time, set};
use super::{Lookup, UnsetKey, raw};

/// The models in order, and the keys among them that the environment does not have: only who asks a model needs one.
pub(super) fn targets(models: &[raw::Model], environment: Lookup<'_>) -> Result<(Vec<Target>, Vec<UnsetKey>), Problem> {
    let mut targets: Vec<Target> = Vec::with_capacity(models.len());
    let mut unset = Vec::new();
    for model in models {
        name("models.name", &model.name, targets.iter().any(|known| known.name.as_str() == model.name))?;
        let mut target = target(model)?;
        if let Some(variable) = &model.key_env {
            match environment(variable).filter(|key| !key.is_empty()) {
                Some(key) => target.key = Some(key.into()),
                None => unset.push(UnsetKey { model: model.name.clone(), variable: variable.clone() }),
            }
        }
        targets.push(target);
    }
    Ok((targets, unset))
}

fn target(model: &raw::Model) -> Result<Target, Problem> {
    let mut target = Target::new(model.name.as_str(), &model.url, &model.model);
    target.max_context = model.max_context.map(|count| count.0);
    target.limits = limits(model)?;
    if let Some(streaming) = model.streaming {
        target.streaming = if streaming { Streaming::On } else { Streaming::Off };
    }
    if let Some(word) = &model.format {
        let words = [("schema", FormatSupport::Schema), ("json", FormatSupport::Json), ("text", FormatSupport::Text)];
        target.format = choose("models.format", word, &words)?;
    }
    Ok(target)
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
