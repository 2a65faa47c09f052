//! The configuration: `reknit.toml`, environment variables, and what a program sets.
//!
//! ```
//! use reknit_config::Config;
//!
//! let config = Config::read(
//!     "[[tools]]\nname = \"weather-tool\"\nurl = \"http://127.0.0.1:8085\"\n\n[limits]\ncall-time = \"10s\"\n",
//!     "reknit.toml",
//!     &|variable| (variable == "REKNIT_AGENT_MAX_RETRIES").then(|| "5".to_owned()),
//! )?;
//! assert_eq!(config.policy.limits.call_ms, 10_000);
//! assert_eq!(config.policy.resend.times, 5);
//! # Ok::<(), reknit_config::ConfigError>(())
//! ```

mod additions;
pub mod agent;
mod api_keys;
mod approval_webhook;
mod authentication;
mod builder;
mod callbacks;
mod capability_rules;
mod discovery;
mod effect_names;
mod entry;
mod error;
mod field;
#[cfg(feature = "config-file")]
mod file;
#[cfg(not(feature = "config-file"))]
#[path = "no_file.rs"]
mod file;
mod file_content;
mod find_setting;
mod function_tool;
mod kind;
mod limits;
mod list;
mod log;
mod models;
mod origin;
mod prompts;
mod reference;
#[cfg(feature = "registry")]
mod registry_services;
mod regular_file;
mod retention;
mod rules;
mod setting;
mod show;
#[cfg(test)]
mod tests;
mod tools;
mod units;
mod webhook_url;

pub use api_keys::{KEY_INSTEAD_OF_VARIABLE, KeySource, is_key_instead_of_variable};
pub use approval_webhook::WebhookSettings;
pub use builder::ConfigBuilder;
pub use callbacks::{CALLBACK_SECRET_VARIABLE, CallbackSettings};
pub use discovery::DiscoverySettings;
pub use error::ConfigError;
pub(crate) use field::Field;
pub use kind::SettingKind;
pub(crate) use kind::{POSITIVE, POSITIVE_DURATION, word};
pub use limits::{BreakerPolicy, CallLimits, CallRate, InvalidRate, ToolLimits};
pub use list::SETTINGS;
pub use log::{Form, LogSettings};
pub use origin::SettingOrigin;
pub use reference::reference;
pub use regular_file::check_regular_file;
pub use retention::KeepSettings;
pub use rules::RuleSettings;
pub use setting::{Setting, VARIABLE_PREFIXES};
pub use show::{EffectiveSetting, ShowSettings};
pub(crate) use tools::SourceOpener;
pub use tools::{ConfiguredSource, ConfiguredTool};
pub use units::ByteSize;
pub use webhook_url::WebhookUrl;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use reknit_engine::{Confirmation, OutcomeCheck, Policy, PromptBuilder, RoleRule, SessionRules, TrustRule};
use reknit_journal::Durability;
use reknit_mend::{ErrorsInSuccess, MendingPolicy};
use reknit_model_api::{BreakerRules, RotationRules, TargetName};
use reknit_models::{Target, Timeouts};
use reknit_protocol::{KeyRule, Value};
use reknit_tools::{ListingStore, PinPolicy, SourceProvider, ToolSource};
use secrecy::SecretString;

use builder::Opaque;
use capability_rules::RuleWithOrigin;
use entry::{Entry, entry_name};
use origin::ConfiguredValues;

