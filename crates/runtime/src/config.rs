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

mod builder;
mod code;
mod duration;
mod entry;
mod error;
mod file;
mod keys;
mod kind;
mod list;
mod models;
mod origin;
mod place;
mod prompts;
mod reference;
mod setting;
mod show;
mod shown;
#[cfg(test)]
mod tests;

pub use builder::Builder;
pub(crate) use duration::millis;
pub use error::{ConfigError, Problem};
pub use keys::KeySource;
pub use kind::Kind;
pub use origin::Origin;
pub use reference::reference;
pub use setting::{SETTINGS, Setting};
pub use show::{Effective, Shown};

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use reknit_dialogue::{GateRules, Rules, TargetName};
use reknit_engine::{Policy, PromptBuilder, SessionRules, Templates};
use reknit_journal::Durability;
use reknit_models::{Limits, Target};
use reknit_protocol::Value;
use reknit_tools::Address;

use crate::telemetry::Telemetry;
use crate::telemetry::log::{Level, Log, LogSettings};
use crate::{CallLimits, Rests};
use code::Code;
use entry::Entry;
use origin::Choices;

/// Everything that can be set.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where tools are.
    pub tools: Vec<Address>,
    /// Which models may be asked, the preferred one first.
    pub models: Vec<Target>,
    /// Where their keys are, or should be. See [`Config::check_keys`].
    pub keys: BTreeMap<TargetName, KeySource>,
    /// Whether the command line may look for a model when none is named. A program that asks a model has named it.
    pub find_model: FindModel,
    /// The rules of runs.
    pub policy: Policy,
    /// How agents turn and end, where their files do not say so.
    pub session: SessionRules,
    /// How many calls may be under way over all runs.
    pub call_limits: CallLimits,
    /// When services and models are given a rest.
    pub rests: Rests,
    /// Where the journal is, if the configuration says so.
    pub journal: Option<PathBuf>,
    /// How durable it is.
    pub durability: Durability,
    /// The folder with the words in which models are asked, if they are not ours. See [`Config::templates`].
    pub prompts: Option<String>,
    /// What is written about runs, and how. See [`Config::with_log`].
    pub log: LogSettings,
    /// Who takes its lines, if that is not standard error.
    log_to: Option<Code<TakeLine>>,
    /// The words from code.
    built_prompts: Option<Code<dyn PromptBuilder + Send + Sync>>,
    /// How long models are waited for by who asks them last.
    patience: BTreeMap<TargetName, Limits>,
    switches: Switches,
    choices: Choices,
    effective: Vec<Effective>,
    /// Where tools and models are named, by the name of the list and their own.
    named: BTreeMap<(&'static str, String), Origin>,
}

/// Whether a model may be looked for when none is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindModel {
    /// By its key, or on this machine.
    Allowed,
    /// Nobody looks.
    Off,
}

/// What is off whatever else is set for it. Folded into the policy, in which nothing is on that does nothing.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is the switch that people write as true or false")]
struct Switches {
    corrections: bool,
    feedback: bool,
    context: bool,
    plan_retry: bool,
    choice: bool,
}

/// Takes a line of the log.
type TakeLine = dyn Fn(&str) + Send + Sync;

/// Looks a variable of the environment up.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Default for Config {
    fn default() -> Self {
        Self {
            tools: Vec::new(),
            models: Vec::new(),
            keys: BTreeMap::new(),
            find_model: FindModel::Allowed,
            policy: Policy::default(),
            session: SessionRules::default(),
            call_limits: CallLimits::default(),
            rests: Rests::default(),
            journal: None,
            durability: Durability::Full,
            prompts: None,
            log: LogSettings::default(),
            log_to: None,
            built_prompts: None,
            patience: BTreeMap::new(),
            switches: Switches { corrections: true, feedback: true, context: true, plan_retry: true, choice: true },
            choices: Choices::default(),
            effective: Vec::new(),
            named: BTreeMap::new(),
        }
    }
}

