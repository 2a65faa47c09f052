//! Everything that runs need, put together.

use std::sync::Arc;

use reknit_dialogue::TargetName;
use reknit_engine::{MACHINE_VERSION, Policy, SessionRules, Started, Templates};
use reknit_journal::Journal;
use reknit_models::Models;
use reknit_plan::Catalogue;
use reknit_protocol::{Object, Plan, RunId};
use reknit_tools::{Client, Problem};
use uuid::Uuid;

use crate::config::{Builder, Config, ConfigError};
use crate::telemetry::Telemetry;
use crate::{DriveError, Driver, Edge, Ended, Gates, Network, SystemClock};

/// Runs requests and plans over tools: the journal, the tools, the models and the rules, put together.
///
/// ```no_run
/// use reknit_runtime::Reknit;
/// use reknit_models::Target;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let reknit = Reknit::builder()
///     .tool("weather", "http://127.0.0.1:8085")
///     .model(Target::new("local", "http://127.0.0.1:8080/v1", "small"))
///     .plan_retries(1)
///     .semantic_retry(false)
///     .start()
///     .await?;
/// println!("{:?}", reknit.ask("What is the weather in Seoul?").await?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Reknit {
    /// Where runs are kept.
    pub journal: Journal,
    /// What tools there are.
    pub catalogue: Arc<Catalogue>,
    /// The rules of runs.
    pub policy: Arc<Policy>,
    /// The rules of sessions, for agents that say nothing else.
    pub session: SessionRules,
    /// The words in which models are asked.
    pub templates: Arc<Templates>,
    /// The models that may be asked, the preferred one first.
    pub targets: Vec<TargetName>,
    /// What is wrong with tools that were named.
    pub problems: Vec<Problem>,
    edge: Arc<dyn Edge>,
    gates: Arc<Gates>,
    clock: Arc<SystemClock>,
    telemetry: Telemetry,
}

/// Why nothing can run.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A setting cannot be used.
    #[error("cannot use the configuration")]
    Config(#[from] ConfigError),
    /// The journal cannot be opened.
    #[error("cannot open the journal")]
    Journal(#[from] reknit_journal::OpenError),
    /// A model cannot be used.
    #[error("a model cannot be used")]
    Models(#[from] reknit_models::ConfigError),
    /// There is no way to the tools.
    #[error("cannot start the HTTP client")]
    Client(#[from] reknit_tools::ClientError),
}

impl Reknit {
    /// Says what is set, one method for each setting.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Puts everything together: opens the journal, which is in memory if none is named, and asks the tools what they can
    /// do. A tool that cannot be used is among the problems, and the others are used.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        config.check_keys()?;
        config.check_prices()?;
        let templates = config.templates()?;
        let models = Arc::new(Models::new(config.models.clone())?);
        let journal = open(&config)?;
        let found = Client::new()?.discover(&config.tools).await;
        let edge = Arc::new(Network { models, tools: found.tools });
        let reknit = Self::assembled(config, templates, journal, found.catalogue, edge);
        Ok(Self { problems: found.problems, ..reknit })
    }

    /// The same with tools and models that are reached in another way; those of the configuration are not asked.
    pub fn through(edge: Arc<dyn Edge>, catalogue: Catalogue, config: Config) -> Result<Self, StartError> {
        let templates = config.templates()?;
        let journal = open(&config)?;
        Ok(Self::assembled(config, templates, journal, catalogue, edge))
    }

    fn assembled(
        config: Config,
        templates: Templates,
        journal: Journal,
        catalogue: Catalogue,
        edge: Arc<dyn Edge>,
    ) -> Self {
        let clock = Arc::new(SystemClock::new());
        Self {
            telemetry: config.telemetry(),
            journal,
            catalogue: Arc::new(catalogue),
            policy: Arc::new(config.policy),
            session: config.session,
            templates: Arc::new(templates),
            targets: config.models.into_iter().map(|target| target.name).collect(),
            problems: Vec::new(),
            edge,
            gates: Arc::new(Gates::new(config.call_limits, config.rests, Arc::clone(&clock) as _)),
            clock,
        }
    }

    /// Plans a request with a model and runs it.
    pub async fn ask(&self, request: &str) -> Result<Ended, DriveError> {
        self.driver().start(self.started(request, None)).await
    }

    /// Runs a plan that is written already.
    pub async fn run(&self, plan: Plan) -> Result<Ended, DriveError> {
        let request = plan.original_request.clone();
        self.driver().start(self.started(&request, Some(plan))).await
    }

    /// How a run begins. Its id is the only thing in it that is left to chance.
    pub fn started(&self, request: &str, plan: Option<Plan>) -> Started {
        let id = Uuid::now_v7();
        let (high, low) = id.as_u64_pair();
        Started {
            run: RunId::new(id.to_string()),
            request: request.to_owned(),
            plan,
            inputs: Object::new(),
            catalogue: Arc::clone(&self.catalogue),
            targets: self.targets.clone(),
            policy: Arc::clone(&self.policy),
            templates: Arc::clone(&self.templates),
            mappings: Vec::new(),
            seed: high ^ low,
            trace_parent: None,
            machine_version: MACHINE_VERSION,
        }
    }

    /// What drives runs and sessions; all of them share what services can bear. It writes the log, and whoever else is to
    /// be [told](Driver::telling) takes the place of that.
    pub fn driver(&self) -> Driver {
        let (edge, clock) = (Arc::clone(&self.edge), Arc::clone(&self.clock));
        Driver::through(self.journal.clone(), edge, clock as _, Arc::clone(&self.gates)).telling(self.telemetry.clone())
    }
}

fn open(config: &Config) -> Result<Journal, reknit_journal::OpenError> {
    match &config.journal {
        Some(path) => Journal::open(path, config.durability),
        None => Ok(Journal::in_memory()),
    }
}

impl Builder {
    /// Puts everything together. See [`Reknit::start`].
    pub async fn start(self) -> Result<Reknit, StartError> {
        Reknit::start(self.build()?).await
    }
}
