//! A configuration made in a program: a method for each setting of the list.

use std::collections::BTreeMap;
use std::time::Duration;

use reknit_dialogue::{Effort, OnAuthError, Policy as RotationPolicy};
use reknit_engine::{PromptBuilder, Synthesis, Undeclared};
use reknit_journal::Durability;
use reknit_models::Target;
use reknit_protocol::{Effect, Number, Value, shown_url};
use reknit_tools::Address;

use super::duration::words;
use super::error::Problem;
use super::list::each_setting;
use super::place::Place;
use super::{Config, ConfigError, Origin};
use crate::telemetry::log::{Form, Level};

/// Makes a [`Config`] in a program, with a method for each setting that counts in a program. What is wrong is told at the end.
///
/// ```
/// use std::time::Duration;
///
/// use reknit_runtime::config::Config;
///
/// let config = Config::builder()
///     .plan_retries(1)
///     .feedback(false)
///     .semantic_retry_statuses(vec![400, 422])
///     .call_time(Duration::from_secs(10))
///     .build()?;
/// assert_eq!((config.policy.planning.retries, config.policy.mending.feedback), (1, 0));
///
/// let error = Config::builder().calls_at_once(0).build().expect_err("nothing could ever begin");
/// assert_eq!(
///     error.to_string(),
///     "the program: `limits.calls-at-once` is 0; write a whole number from 1 to 4294967295"
/// );
/// # Ok::<(), reknit_runtime::config::ConfigError>(())
/// ```
#[derive(Debug, Default)]
pub struct Builder {
    config: Config,
    /// The first thing that is wrong.
    problem: Option<ConfigError>,
}

impl Config {
    /// Makes one in a program.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl From<Config> for Builder {
    /// Goes on from a configuration that was read.
    fn from(config: Config) -> Self {
        Self { config, problem: None }
    }
}

impl Builder {
    /// Calls this tool, too: what plans call it, and where it answers.
    #[must_use]
    pub fn tool(self, name: &str, url: &str) -> Self {
        self.changed(|config| {
            let wanted = "write an http or https address";
            let problem = || Problem::new("tools.url", &Value::from(shown_url(url)).to_string(), wanted);
            let address = Address::parse(name, url)
                .map_err(|_| ConfigError::Value { origin: Origin::Program, problem: problem() })?;
            Ok(config.with_tool(address, Origin::Program))
        })
    }

    /// Asks this model, too, after those before it.
    #[must_use]
    pub fn model(self, target: Target) -> Self {
        self.changed(|config| Ok(config.with_model(target, &Origin::Program)))
    }

    /// Asks models in words from code, which is shown those that would count without it: ours, or those in a folder.
    #[must_use]
    pub fn prompts(self, builder: impl PromptBuilder + Send + Sync + 'static) -> Self {
        self.changed(|config| Ok(config.with_prompts(builder)))
    }

    /// Hands the lines of the log to `write` and not to standard error; without a [`log_level`](Self::log_level) there are
    /// none.
    #[must_use]
    pub fn log_to(self, write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.changed(|config| Ok(config.with_log(write)))
    }

    /// The configuration; fails with the first thing that is wrong with it, words from code among it.
    pub fn build(self) -> Result<Config, ConfigError> {
        let config = self.problem.map_or(Ok(self.config), Err)?;
        if config.built_prompts.is_some() {
            config.templates()?;
        }
        Ok(config)
    }

    fn set(self, name: &str, value: Value) -> Self {
        self.changed(|config| config.with(name, value, Origin::Program))
    }

    fn changed(mut self, change: impl FnOnce(Config) -> Result<Config, ConfigError>) -> Self {
        if self.problem.is_none() {
            match change(std::mem::take(&mut self.config)) {
                Ok(config) => self.config = config,
                Err(problem) => self.problem = Some(problem),
            }
        }
        self
    }
}

macro_rules! methods {
    ($(
        $(#[doc = $meaning:literal])+
        $method:tt($kind:ident $(<$choice:ty>)?) $name:literal $(= $variable:literal)? $(| $alias:literal)*
            => $($place:ident).+ $(, $($other:ident).+)*;
    )*) => {
        impl Builder {$(
            method! { $(#[doc = $meaning])+ $method($kind $($choice)?) $name }
        )*}
    };
}

macro_rules! method {
    // What only the command line does.
    ($(#[doc = $meaning:literal])+ _($kind:ident) $name:literal) => {};
    ($(#[doc = $meaning:literal])+ $method:ident($kind:ident $($choice:ty)?) $name:literal) => {
        $(#[doc = $meaning])+
        ///
        #[doc = concat!("`", $name, "` in a file.")]
        #[must_use]
        pub fn $method(self, value: argument!($kind $($choice)?)) -> Self {
            self.set($name, value!($kind value))
        }
    };
}

/// What a method takes.
macro_rules! argument {
    (switch) => { bool };
    (count) => { u32 };
    (positive) => { u32 };
    (percent) => { u32 };
    (time) => { Duration };
    (positive_time) => { Duration };
    (word $choice:ty) => { $choice };
    (temperature) => { f64 };
    (money) => { f64 };
    (temperature_or_default) => { Option<f64> };
    (statuses) => { Vec<u16> };
    (classes) => { BTreeMap<String, Effect> };
    (text) => { &str };
}

/// What is set by it.
macro_rules! value {
    (time $value:ident) => {
        time($value)
    };
    (positive_time $value:ident) => {
        time($value)
    };
    (temperature $value:ident) => {
        number($value)
    };
    (money $value:ident) => {
        number($value)
    };
    (temperature_or_default $value:ident) => {
        $value.map_or_else(|| "default".into(), number)
    };
    (text $value:ident) => {
        $value.into()
    };
    ($kind:ident $value:ident) => {
        $value.show()
    };
}

each_setting!(methods);

fn time(time: Duration) -> Value {
    words(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)).into()
}

/// What is no number is null, which no setting takes.
fn number(number: f64) -> Value {
    Number::parse(&number.to_string()).map_or(Value::Null, Value::Number)
}
