//! Tools and models as they count.

use std::time::Duration;

use reknit_dialogue::Price;
use reknit_models::{Streaming, Target};
use reknit_protocol::{Number, Object, Value, shown_url};
use reknit_tools::Address;

use super::duration::words;
use super::place::Place;
use super::{Config, KeySource};

impl Config {
    pub(super) fn shown_tools(&self) -> Vec<Object> {
        let tool =
            |tool: &Address| Object::from([("name", tool.name.as_str().into()), ("url", tool.to_string().into())]);
        self.tools.iter().map(tool).collect()
    }

    pub(super) fn shown_models(&self) -> Vec<Object> {
        self.models.iter().map(|target| shown_model(target, self.keys.get(&target.name))).collect()
    }
}

/// A model under the keys of the file; of its key only where that is.
fn shown_model(target: &Target, key: Option<&KeySource>) -> Object {
    let mut shown = Object::from([
        ("name", target.name.as_str().into()),
        ("provider", target.provider.as_str().into()),
        ("url", shown_url(&target.base_url).into()),
        ("model", target.model.as_str().into()),
    ]);
    match key {
        Some(KeySource::Variable(name) | KeySource::UnsetVariable(name)) => {
            shown.insert("key-env", name.as_str());
        }
        Some(KeySource::File(path) | KeySource::UnusableFile { path, .. }) => {
            shown.insert("key-file", path.as_str());
        }
        Some(KeySource::None) | None => {}
    }
    shown.insert("streaming", target.streaming == Streaming::On);
    shown.insert("format", target.format.show());
    if let Some(tokens) = target.max_context {
        shown.insert("max-context", u64::from(tokens));
    }
    let limits = target.limits;
    for (key, limit) in [
        ("connect-time", limits.connect),
        ("first-byte-time", limits.first_byte),
        ("first-token-time", limits.first_token),
        ("idle-time", limits.idle),
        ("total-time", limits.total),
    ] {
        shown.insert(key, time(limit));
    }
    if let Some(prices) = target.prices {
        for (key, price) in [
            ("price-input", Some(prices.input)),
            ("price-output", Some(prices.output)),
            ("price-cached", prices.cached),
            ("price-cache-written", prices.cache_written),
        ] {
            shown.extend(price.map(|price| (key.to_owned(), dollars(price))));
        }
    }
    shown
}

fn time(limit: Duration) -> String {
    words(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX))
}

fn dollars(price: Price) -> Value {
    let (whole, rest) = (price.micros() / 1_000_000, price.micros() % 1_000_000);
    let text = format!("{whole}.{rest:06}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    // What is shown is always a number.
    Number::parse(text).map_or(Value::Null, Value::Number)
}
