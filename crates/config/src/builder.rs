//! Builds a configuration in a program. The methods for settings are defined with the list of settings.

use std::sync::Arc;

use reknit_engine::{ApprovalRule, Confirmation, OutcomeCheck, PromptBuilder, RoleRule, TrustRule};
use reknit_models::Target;
use reknit_protocol::{KeyRule, Value};
#[cfg(feature = "schemars")]
use reknit_protocol::{SideEffect, ToolError};
use reknit_registry::RedisUrl;
#[cfg(feature = "schemars")]
use reknit_tool_service::CallContext;
use reknit_tool_service::CapabilityDefinition;
use reknit_tools::ToolSource;
#[cfg(feature = "schemars")]
use {schemars::JsonSchema, serde::Serialize, serde::de::DeserializeOwned};

use super::field::Field;
use super::function_tool::FunctionTool;
use super::webhook_url::WebhookUrl;
use super::{Config, ConfigError, ConfiguredTool, SettingOrigin, ToolLimits};

/// Builds a [`Config`] in a program, with one method for each setting. [`build`](Self::build) returns the first error.
///
/// ```
/// use std::time::Duration;
///
/// use reknit_config::Config;
///
/// let config = Config::builder()
///     .plan_retries(1)
///     .feedback(false)
///     .semantic_retry_statuses(vec![400, 422])
///     .call_time(Duration::from_secs(10))
///     .build()?;
/// assert_eq!((config.policy.planning.retries, config.policy.mending.feedback), (1, 0));
///
/// let error = Config::builder().calls_at_once(0).build().expect_err("no call could ever start");
/// assert_eq!(
///     error.to_string(),
///     "the program: `limits.calls-at-once` is 0; write a whole number from 1 to 4294967295"
/// );
/// # Ok::<(), reknit_config::ConfigError>(())
/// ```
#[derive(Debug, Default)]
pub struct ConfigBuilder {
    config: Config,
    first_error: Option<ConfigError>,
}

impl Config {
    /// Starts with the defaults.
    pub fn builder() -> ConfigBuilder {
        ConfigBuilder::default()
    }
}

impl From<Config> for ConfigBuilder {
    fn from(config: Config) -> Self {
        Self { config, first_error: None }
    }
}