impl Config {
    /// Reads a configuration. `name` is what the text is called in errors.
    pub fn read(text: &str, name: &str, environment: Lookup<'_>) -> Result<Self, ConfigError> {
        let written = file::read(text, name)?;
        let models::Written { targets: models, keys, patience } = models::targets(&written.models, environment)?;
        let mut choices = written.choices;
        choices.read_environment(environment)?;
        let named = written.tools.iter().chain(&written.models).map(Entry::named).collect();
        let tools = addresses(&written.tools)?;
        Ok(Self { tools, models, keys, patience, choices, named, ..Self::default() }.settled())
    }

    /// What counts without a file.
    pub fn from_environment(environment: Lookup<'_>) -> Result<Self, ConfigError> {
        Self::read("", "the environment", environment)
    }

    /// The same with another value for a setting, which is named as in the file. Fails if it is no value for it.
    ///
    /// ```
    /// use reknit_runtime::config::{Config, Origin};
    ///
    /// let config = Config::default().with("plan.retries", 5, Origin::Program)?;
    /// assert_eq!(config.policy.planning.retries, 5);
    /// let error = Config::default().with("plan.retries", "many", Origin::Program).expect_err("it is no number");
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the program: `plan.retries` is \"many\"; write a whole number from 0 to 4294967295"
    /// );
    /// # Ok::<(), reknit_runtime::config::ConfigError>(())
    /// ```
    pub fn with(mut self, name: &str, value: impl Into<Value>, origin: Origin) -> Result<Self, ConfigError> {
        let value = value.into();
        let Some(setting) = Setting::find(name) else {
            let hint = setting::meant(name).map_or_else(String::new, |meant| format!("did you mean `{meant}`?"));
            return Err(ConfigError::Unknown { origin, name: name.to_owned(), hint });
        };
        if !setting.kind.allows(&value) {
            let problem = Problem::new(setting.name, &value.to_string(), setting.kind.wanted());
            return Err(ConfigError::Value { origin, problem });
        }
        self.choices.put(setting, value, origin);
        Ok(self.settled())
    }

    /// Makes everything that can be set follow from what was chosen.
    fn settled(self) -> Self {
        let Self { tools, models, keys, log_to, built_prompts, patience, named, choices, .. } = self;
        let mut config = Self { tools, models, keys, log_to, built_prompts, patience, named, ..Self::default() };
        // Which policy it is decides what the defaults beside it are.
        let policy = SETTINGS.iter().find(|setting| setting.name == "rotation.policy");
        if policy
            .and_then(|policy| choices.get(policy))
            .is_some_and(|(word, _)| word.as_str() == Some("prefer-primary"))
        {
            config.policy.rotation = Rules::prefer_primary();
            // Models that can stand in for each other rest sooner.
            config.rests.models = GateRules::model();
        }
        for setting in SETTINGS {
            if let Some((value, _)) = choices.get(setting) {
                // Every value that was chosen is of its setting's kind, and each place takes those: a test knows.
                let _ = (setting.set)(&mut config, value);
            }
        }
        config.effective = show::effective(&config, &choices);
        config.choices = choices;
        config.know_models();
        config.fold_switches();
        config
    }

    fn fold_switches(&mut self) {
        let Switches { corrections, feedback, context, plan_retry, choice } = self.switches;
        if !(corrections && feedback) {
            self.policy.mending.feedback = 0;
        }
        if !(corrections && context) {
            self.policy.mending.context = 0;
        }
        if !plan_retry {
            self.policy.planning.retries = 0;
        }
        if !choice {
            self.policy.planning.choose_from = u32::MAX;
        }
    }

    /// Asks only these models.
    #[must_use]
    pub fn with_models(self, models: Vec<Target>, origin: &Origin) -> Self {
        let mut none = Self { models: Vec::new(), keys: BTreeMap::new(), patience: BTreeMap::new(), ..self };
        none.know_models();
        models.into_iter().fold(none, |config, target| config.with_model(target, origin))
    }

