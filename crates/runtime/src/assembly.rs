//! Assembles everything that runs need from a configuration.

use std::sync::Arc;

use reknit_engine::{Earlier, MACHINE_VERSION, Metadata, Policy, SessionRules, Started, Templates};
use reknit_journal::{Journal, RunFilter, RunReadError, RunSummary, StorageError};
use reknit_mend::MendingPolicy;
use reknit_model_api::TargetName;
use reknit_models::{Models, Target};
use reknit_plan::{Catalogue, PlanAuthor};
use reknit_protocol::{Object, Plan, RunId};
use reknit_telemetry::{ModelIdentities, ModelIdentity};
use reknit_tools::{DefinitionChange, DiscoveryProblem, ToolInstance};
use uuid::Uuid;

use crate::approval_webhook::{ApprovalWebhook, WebhookReport};
#[cfg(not(feature = "sqlite"))]
use crate::config::SettingOrigin;
use crate::config::{Config, ConfigBuilder, ConfigError};
use crate::effect_runner::EffectRunner;
use crate::live_catalogue::LiveCatalogue;
use crate::pruner::Pruner;
use crate::remote_engine::RemoteEngine;
use crate::rule_store::RuleStore;
use crate::run_owner::{OwnedCatalogue, RunOwner};
#[cfg(feature = "sqlite")]
use crate::telemetry::log::TARGET;
#[cfg(feature = "otlp")]
use crate::telemetry::{Propagation, otlp::Otlp};
use crate::telemetry::{Sink, Telemetry};
use crate::{
    Breakers, Callbacks, Clock, DriveError, DriveOutcome, Driver, EndpointHealth, Network, RotatingClient, SystemClock,
    Transport,
};

/// Runs requests and plans: a journal, tools, models and rules, ready to use.
///
/// ```no_run
/// use reknit_runtime::Runtime;
/// use reknit_models::Target;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let builder = Runtime::builder()
///     .tool("weather", "http://127.0.0.1:8085")
///     .model(Target::new("local", "http://127.0.0.1:8080/v1", "small"))
///     .plan_retries(1)
///     .semantic_retry(false);
/// let reknit = Runtime::from_builder(builder).await?;
/// println!("{:?}", reknit.ask("What is the weather in Seoul?").await?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Runtime {
    pub journal: Journal,
    /// The capabilities of the tools at the start; see [`Runtime::current_catalogue`].
    pub catalogue: Arc<Catalogue>,
    pub policy: Arc<Policy>,
    /// The rules of agents whose files do not set their own.
    pub session: SessionRules,
    pub templates: Arc<Templates>,
    /// The models, the preferred one first.
    pub targets: Vec<TargetName>,
    /// Why configured tools cannot be used.
    pub problems: Vec<DiscoveryProblem>,
    /// What tools announce that has no effect, such as an unknown key of a summary.
    pub notes: Vec<DiscoveryProblem>,
    pub(crate) agent_defaults: AgentDefaults,
    live: Option<LiveCatalogue>,
    models: Option<Arc<Models>>,
    transport: Arc<dyn Transport>,
    breakers: Arc<Breakers>,
    clock: Arc<SystemClock>,
    callbacks: Option<Arc<Callbacks>>,
    telemetry: Telemetry,
    webhook: Option<Arc<ApprovalWebhook>>,
    pruner: Option<Arc<Pruner>>,
    rules: Option<Arc<RuleStore>>,
    owned: Option<Arc<OwnedCatalogue>>,
    remote: Option<Arc<dyn RemoteEngine>>,
}

/// What agents have instead of the settings of runs.
#[derive(Debug, Clone)]
pub(crate) struct AgentDefaults {
    /// How calls are mended if the agent allows models: the switch for runs does not count.
    pub(crate) mending: MendingPolicy,
    /// Whether the configuration limits the model calls.
    pub(crate) limits_model_calls: bool,
}

impl AgentDefaults {
    pub(crate) fn of(config: &Config) -> Self {
        let limits_model_calls = config.is_configured("limits.model-calls");
        Self { mending: config.agent_mending.clone(), limits_model_calls }
    }
}

