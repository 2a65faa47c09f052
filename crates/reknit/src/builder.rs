//! Builds a [`Reknit`].

use std::fmt;
#[cfg(feature = "sqlite")]
use std::path::Path;
use std::sync::Arc;

use reknit_models::{ModelClient, Target};
#[cfg(feature = "macros")]
use reknit_protocol::ToolError;
use reknit_runtime::StartError;
#[cfg(feature = "sqlite")]
use reknit_runtime::config::SettingOrigin;
use reknit_runtime::config::{Config, ConfigBuilder, ConfigError};
#[cfg(feature = "otlp")]
use reknit_runtime::telemetry::otlp::Otlp;
use reknit_tools::ToolSource;
#[cfg(feature = "macros")]
use {schemars::JsonSchema, serde::Serialize, serde::de::DeserializeOwned};

use crate::reknit::Reknit;
use crate::tool::Tool;

type Change = Box<dyn FnOnce(ConfigBuilder) -> ConfigBuilder + Send>;

/// Collects tools, models and settings, then starts. Order matters only for models: the first one is preferred.
#[derive(Default)]
#[must_use = "nothing happens before `start`"]
pub struct ReknitBuilder {
    changes: Vec<Change>,
    uses_environment: bool,
    clients: usize,
    #[cfg(feature = "otlp")]
    collector: Option<Arc<Otlp>>,
    error: Option<ConfigError>,
}

impl fmt::Debug for ReknitBuilder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { changes, uses_environment, .. } = self;
        let out = &mut out.debug_struct("ReknitBuilder");
        out.field("changes", &changes.len()).field("uses_environment", uses_environment).finish_non_exhaustive()
    }
}

impl Reknit {
    /// A builder without tools and models.
    pub fn builder() -> ReknitBuilder {
        ReknitBuilder::default()
    }
}

impl ReknitBuilder {
    /// Adds functions of the program, made by the attribute `#[reknit::tool]` or by [`Tool::new`].
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        for tool in tools {
            let (service, definition) = tool.into_parts();
            self = self.configure(move |config| config.tool_capability(&service, definition));
        }
        self
    }

    /// Adds a function of the program without the attribute. It takes one argument, whose type is the schema; plans call it
    /// `SERVICE/NAME`, and its side effects are undeclared.
    ///
    /// ```
    /// use reknit::protocol::ToolError;
    ///
    /// async fn shout(text: std::collections::BTreeMap<String, String>) -> Result<String, ToolError> {
    ///     Ok(text.values().map(|word| word.to_uppercase()).collect())
    /// }
    ///
    /// let builder = reknit::Reknit::builder().tool_fn("words", "shout", shout);
    /// ```
    #[cfg(feature = "macros")]
    pub fn tool_fn<Args, Output, F, R>(self, service: &str, name: &str, function: F) -> Self
    where
        Args: DeserializeOwned + JsonSchema + Send + 'static,
        Output: Serialize,
        F: Fn(Args) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Output, ToolError>> + Send,
    {
        let (service, name) = (service.to_owned(), name.to_owned());
        self.configure(move |config| config.tool_fn(&service, &name, function))
    }

    /// Adds a service that speaks the tool protocol: its name in plans, and its base URL.
    #[cfg(feature = "http")]
    pub fn tool_service(self, name: &str, url: &str) -> Self {
        let (name, url) = (name.to_owned(), url.to_owned());
        self.configure(move |config| config.tool(&name, &url))
    }

    /// Adds any source of tools, such as `tools::OpenApiService`.
    pub fn tool_source(self, source: Arc<dyn ToolSource>) -> Self {
        self.configure(move |config| config.tool_source(source))
    }

    /// Adds a model on a server. It is asked if those before it do not answer.
    pub fn model(self, model: Target) -> Self {
        self.configure(move |config| config.model(model))
    }

    /// Adds a model that code of the program asks, such as a [`ModelScript`](crate::ModelScript). It is called `model-1`, the next
    /// one `model-2`; [`Target::of_client`] gives it another name.
    pub fn model_client(mut self, client: impl ModelClient) -> Self {
        self.clients += 1;
        let name = format!("model-{}", self.clients);
        self.model(Target::of_client(name, client))
    }

    /// Keeps the runs in this file, so that they survive the process. Without a file they are kept in memory.
    #[cfg(feature = "sqlite")]
    pub fn journal(mut self, path: impl AsRef<Path>) -> Self {
        let Some(path) = path.as_ref().to_str().map(str::to_owned) else {
            let problem = format!("the path of the journal is not UTF-8: {}", path.as_ref().display());
            self.error = Some(ConfigError::Invalid { origin: SettingOrigin::Program, problem });
            return self;
        };
        self.configure(move |config| config.journal_path(&path))
    }

    /// Also reads the settings of environment variables, such as `REKNIT_LIMITS_CALL_TIME`. What the program sets counts more.
    pub fn environment(mut self) -> Self {
        self.uses_environment = true;
        self
    }

    /// Exports traces and metrics to a collector. Call [`Otlp::deliver`] before the program ends.
    #[cfg(feature = "otlp")]
    pub fn otlp(mut self, collector: &Arc<Otlp>) -> Self {
        self.collector = Some(Arc::clone(collector));
        self
    }

    /// Changes any setting: [`ConfigBuilder`] has a method for each.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let builder = reknit::Reknit::builder().configure(|config| config.plan_retries(1).call_time(Duration::from_secs(10)));
    /// ```
    pub fn configure(mut self, change: impl FnOnce(ConfigBuilder) -> ConfigBuilder + Send + 'static) -> Self {
        self.changes.push(Box::new(change));
        self
    }

    /// Opens the journal and lists the tools. A tool that cannot be used does not prevent the start: [`Reknit::problems`] names it.
    pub async fn start(self) -> Result<Reknit, StartError> {
        if let Some(error) = self.error {
            return Err(error.into());
        }
        let config = if self.uses_environment {
            Config::from_environment(&|name| std::env::var(name).ok())?
        } else {
            Config::default()
        };
        let config = self.changes.into_iter().fold(ConfigBuilder::from(config), |config, change| change(config));
        let runtime = Box::pin(reknit_runtime::Runtime::from_builder(config)).await?;
        #[cfg(feature = "otlp")]
        let runtime = match &self.collector {
            Some(collector) => runtime.with_collector(collector, None),
            None => runtime,
        };
        Ok(Reknit::from(runtime))
    }
}
