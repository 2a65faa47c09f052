//! A build without HTTP, which no tool can call back.

use reknit_config::{Config, ConfigError};
use reknit_protocol::{EffectId, RunId};

/// Makes callback URLs. There are none without the feature `http`.
#[derive(Debug)]
pub enum NoCallbacks {}

impl NoCallbacks {
    /// Fails if the configuration has callbacks.
    pub fn configured(config: &Config) -> Result<Option<Self>, ConfigError> {
        match config.callbacks.url {
            Some(_) => Err(without_http(config, "callbacks.url")),
            None => Ok(None),
        }
    }

    /// The URL that ends the job of a call.
    pub fn url_for(&self, _run: &RunId, _call: &EffectId, _now_ms: i64) -> String {
        match *self {}
    }
}

/// A setting that needs HTTP, in a build without it.
pub(crate) fn without_http(config: &Config, setting: &str) -> ConfigError {
    let problem = format!("`{setting}` is set, but this program was built without the feature `http`");
    ConfigError::Invalid { origin: config.origin_of(setting), problem }
}