/// The configuration of a process.
#[derive(Debug, Clone)]
pub struct Config {
    pub tools: Vec<ConfiguredTool>,
    /// The models, the preferred one first.
    pub models: Vec<Target>,
    /// Where the API keys of the models come from. [`Config::check_keys`] checks that they are there.
    pub keys: BTreeMap<TargetName, KeySource>,
    /// Whether the command line may look for a model when none is configured. The library never does.
    pub find_model: FindModel,
    pub policy: Policy,
    /// How the calls of agents are mended that allow other models to correct them.
    pub agent_mending: MendingPolicy,
    /// The rules of agents whose files do not set their own.
    pub session: SessionRules,
    pub call_limits: CallLimits,
    /// The limits of single tools, by name.
    pub tool_limits: BTreeMap<String, ToolLimits>,
    pub breakers: BreakerPolicy,
    pub journal: Option<PathBuf>,
    pub durability: Durability,
    /// Which ended runs it keeps.
    pub keep: KeepSettings,
    /// The folder with the last known capabilities of each tool, for the time when it is down. Without one they are kept in memory.
    pub catalogue_folder: Option<PathBuf>,
    /// How often the tools are asked again for their capabilities; never if it is zero.
    pub catalogue_refresh: Duration,
    /// What happens when a service changes the definition of a capability.
    pub catalogue_pin: PinPolicy,
    /// Where services register themselves.
    pub discovery: DiscoverySettings,
    /// The URLs that tools call when a job has ended. .
    pub callbacks: CallbackSettings,
    /// The secret that signs them, or where it should be; `None` if the environment was not read.
    callback_secret: Option<Result<SecretString, String>>,
    pub webhook: WebhookSettings,
    /// The key that signs them, and where it comes from.
    webhook_secret: (Option<SecretString>, KeySource),
    /// The folder with prompt templates that replace the built-in ones, if one is set. See [`Config::templates`].
    pub prompts: Option<PathBuf>,
    pub rules: RuleSettings,
    /// The level and the format of the log. See [`ConfigBuilder::log_to`].
    pub log: LogSettings,
    /// Writes the log, if not to standard error.
    log_writer: Option<Opaque<WriteLine>>,
    prompt_builder: Option<Opaque<dyn PromptBuilder + Send + Sync>>,
    /// The time limits of each model where no other follows it.
    last_limits: BTreeMap<TargetName, Timeouts>,
    switches: Switches,
    values: ConfiguredValues,
    effective: Vec<EffectiveSetting>,
    /// Where tools, models, checks and business keys are configured, by list (`tools`, `models`, `checks`, `keys`) and name.
    entry_origins: BTreeMap<(&'static str, String), SettingOrigin>,
    /// What `errors-in-success` says, by tool.
    errors_in_success: BTreeMap<String, ErrorsInSuccess>,
    /// The checks of calls with an unknown outcome, by `tool/capability`.
    checks: BTreeMap<String, OutcomeCheck>,
    /// What is expected of results, by `tool/capability`.
    confirmations: BTreeMap<String, Confirmation>,
    /// The business keys, by `tool/capability`.
    business_keys: BTreeMap<String, KeyRule>,
    /// The rules about which calls a person approves before they are sent.
    approval_rules: Vec<RuleWithOrigin>,
    /// The roles of parameters, and the trusted results.
    role_rules: Vec<(RoleRule, SettingOrigin)>,
    trust_rules: Vec<(TrustRule, SettingOrigin)>,
}

/// Whether a command may look for a model when none is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindModel {
    /// It looks for API keys, then for a server on this machine.
    Allowed,
    Off,
}

/// Settings that turn something off whatever its number of attempts is. They are applied to [`Policy`], which has only the
/// number.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting that users write as true or false")]
struct Switches {
    corrections: bool,
    feedback: bool,
    context: bool,
    plan_retry: bool,
    choice: bool,
}

/// Writes a line of the log.
pub type WriteLine = dyn Fn(&str) + Send + Sync;

/// The sources of configured tools, and what finds others.
pub type OpenedSources = (Vec<Arc<dyn ToolSource>>, Vec<Arc<dyn SourceProvider>>);