/// Why [`Runtime`] cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    #[error("cannot use the configuration")]
    Config(#[from] ConfigError),
    #[error("cannot open the journal")]
    Journal(#[from] reknit_journal::OpenError),
    #[error("cannot use a model")]
    Models(#[from] reknit_models::TargetError),
}

impl Runtime {
    pub fn builder() -> ConfigBuilder {
        ConfigBuilder::default()
    }

    /// Builds the configuration and starts. See [`Runtime::start`].
    pub async fn from_builder(builder: ConfigBuilder) -> Result<Self, StartError> {
        Self::start(builder.build()?).await
    }

    /// Opens the journal, in memory if no path is configured, and asks the tools for their capabilities. A tool that cannot
    /// be used is listed in `problems`; it does not prevent the start.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        config.check_keys()?;
        config.check_prices()?;
        config.check_effect_tools()?;
        let webhook = ApprovalWebhook::configured(&config)?.map(Arc::new);
        let templates = config.templates()?;
        let rules = RuleStore::configured(&config)?.map(Arc::new);
        let callbacks = Callbacks::configured(&config)?.map(Arc::new);
        let models = Arc::new(Models::new(config.models.clone())?);
        let journal = open_journal(&config)?;
        let (sources, providers) = config.open_sources()?;
        let live = LiveCatalogue::start(sources, providers, config.listing_store()).await;
        let found = live.latest();
        config.check_effect_names(&found.catalogue)?;
        let transport = Arc::new(Network { models: Arc::clone(&models), tools: live.tools() });
        let refresh = config.catalogue_refresh;
        let reknit = Self::assemble(config, templates, journal, Arc::clone(&found.catalogue), transport);
        live.refresh_every(refresh);
        if let Some(rules) = &rules {
            rules.note_rejections_in(&reknit.journal).await;
        }
        let (problems, notes) = (found.problems.clone(), found.notes.clone());
        Ok(Self { callbacks, live: Some(live), models: Some(models), problems, notes, webhook, rules, ..reknit })
    }

    /// Sends the telemetry of runs to these sinks instead of the configured log.
    #[must_use]
    pub fn with_telemetry(mut self, telemetry: Telemetry) -> Self {
        let models = Arc::clone(self.telemetry.models());
        self.telemetry = telemetry.with_models(models);
        self
    }

    /// Reports the telemetry of runs to one more sink.
    #[must_use]
    pub fn with_sink(mut self, sink: Arc<dyn Sink>) -> Self {
        self.telemetry = self.telemetry.with(sink);
        self
    }

    /// Starts runs on behalf of an owner, who may have a part of the tools and a monthly budget.
    #[must_use]
    pub fn owned_by(mut self, owner: RunOwner) -> Self {
        self.owned = Some(Arc::new(OwnedCatalogue::new(owner)));
        self
    }

    pub fn owner(&self) -> Option<&Arc<RunOwner>> {
        self.owned.as_ref().map(|owned| &owned.owner)
    }

    /// The summary of a run. A run that the owner may not see is as if it did not exist.
    pub async fn summary(&self, run: &RunId) -> Result<RunSummary, RunReadError> {
        let summary = self.journal.summary(run).await?;
        match self.owner() {
            Some(owner) if !owner.sees(&summary) => Err(RunReadError::NoSuchRun(run.clone())),
            Some(_) | None => Ok(summary),
        }
    }

    /// Whether the owner started a run, or nobody did if there is no owner. An owner may see runs that it has not started.
    pub fn owns(&self, run: &RunSummary) -> bool {
        run.owner.as_ref() == self.owner().map(|owner| &owner.name)
    }

    /// The only run that the owner may see and that `part` of an id can mean; `None` if there is none, or more than one.
    pub async fn run_meant_by(&self, part: &str) -> Result<Option<RunId>, StorageError> {
        let mut found = match self.owner() {
            // Runs of others must not make a part of an id ambiguous: that would tell which ids they have.
            Some(owner) if !owner.sees_all_runs => {
                let own = self.runs(&RunFilter::newest(u32::MAX)).await?;
                own.into_iter().map(|run| run.run).filter(|run| run.can_be_meant_by(part)).collect()
            }
            Some(_) | None => self.journal.runs_meant_by(part, 2).await?,
        };
        Ok(found.pop().filter(|_| found.is_empty()))
    }

    /// Summaries of the runs that the owner may see, newest first.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Vec<RunSummary>, StorageError> {
        if let Some(after) = &filter.after {
            match self.summary(after).await {
                Ok(_) => {}
                // Also a run that the owner may not see: nothing tells when it was created.
                Err(RunReadError::NoSuchRun(_)) => return Ok(Vec::new()),
                Err(RunReadError::Storage(error)) => return Err(error),
            }
        }
        let own = self.owner().filter(|owner| !owner.sees_all_runs).map(|owner| owner.name.clone());
        self.journal.runs(&RunFilter { owner: own.or_else(|| filter.owner.clone()), ..filter.clone() }).await
    }

    /// A client that asks the models outside of a run, in the order and by the rules of the configuration. None without models, and
    /// with a transport of one's own.
    pub fn model_client(&self) -> Option<RotatingClient> {
        let models = self.models.as_ref().filter(|_| !self.targets.is_empty())?;
        let (targets, rules) = (self.targets.clone(), self.policy.rotation.clone());
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        Some(RotatingClient::new(Arc::clone(models), targets, rules, Arc::clone(&self.breakers), clock))
    }

    /// The capabilities of the tools as they are known now. With `tools.refresh`, they are asked again in the background.
    pub fn current_catalogue(&self) -> Arc<Catalogue> {
        let all =
            self.live.as_ref().map_or_else(|| Arc::clone(&self.catalogue), |live| Arc::clone(&live.latest().catalogue));
        match &self.owned {
            Some(owned) => owned.part_of(all),
            None => all,
        }
    }

    /// The capabilities of the tools that can be reached now, as far as is known.
    pub fn reachable_catalogue(&self) -> Catalogue {
        let Some(live) = &self.live else { return self.catalogue.as_ref().clone() };
        let found = live.latest();
        let tools = found.catalogue.tools.iter().filter(|tool| !found.stale.contains(&tool.name)).cloned();
        Catalogue { tools: tools.collect() }
    }

    /// Why configured tools cannot be used, as it is known now.
    pub fn current_problems(&self) -> Vec<DiscoveryProblem> {
        self.live.as_ref().map_or_else(|| self.problems.clone(), |live| live.latest().problems.clone())
    }

    /// Where each tool is, and whether it answered when it was last asked for its capabilities.
    pub fn tool_instances(&self) -> Vec<ToolInstance> {
        self.live.as_ref().map(|live| live.latest().instances.clone()).unwrap_or_default()
    }

    pub fn tool_health(&self, tool: &str) -> EndpointHealth {
        self.breakers.tool_health(tool)
    }

    pub fn model_health(&self, target: &TargetName) -> EndpointHealth {
        self.breakers.model_health(target)
    }

    /// A model as it is configured; none with a transport of one's own.
    pub fn target(&self, name: &TargetName) -> Option<&Target> {
        self.models.as_ref()?.target(name)
    }

    /// Asks all tools for their capabilities again. Runs that have started keep those they know. Returns what cannot be used.
    pub async fn refresh_tools(&self) -> Vec<DiscoveryProblem> {
        match &self.live {
            Some(live) => live.refresh().await.problems.clone(),
            None => Vec::new(),
        }
    }

    /// The capabilities whose definitions differ from those that were first seen, and those that were added since. Those that are
    /// withheld cannot be called until the change is accepted.
    pub fn definition_changes(&self) -> Vec<DefinitionChange> {
        self.live.as_ref().map(|live| live.latest().changes.clone()).unwrap_or_default()
    }

    /// Accepts the new definition of a capability, and asks all tools again. Returns what cannot be used.
    pub async fn accept_definition(&self, change: &DefinitionChange) -> std::io::Result<Vec<DiscoveryProblem>> {
        if let Some(live) = &self.live {
            live.accept(change)?;
        }
        Ok(self.refresh_tools().await)
    }

    /// Starts with another transport, which reaches the tools and models; the addresses in the configuration are not used.
    pub fn with_transport(
        transport: Arc<dyn Transport>,
        catalogue: Catalogue,
        config: Config,
    ) -> Result<Self, StartError> {
        let webhook = ApprovalWebhook::configured(&config)?.map(Arc::new);
        let rules = RuleStore::configured(&config)?.map(Arc::new);
        let templates = config.templates()?;
        let journal = open_journal(&config)?;
        Ok(Self { webhook, rules, ..Self::assemble(config, templates, journal, Arc::new(catalogue), transport) })
    }

    fn assemble(
        config: Config,
        templates: Templates,
        journal: Journal,
        catalogue: Arc<Catalogue>,
        transport: Arc<dyn Transport>,
    ) -> Self {
        let clock = Arc::new(SystemClock::new());
        Self {
            agent_defaults: AgentDefaults::of(&config),
            telemetry: Telemetry::configured(&config).with_models(Arc::new(model_identities(&config.models))),
            pruner: Pruner::new(&journal, config.keep.retention()),
            journal,
            catalogue,
            policy: Arc::new(config.policy),
            session: config.session,
            templates: Arc::new(templates),
            targets: config.models.into_iter().map(|target| target.name).collect(),
            problems: Vec::new(),
            notes: Vec::new(),
            live: None,
            callbacks: None,
            webhook: None,
            owned: None,
            remote: None,
            rules: None,
            models: None,
            transport,
            breakers: Arc::new(
                Breakers::new(config.call_limits, config.breakers, Arc::clone(&clock) as _)
                    .with_tool_limits(config.tool_limits),
            ),
            clock,
        }
    }

    /// Plans a request with a model and runs the plan.
    pub async fn ask(&self, request: &str) -> Result<DriveOutcome, DriveError> {
        self.driver().start(self.started(request, None)).await
    }

    pub async fn run(&self, plan: Plan) -> Result<DriveOutcome, DriveError> {
        let request = plan.original_request.clone();
        self.driver().start(self.started(&request, Some(plan))).await
    }

    /// The start of a run of a request or of a plan, with a new id.
    ///
    /// ```no_run
    /// # async fn example(reknit: reknit_runtime::Runtime) -> Result<(), Box<dyn std::error::Error>> {
    /// use reknit_engine::Metadata;
    ///
    /// // In the journal and in the spans. Models see the keys of `ConfigBuilder::prompt_metadata`.
    /// let metadata = Metadata::from_pairs([("tenant", "acme"), ("user", "ann")])?;
    /// let started = reknit.started("What is the weather in Seoul?", None).with_metadata(metadata);
    /// println!("{:?}", reknit.driver().start(started).await?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn started(&self, request: &str, plan: Option<Plan>) -> Started {
        let (run, seed) = new_run_id();
        Started {
            run,
            request: request.to_owned(),
            plan,
            plan_author: PlanAuthor::Person,
            inputs: Object::new(),
            attachments: Vec::new(),
            agents: Vec::new(),
            metadata: Metadata::default(),
            catalogue: self.current_catalogue(),
            targets: self.targets.clone(),
            policy: self.policy_with_rules(),
            templates: Arc::clone(&self.templates),
            mappings: Vec::new(),
            seed,
            trace_parent: None,
            fork: None,
            earlier: Earlier::default(),
            machine_version: MACHINE_VERSION,
        }
    }

    /// The policy of a run that starts now, with the learned rules that are accepted.
    pub fn policy_with_rules(&self) -> Arc<Policy> {
        match &self.rules {
            Some(rules) => rules.policy(&self.policy),
            None => Arc::clone(&self.policy),
        }
    }

    /// The file with learned rules, if one is configured.
    pub fn rule_store(&self) -> Option<&Arc<RuleStore>> {
        self.rules.as_ref()
    }

    /// Exports the traces and metrics of all runs and sessions to a collector, beside the configured log. New runs belong to
    /// the trace of `parent`. Call [`Otlp::deliver`] before the program ends.
    ///
    /// ```no_run
    /// # async fn example(reknit: reknit_runtime::Runtime) -> Result<(), Box<dyn std::error::Error>> {
    /// use reknit_runtime::telemetry::otlp::Otlp;
    ///
    /// // The standard variables, such as `OTEL_EXPORTER_OTLP_ENDPOINT`.
    /// let collector = Otlp::from_environment(&|name| std::env::var(name).ok())?;
    /// if let Some(collector) = collector {
    ///     let reknit = reknit.with_collector(&collector, None);
    ///     reknit.ask("What is the weather in Seoul?").await?;
    ///     collector.deliver().await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "otlp")]
    #[must_use]
    pub fn with_collector(mut self, collector: &Arc<Otlp>, parent: Option<reknit_engine::TraceParent>) -> Self {
        self.telemetry = self.telemetry.tracing(parent, Propagation::PassedOn).with_collector(collector);
        self
    }

    /// A driver for runs and sessions. All drivers share the call limits and circuit breakers. It writes the configured log;
    /// [`Driver::with_telemetry`] replaces the log.
    pub fn driver(&self) -> Driver {
        let (transport, clock) = (Arc::clone(&self.transport), Arc::clone(&self.clock));
        let driver = Driver::with_breakers(self.journal.clone(), transport, clock as _, Arc::clone(&self.breakers));
        let driver = driver
            .with_webhook(self.webhook.clone())
            .with_pruner(self.pruner.clone())
            .with_rules(self.rules.clone())
            .with_owner(self.owner().cloned())
            .with_remote(self.remote.clone())
            .with_callbacks(self.callbacks.clone());
        driver.with_telemetry(self.telemetry.clone())
    }

    pub(crate) fn has_remote_engine(&self) -> bool {
        self.remote.is_some()
    }

    /// Lets an engine elsewhere keep and drive the runs. The journal gets a copy of their events, which people and programs read.
    #[must_use]
    pub fn with_remote(self, remote: Arc<dyn RemoteEngine>) -> Self {
        Self { remote: Some(remote), ..self }
    }

    /// Performs single effects of runs that an engine elsewhere keeps.
    pub fn effect_runner(&self) -> EffectRunner {
        self.driver().effect_runner()
    }

    /// Waits until the approval webhook has heard of the questions of a run, or cannot be reached. Call it when a run waits; if it
    /// decided, resume the run. Without a webhook nothing happens.
    pub async fn settle_webhook(&self, run: &RunId) -> WebhookReport {
        match &self.webhook {
            Some(webhook) => webhook.settle(run).await,
            None => WebhookReport::default(),
        }
    }
}

