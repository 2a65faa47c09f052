//! Configuration: what was written in `reknit.toml` and in the environment, and what it means.
//!
//! ```
//! use reknit_runtime::config::Config;
//!
//! let config = Config::read(
//!     "[[tools]]\nname = \"weather-tool\"\nurl = \"http://127.0.0.1:8085\"\n\n[limits]\ncall-time = \"10s\"\n",
//!     "reknit.toml",
//!     &|variable| (variable == "REKNIT_AGENT_MAX_RETRIES").then(|| "5".to_owned()),
//! )?;
//! assert_eq!(config.policy.limits.call_ms, 10_000);
//! assert_eq!(config.policy.resend.times, 5);
//! # Ok::<(), reknit_runtime::config::ConfigError>(())
//! ```

mod count;
mod duration;
mod environment;
mod error;
mod keys;
mod models;
mod prompts;
mod raw;
mod rotation;
mod sections;
#[cfg(test)]
mod tests;

pub(crate) use duration::millis;
pub use environment::{VARIABLES, Variable};
pub use error::ConfigError;
pub use keys::KeySource;

use std::collections::BTreeMap;
use std::path::Path;

use reknit_dialogue::TargetName;
use reknit_engine::{Policy, Templates};
use reknit_journal::Durability;
use reknit_models::Target;
use reknit_tools::Address;

use crate::{CallLimits, Rests};

/// Everything that can be set.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where tools are.
    pub tools: Vec<Address>,
    /// Which models may be asked, the preferred one first.
    pub models: Vec<Target>,
    /// Where their keys are, or should be. See [`Config::check_keys`].
    pub keys: BTreeMap<TargetName, KeySource>,
    /// Whether a model may be looked for when none is named.
    pub find_model: FindModel,
    /// The rules of runs.
    pub policy: Policy,
    /// How many calls may be under way over all runs.
    pub call_limits: CallLimits,
    /// When services and models are given a rest.
    pub rests: Rests,
    /// Where the journal is, if the configuration says so.
    pub journal: Option<String>,
    /// How durable it is.
    pub durability: Durability,
    /// The folder with the words in which models are asked, if they are not ours. See [`Config::templates`].
    pub prompts: Option<String>,
}

/// Whether a model may be looked for when none is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindModel {
    /// By its key, or on this machine.
    Allowed,
    /// Nobody looks.
    Off,
}

/// Looks a variable of the environment up.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Config {
    /// Reads a configuration. `name` is what the text is called in errors.
    pub fn read(text: &str, name: &str, environment: Lookup<'_>) -> Result<Self, ConfigError> {
        let raw: raw::Raw = toml::from_str(text).map_err(|error| ConfigError::unreadable(name, text, &error))?;
        let mut config = sections::understand(&raw, environment).map_err(|problem| problem.in_file(name))?;
        environment::apply(&mut config.policy, environment)?;
        config.find_model = environment::find_model(environment)?;
        Ok(config)
    }

    /// What counts without a file.
    pub fn from_environment(environment: Lookup<'_>) -> Result<Self, ConfigError> {
        Self::read("", "the environment", environment)
    }

    /// Asks only these models.
    #[must_use]
    pub fn with_models(mut self, models: Vec<Target>) -> Self {
        self.policy.rotation.windows = rotation::windows(&models);
        Self { models, keys: BTreeMap::new(), ..self }
    }

    /// The words in which models are asked: ours, or those in the folder of `[prompts]`, a file for each question that is
    /// asked differently (`plan.txt`). Fails if one of them leaves out what a model must know.
    pub fn templates(&self) -> Result<Templates, ConfigError> {
        self.prompts.as_deref().map_or_else(|| Ok(Templates::default()), |folder| prompts::read(Path::new(folder)))
    }

    /// Fails if a model's key is not there. For whoever is about to ask: looking at runs needs no key.
    pub fn check_keys(&self) -> Result<(), ConfigError> {
        for (model, source) in &self.keys {
            let model = model.to_string();
            match source {
                KeySource::None | KeySource::Variable(_) | KeySource::File(_) => {}
                KeySource::UnsetVariable(variable) => {
                    return Err(ConfigError::UnsetKey { model, variable: variable.clone() });
                }
                KeySource::UnusableFile { path, problem } => {
                    return Err(ConfigError::KeyFile { model, path: path.clone(), problem: problem.clone() });
                }
            }
        }
        Ok(())
    }
}