/// Looks up an environment variable.
pub type EnvironmentLookup<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Default for Config {
    fn default() -> Self {
        Self {
            tools: Vec::new(),
            models: Vec::new(),
            keys: BTreeMap::new(),
            find_model: FindModel::Allowed,
            policy: Policy::default(),
            agent_mending: MendingPolicy::default(),
            session: SessionRules::default(),
            call_limits: CallLimits::default(),
            tool_limits: BTreeMap::new(),
            breakers: BreakerPolicy::default(),
            journal: None,
            durability: Durability::Full,
            keep: KeepSettings::default(),
            catalogue_folder: None,
            catalogue_refresh: Duration::from_secs(30),
            catalogue_pin: PinPolicy::default(),
            discovery: DiscoverySettings::default(),
            callbacks: CallbackSettings::default(),
            callback_secret: None,
            webhook: WebhookSettings::default(),
            webhook_secret: (None, KeySource::None),
            prompts: None,
            rules: RuleSettings::default(),
            log: LogSettings::default(),
            log_writer: None,
            prompt_builder: None,
            last_limits: BTreeMap::new(),
            switches: Switches { corrections: true, feedback: true, context: true, plan_retry: true, choice: true },
            values: ConfiguredValues::default(),
            effective: Vec::new(),
            entry_origins: BTreeMap::new(),
            errors_in_success: BTreeMap::new(),
            checks: BTreeMap::new(),
            confirmations: BTreeMap::new(),
            business_keys: BTreeMap::new(),
            approval_rules: Vec::new(),
            role_rules: Vec::new(),
            trust_rules: Vec::new(),
        }
    }
}

impl Config {
    /// Reads a configuration from the text of a file and the environment. `name` is the name of the file for errors.
    pub fn read(text: &str, name: &str, environment: EnvironmentLookup<'_>) -> Result<Self, ConfigError> {
        let mut file = file::parse(text, name)?;
        let mut config = Self::default();
        models::read_models(&mut config, file.list("models"), environment)?;
        config.values = std::mem::take(&mut file.values);
        config.values.add_environment(environment)?;
        discovery::add_usual_variable(&mut config.values, environment)?;
        tools::read_tools(file.tools(), &mut config.tools, environment)?;
        config.errors_in_success = tools::read_errors_in_success(file.tools())?;
        config.tool_limits = tools::read_limits(file.tools())?;
        config.checks = capability_rules::read_checks(file.list("checks"))?;
        config.confirmations = capability_rules::read_confirmations(file.list("confirm"))?;
        config.business_keys = capability_rules::read_keys(file.list("keys"))?;
        config.approval_rules = capability_rules::read_approvals(file.list("approve"))?;
        config.role_rules = capability_rules::read_roles(file.list("roles"))?;
        config.trust_rules = capability_rules::read_trust(file.list("trust"))?;
        config.webhook_secret = approval_webhook::find_secret(&config.values, environment)?;
        config.entry_origins = file.entries.values().flatten().map(Entry::origin).collect();
        let mut config = config.apply_values();
        config.callback_secret = config.callbacks.url.is_some().then(|| config.callbacks.find_secret(environment));
        Ok(config)
    }

    /// Reads a configuration from the environment alone.
    pub fn from_environment(environment: EnvironmentLookup<'_>) -> Result<Self, ConfigError> {
        Self::read("", "the environment", environment)
    }

    /// Whether a file, the environment or the program sets a setting, such as `answer.by`. Otherwise it has its default.
    pub fn is_configured(&self, name: &str) -> bool {
        Setting::find(name).is_some_and(|setting| self.values.get(setting).is_some())
    }

    /// Sets a setting by its name in the file. Fails if there is no such setting, or if it does not accept the value.
    ///
    /// ```
    /// use reknit_config::{Config, SettingOrigin};
    ///
    /// let config = Config::default().with("plan.retries", 5, SettingOrigin::Program)?;
    /// assert_eq!(config.policy.planning.retries, 5);
    /// let error = Config::default().with("plan.retries", "many", SettingOrigin::Program).expect_err("not a number");
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the program: `plan.retries` is \"many\"; write a whole number from 0 to 4294967295"
    /// );
    /// # Ok::<(), reknit_config::ConfigError>(())
    /// ```
    pub fn with(mut self, name: &str, value: impl Into<Value>, origin: SettingOrigin) -> Result<Self, ConfigError> {
        let value = value.into();
        let Some(setting) = Setting::find(name) else {
            let nearest = find_setting::nearest_setting(name);
            let hint = nearest.map_or_else(String::new, |nearest| format!("did you mean `{nearest}`?"));
            return Err(ConfigError::unknown_setting(origin, name, &hint));
        };
        if !setting.kind.accepts(&value) {
            let (written, expected) = (setting.kind.shown(value.to_string()), setting.kind.expected());
            return Err(ConfigError::invalid_value(origin, setting.name, &written, &expected));
        }
        self.values.insert(setting, value, origin);
        Ok(self.apply_values())
    }