/// A random id for a run or a session, and the seed of its jitter, which follows from the id.
pub fn new_run_id() -> (RunId, u64) {
    let id = Uuid::now_v7();
    let (high, low) = id.as_u64_pair();
    (RunId::new(id.to_string()), high ^ low)
}

/// The provider and the model of each target, for telemetry.
fn model_identities(targets: &[Target]) -> ModelIdentities {
    let identity =
        |target: &Target| ModelIdentity { provider: target.provider.as_str().to_owned(), model: target.model.clone() };
    targets.iter().map(|target| (target.name.clone(), identity(target))).collect()
}

/// Fails if the configuration names a file.
#[cfg(not(feature = "sqlite"))]
fn open_journal(config: &Config) -> Result<Journal, StartError> {
    match &config.journal {
        Some(path) => {
            let path = path.display();
            let problem =
                format!("runs cannot be kept in `{path}`: this program was built without the feature `sqlite`");
            Err(ConfigError::Invalid { origin: SettingOrigin::Program, problem }.into())
        }
        None => Ok(Journal::in_memory()),
    }
}

#[cfg(feature = "sqlite")]
fn open_journal(config: &Config) -> Result<Journal, StartError> {
    match &config.journal {
        Some(path) => {
            let journal = Journal::open(path, config.durability)?;
            if let Some(migration) = journal.migration() {
                let (from, to, backup) = (migration.from, migration.to, migration.backup.display());
                tracing::warn!(target: TARGET, "upgraded the journal from format {from} to {to}; a copy is at `{backup}`");
            }
            Ok(journal)
        }
        None => Ok(Journal::in_memory()),
    }
}