impl ConfigBuilder {
    /// Adds a tool: its name in plans, and its base URL.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn tool(self, name: &str, url: &str) -> Self {
        self.change(|config| {
            let address = reknit_tools::Address::parse(name, url).map_err(|_| {
                let written = Value::from(reknit_protocol::redact_url(url)).to_string();
                let expected = "write an http or https address";
                ConfigError::invalid_value(SettingOrigin::Program, "tools.url", &written, expected)
            })?;
            Ok(config.with_tool(ConfiguredTool::service(address), SettingOrigin::Program))
        })
    }

    /// Adds a source of tools, such as `OpenApiService`.
    #[must_use]
    pub fn tool_source(self, source: Arc<dyn ToolSource>) -> Self {
        self.change(|config| Ok(config.with_tool(ConfiguredTool::of_program(source), SettingOrigin::Program)))
    }

    /// Adds a function of this program as a capability of a tool. Its schema is derived from the type of its argument, and its
    /// side effects are unknown. [`tool_capability`](Self::tool_capability) sets a description and a class.
    ///
    /// ```
    /// use reknit_config::Config;
    /// use reknit_protocol::ToolError;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Square {
    ///     side: f64,
    /// }
    ///
    /// async fn area(square: Square) -> Result<f64, ToolError> {
    ///     Ok(square.side * square.side)
    /// }
    ///
    /// let config = Config::builder().tool_fn("geometry", "area", area).build()?;
    /// assert_eq!(config.tools.len(), 1);
    /// # Ok::<(), reknit_config::ConfigError>(())
    /// ```
    #[cfg(feature = "schemars")]
    #[must_use]
    pub fn tool_fn<Args, Output, F, R>(self, tool: &str, capability: &str, function: F) -> Self
    where
        Args: DeserializeOwned + JsonSchema + Send + 'static,
        Output: Serialize,
        F: Fn(Args) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Output, ToolError>> + Send,
    {
        let handler = move |_: CallContext, args: Args| function(args);
        self.tool_capability(tool, CapabilityDefinition::new(capability, SideEffect::Undeclared, handler))
    }

    /// Adds a function of this program as a capability of a tool, with its description and its class of side effect.
    ///
    /// ```
    /// use reknit_config::Config;
    /// use reknit_protocol::{SideEffect, ToolError};
    /// use reknit_tool_service::{CallContext, CapabilityDefinition};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Square {
    ///     side: f64,
    /// }
    ///
    /// async fn area(_: CallContext, square: Square) -> Result<f64, ToolError> {
    ///     Ok(square.side * square.side)
    /// }
    ///
    /// let area = CapabilityDefinition::new("area", SideEffect::Read, area).description("The area of a square");
    /// Config::builder().tool_capability("geometry", area).build()?;
    /// # Ok::<(), reknit_config::ConfigError>(())
    /// ```
    #[must_use]
    pub fn tool_capability(self, tool: &str, definition: CapabilityDefinition) -> Self {
        self.change(|config| {
            let capability = definition.announcement().name.clone();
            let function = FunctionTool::new(tool, definition)
                .map_err(|error| ConfigError::UnusableTool { tool: tool.to_owned(), problem: error.to_string() })?;
            let tool = ConfiguredTool::capability_of_program(Arc::new(function), capability);
            Ok(config.with_tool(tool, SettingOrigin::Program))
        })
    }

    /// Limits the calls of a tool, beside the limits of all tools.
    #[must_use]
    pub fn tool_limits(self, tool: &str, limits: ToolLimits) -> Self {
        self.change(|mut config| {
            config.tool_limits.insert(tool.to_owned(), limits);
            Ok(config)
        })
    }

    #[must_use]
    pub fn model(self, target: Target) -> Self {
        self.change(|config| Ok(config.with_model(target, &SettingOrigin::Program)))
    }

    /// Adds a check of the calls of a capability (`tool/capability`) with an unknown outcome.
    #[must_use]
    pub fn check(self, of: &str, check: OutcomeCheck) -> Self {
        self.change(|config| config.with_check(of, check))
    }

    /// Says what is expected of the results of a capability (`tool/capability`).
    #[must_use]
    pub fn confirm(self, capability: &str, confirmation: Confirmation) -> Self {
        self.change(|config| config.with_confirmation(capability, confirmation))
    }

    /// Sets which parameters of a capability (`tool/capability`) identify a deed.
    #[must_use]
    pub fn business_key(self, capability: &str, rule: KeyRule) -> Self {
        self.change(|config| config.with_business_key(capability, rule))
    }

    /// Adds a rule about which calls a person approves before they are sent.
    #[must_use]
    pub fn approve(self, rule: ApprovalRule) -> Self {
        self.change(|config| config.with_approval_rule(rule))
    }

    /// Adds the role of a parameter: what it is for. The first one that matches counts.
    #[must_use]
    pub fn role(self, rule: RoleRule) -> Self {
        self.change(|config| Ok(config.with_role(rule)))
    }

    /// Adds results that you vouch for: a value that a model finds in them is sent and told.
    #[must_use]
    pub fn trust(self, rule: TrustRule) -> Self {
        self.change(|config| Ok(config.with_trust(rule)))
    }

    /// Builds prompt templates in code. `builder` gets the templates that it may replace: the built-in ones, or those in
    /// the folder of `[prompts]`. See [`Config::templates`].
    #[must_use]
    pub fn prompts(self, builder: impl PromptBuilder + Send + Sync + 'static) -> Self {
        self.change(|config| Ok(Config { prompt_builder: Some(Opaque(Arc::new(builder))), ..config }))
    }

    /// Writes the log with `write` instead of to standard error. Each line includes its line break. There are no lines
    /// without a [`log_level`](Self::log_level).
    #[must_use]
    pub fn log_to(self, write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.change(|config| Ok(Config { log_writer: Some(Opaque(Arc::new(write))), ..config }))
    }

    /// Returns the configuration. Fails with the first error of any method, or if a prompt template from code is unusable.
    pub fn build(self) -> Result<Config, ConfigError> {
        let config = self.first_error.map_or(Ok(self.config), Err)?;
        if config.prompt_builder.is_some() {
            config.templates()?;
        }
        Ok(config)
    }

    pub(super) fn change(mut self, change: impl FnOnce(Config) -> Result<Config, ConfigError>) -> Self {
        if self.first_error.is_none() {
            match change(std::mem::take(&mut self.config)) {
                Ok(config) => self.config = config,
                Err(error) => self.first_error = Some(error),
            }
        }
        self
    }
}

/// What a method takes.
pub(super) trait Argument {
    fn into_value(self) -> Value;
}

impl<T: Field> Argument for T {
    fn into_value(self) -> Value {
        self.to_value()
    }
}

impl Argument for &str {
    fn into_value(self) -> Value {
        self.into()
    }
}

impl Argument for RedisUrl {
    fn into_value(self) -> Value {
        self.expose().into()
    }
}

impl Argument for WebhookUrl {
    fn into_value(self) -> Value {
        self.expose().into()
    }
}

impl Argument for Option<f64> {
    fn into_value(self) -> Value {
        self.map_or_else(|| "default".into(), f64::into_value)
    }
}

/// A value of the program that cannot be shown.
pub(super) struct Opaque<T: ?Sized>(pub(super) Arc<T>);

impl<T: ?Sized> Clone for Opaque<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> std::fmt::Debug for Opaque<T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("code")
    }
}