    /// Recomputes all fields that follow from settings.
    fn apply_values(self) -> Self {
        let Self { tools, models, keys, log_writer, prompt_builder, last_limits, entry_origins, values, .. } = self;
        let callback_secret = self.callback_secret;
        let (errors_in_success, checks, approval_rules) = (self.errors_in_success, self.checks, self.approval_rules);
        let (business_keys, confirmations) = (self.business_keys, self.confirmations);
        let webhook_secret = self.webhook_secret;
        let mut config =
            Self { tools, models, keys, log_writer, prompt_builder, last_limits, entry_origins, ..Self::default() };
        config.policy.errors_in_success.clone_from(&errors_in_success);
        config.errors_in_success = errors_in_success;
        config.tool_limits = self.tool_limits;
        config.checks = checks;
        config.business_keys = business_keys;
        config.confirmations = confirmations;
        config.callback_secret = callback_secret;
        config.policy.approvals.rules = approval_rules.iter().map(|(rule, _)| rule.clone()).collect();
        config.approval_rules = approval_rules;
        (config.role_rules, config.trust_rules) = (self.role_rules, self.trust_rules);
        config.policy.effects.roles = config.role_rules.iter().map(|(rule, _)| rule.clone()).collect();
        config.policy.effects.trust = config.trust_rules.iter().map(|(rule, _)| rule.clone()).collect();
        config.webhook_secret = webhook_secret;
        // The rotation policy decides the defaults of other settings, so it comes first.
        let policy = Setting::find("rotation.policy").and_then(|setting| values.get(setting));
        if policy.is_some_and(|(word, _)| word.as_str() == Some("prefer-primary")) {
            config.policy.rotation = RotationRules::prefer_primary();
            config.breakers.models = BreakerRules::for_model_with_fallback();
        }
        for setting in SETTINGS {
            if let Some((value, _)) = values.get(setting) {
                (setting.set)(&mut config, value);
            }
        }
        let effective = |setting: &'static Setting| {
            let origin = values.get(setting).map(|(_, origin)| origin.clone()).unwrap_or_default();
            EffectiveSetting { setting, value: (setting.get)(&config), origin }
        };
        config.effective = SETTINGS.iter().map(effective).collect();
        config.policy.effects.checks.clone_from(&config.checks);
        config.policy.effects.keys.clone_from(&config.business_keys);
        config.policy.effects.confirmations.clone_from(&config.confirmations);
        config.values = values;
        config.copy_model_data();
        config.apply_switches();
        config
    }

    fn apply_switches(&mut self) {
        let Switches { corrections, feedback, context, plan_retry, choice } = self.switches;
        self.agent_mending = self.policy.mending.clone();
        if !feedback {
            self.agent_mending.feedback = 0;
        }
        if !context {
            self.agent_mending.context = 0;
        }
        if !(corrections && feedback) {
            self.policy.mending.feedback = 0;
        }
        // Whoever turns off feedback alone wants no model to correct calls.
        let context_switch = Setting::find("mending.context-enabled").and_then(|setting| self.values.get(setting));
        if !(corrections && context && (feedback || context_switch.is_some())) {
            self.policy.mending.context = 0;
        }
        if !plan_retry {
            self.policy.planning.retries = 0;
        }
        if !choice {
            self.policy.planning.choose_from = u32::MAX;
        }
    }

    /// All settings with their effective values, in the order of [`SETTINGS`].
    pub fn effective(&self) -> &[EffectiveSetting] {
        &self.effective
    }

    /// Writes a line of the log instead of standard error, if the program does.
    pub fn log_writer(&self) -> Option<Arc<WriteLine>> {
        self.log_writer.as_ref().map(|Opaque(write)| Arc::clone(write))
    }

    /// Fails if `limits.money` is set and a model has no price, because the limit could not be enforced.
    pub fn check_prices(&self) -> Result<(), ConfigError> {
        let unpriced = self.models.iter().find(|model| model.prices.is_none());
        match (self.policy.limits.money, unpriced) {
            (Some(_), Some(model)) => Err(ConfigError::MissingPrice(model.name.to_string())),
            _ => Ok(()),
        }
    }

    /// Fails if the API key of a model is missing. Only callers that call models need this check.
    pub fn check_keys(&self) -> Result<(), ConfigError> {
        for (model, source) in &self.keys {
            if let Some(place) = source.missing() {
                return Err(ConfigError::MissingKey { model: model.to_string(), place });
            }
        }
        Ok(())
    }

    /// Uses this key to sign what is sent to the approval webhook, instead of the one in a variable.
    #[must_use]
    pub fn with_webhook_secret(mut self, secret: SecretString) -> Self {
        self.webhook_secret = (Some(secret), KeySource::None);
        self
    }

    /// The address to which questions to a person are sent, and where the key of their signature comes from.
    pub fn webhook_key(&self) -> Option<(&WebhookUrl, &KeySource)> {
        Some((self.webhook.url.as_ref()?, &self.webhook_secret.1))
    }

    /// The key that signs what is sent to the approval webhook, and where it comes from.
    pub fn webhook_secret(&self) -> (Option<&SecretString>, &KeySource) {
        (self.webhook_secret.0.as_ref(), &self.webhook_secret.1)
    }

    /// The secret that signs callback URLs, or where it should be; `None` if the environment was not read.
    pub fn callback_secret(&self) -> Option<Result<&SecretString, &str>> {
        self.callback_secret.as_ref().map(|secret| secret.as_ref().map_err(String::as_str))
    }

    pub fn origin_of(&self, name: &str) -> SettingOrigin {
        let set = Setting::find(name).and_then(|setting| self.values.get(setting));
        set.map_or_else(SettingOrigin::default, |(_, origin)| origin.clone())
    }

    /// Where the entry of a model comes from.
    pub fn origin_of_model(&self, name: &TargetName) -> SettingOrigin {
        self.origin_of_entry("models", name.to_string())
    }

    /// Where the entry of a tool comes from.
    pub fn origin_of_tool(&self, tool: &ConfiguredTool) -> SettingOrigin {
        self.origin_of_entry(tool.list, entry_name(tool.shown()))
    }

    fn origin_of_entry(&self, list: &'static str, name: String) -> SettingOrigin {
        self.entry_origins.get(&(list, name)).cloned().unwrap_or_default()
    }

    /// Where the last known capabilities of each tool are kept, with their pinned definitions.
    pub fn listing_store(&self) -> ListingStore {
        let store = self.catalogue_folder.as_ref().map_or_else(ListingStore::in_memory, ListingStore::in_folder);
        let effects = self.policy.effects.clone();
        store.pinning(self.catalogue_pin, move |tool, capability, declared| effects.class(tool, capability, declared))
    }

    /// The sources of all tools, and what finds tools that are not configured one by one. Fails if the key of a tool is missing or
    /// cannot be sent, if a registry is configured and this build has none, or if there is no HTTP client.
    pub fn open_sources(&self) -> Result<OpenedSources, ConfigError> {
        let opener = SourceOpener::new()?;
        Ok((self.tool_sources(&opener)?, self.source_providers(&opener)?))
    }

    /// The sources of all tools. Fails if the key of a tool is missing or cannot be sent.
    pub(crate) fn tool_sources(&self, opener: &SourceOpener) -> Result<Vec<Arc<dyn ToolSource>>, ConfigError> {
        for tool in &self.tools {
            if let Some(place) = tool.missing_key() {
                return Err(ConfigError::MissingToolKey { tool: tool.name.to_string(), place });
            }
        }
        self.tools.iter().map(|tool| opener.open(tool)).collect()
    }
}