    /// Asks this model, too, after all others. Its key, if it has one, is in it.
    #[must_use]
    pub fn with_model(mut self, target: Target, origin: &Origin) -> Self {
        self.named.insert(("models", target.name.to_string()), origin.clone());
        self.models.push(target);
        self.know_models();
        self
    }

    /// Lets the rules follow from which models there are: how much each can read, and what it costs, where that is known.
    fn know_models(&mut self) {
        let windows = self.models.iter().filter_map(|target| Some((target.name.clone(), target.max_context?)));
        self.policy.rotation.windows = windows.collect();
        let prices = self.models.iter().filter_map(|target| Some((target.name.clone(), target.prices?)));
        self.policy.prices = prices.collect();
    }

    /// Somebody asks this model last, whatever the order of the models: it has nobody to hand over to there, and is waited
    /// for longer.
    pub fn ask_last(&mut self, name: &str) {
        for target in self.models.iter_mut().filter(|target| target.name.as_str() == name) {
            target.limits = self.patience.get(&target.name).copied().unwrap_or(target.limits);
        }
    }

    /// Calls this tool, too, and no other of its name.
    #[must_use]
    pub fn with_tool(mut self, tool: Address, origin: Origin) -> Self {
        self.named.insert(("tools", tool.name.to_string()), origin);
        match self.tools.iter_mut().find(|known| known.name == tool.name) {
            Some(known) => *known = tool,
            None => self.tools.push(tool),
        }
        self
    }

    /// Asks models in words from code, which is shown those that would count without it: ours, or those in the folder of
    /// `[prompts]`. See [`Config::templates`].
    #[must_use]
    pub fn with_prompts(self, builder: impl PromptBuilder + Send + Sync + 'static) -> Self {
        Self { built_prompts: Some(Code(Arc::new(builder))), ..self }
    }

    /// Hands the lines of the log, each with its end, to `write` and not to standard error. How many there are, and what
    /// they look like, is set in `[log]`.
    #[must_use]
    pub fn with_log(self, write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { log_to: Some(Code(Arc::new(write))), ..self }
    }

    /// Whoever writes the log, if there is to be one.
    pub(crate) fn telemetry(&self) -> Telemetry {
        let log = match (self.log.level, self.log_to.clone()) {
            (Level::Off, _) => return Telemetry::none(),
            (_, Some(Code(write))) => Log::new(self.log, move |line| write(line)),
            // Whoever cannot be told has the run's own answer.
            (_, None) => Log::new(self.log, |line| drop(std::io::stderr().write_all(line.as_bytes()))),
        };
        Telemetry::none().with(Arc::new(log))
    }

    /// The words in which models are asked: ours, in their place those in the folder of `[prompts]`, a file for each
    /// question that is asked differently (`plan.txt`), and in their place those from code. Fails if one of them leaves out
    /// what a model must know.
    pub fn templates(&self) -> Result<Templates, ConfigError> {
        let written = self.prompts.as_ref().map(|folder| prompts::read(Path::new(folder))).transpose()?;
        let written = written.unwrap_or_default();
        Ok(match &self.built_prompts {
            Some(Code(builder)) => written.built_by(builder.as_ref())?,
            None => written,
        })
    }

    /// Fails if there is a limit of money and a model without a price: nobody could say whether the limit is kept.
    pub fn check_prices(&self) -> Result<(), ConfigError> {
        let unpriced = self.models.iter().find(|model| model.prices.is_none());
        match (self.policy.limits.money, unpriced) {
            (Some(_), Some(model)) => Err(ConfigError::Unpriced { model: model.name.to_string() }),
            _ => Ok(()),
        }
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

fn addresses(tools: &[Entry]) -> Result<Vec<Address>, ConfigError> {
    let mut addresses: Vec<Address> = Vec::with_capacity(tools.len());
    for tool in tools {
        let name = tool.name(|name| addresses.iter().any(|known| known.name.as_str() == name))?;
        let address = Address::parse(name, tool.text("url").unwrap_or_default())
            .map_err(|_| tool.problem("url", "write an http or https address, like `http://127.0.0.1:8085`"))?;
        addresses.push(address);
    }
    Ok(addresses)
}
