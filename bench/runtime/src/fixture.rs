//! What a driver needs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reknit_engine::{Limits, MACHINE_VERSION, Metadata, Policy, Started, Status, Synthesis, Templates};
use reknit_journal::{Durability, Journal};
use reknit_models::Models;
use reknit_plan::{Catalogue, PlanAuthor};
use reknit_protocol::{CallTool, ToolReply};
use reknit_protocol::{Object, Plan, SideEffect, Step, Value};
use reknit_runtime::{CallLimits, DriveOutcome, Driver, Network, SystemClock, Transport};
use reknit_tools::{Address, Client, Tools};

use crate::Result;
use crate::server::NAME;

/// Where a journal is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Level {
    File(Durability),
    Memory,
}

pub const LEVELS: [Level; 4] =
    [Level::File(Durability::Full), Level::File(Durability::Normal), Level::File(Durability::Off), Level::Memory];

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Self::File(Durability::Full) => "Full",
            Self::File(Durability::Normal) => "Normal",
            Self::File(Durability::Off) => "Off",
            Self::Memory => "in memory",
        }
    }

    /// Opens a new journal; `name` is part of its file name.
    pub fn journal(self, folder: &Path, name: &str) -> Result<Journal> {
        Ok(match self {
            Self::File(durability) => Journal::open(&folder.join(format!("{name}-{}.db", self.name())), durability)?,
            Self::Memory => Journal::in_memory(),
        })
    }
}

/// The tools and what all runs share.
pub struct Fixture {
    folder: PathBuf,
    pub tools: Tools,
    catalogue: Arc<Catalogue>,
    policy: Arc<Policy>,
    templates: Arc<Templates>,
    runs: AtomicU64,
}

impl Fixture {
    pub async fn new(url: &str, folder: &Path) -> Result<Self> {
        let found = Client::new()?.discover(&[Address::parse(NAME, url)?]).await;
        if let Some(problem) = found.problems.into_iter().next() {
            return Err(problem.into());
        }
        // The chains have more steps than the default allows, and a held call lasts until all runs have started.
        let limits = Limits { tool_calls: 10_000, call_ms: 600_000, ..Limits::default() };
        Ok(Self {
            folder: folder.to_owned(),
            tools: found.tools,
            catalogue: Arc::new(found.catalogue),
            policy: Arc::new(Policy { synthesis: Synthesis::Template, limits, ..Policy::default() }),
            templates: Arc::new(Templates::default()),
            runs: AtomicU64::new(0),
        })
    }

    /// A driver that calls the tools over the network.
    pub fn driver(&self, level: Level, name: &str, limits: CallLimits) -> Result<Driver> {
        let models = Arc::new(Models::new(Vec::new())?);
        self.driver_with_transport(Arc::new(Network { models, tools: self.tools.clone() }), level, name, limits)
    }

    /// A driver with another transport.
    pub fn driver_with_transport(
        &self,
        transport: Arc<dyn Transport>,
        level: Level,
        name: &str,
        limits: CallLimits,
    ) -> Result<Driver> {
        let journal = level.journal(&self.folder, name)?;
        Ok(Driver::new(journal, transport, Arc::new(SystemClock::new()), limits))
    }

    /// The start of a new run.
    pub fn started(&self, plan: &Plan) -> Started {
        Started {
            run: format!("run-{}", self.runs.fetch_add(1, Ordering::Relaxed)).as_str().into(),
            request: plan.original_request.clone(),
            plan: Some(plan.clone()),
            plan_author: PlanAuthor::Person,
            inputs: Object::new(),
            attachments: Vec::new(),
            agents: Vec::new(),
            metadata: Metadata::default(),
            catalogue: Arc::clone(&self.catalogue),
            targets: Vec::new(),
            policy: Arc::clone(&self.policy),
            templates: Arc::clone(&self.templates),
            mappings: Vec::new(),
            seed: 7,
            trace_parent: None,
            fork: None,
            earlier: reknit_engine::Earlier::default(),
            machine_version: MACHINE_VERSION,
        }
    }

    /// Makes one call directly, without a driver.
    pub async fn call(&self, capability: &str, parameters: &str) -> Result<ToolReply> {
        let call = CallTool {
            id: "bare/call/1".parse().unwrap(),
            step: "bare".into(),
            tool: NAME.into(),
            capability: capability.into(),
            parameters: object(parameters)?,
            side_effect: SideEffect::Read,
            idempotency_key: None,
            business_key: None,
            timeout_ms: 600_000,
            job: None,
            callback: None,
        };
        let reply = self.tools.call(&call).await?;
        if reply.status != 200 {
            Err(format!("the tool responds with status {}", reply.status).into())
        } else {
            Ok(reply)
        }
    }
}

/// Drives a run to its end. Fails if it does not complete.
pub async fn drive(driver: &Driver, started: Started) -> Result<()> {
    match driver.start(started).await? {
        DriveOutcome::Finished(answer) if answer.status == Status::Complete => Ok(()),
        DriveOutcome::Finished(answer) => {
            Err(format!("a run ended as {}: {}", answer.status.as_str(), answer.text).into())
        }
        DriveOutcome::Reported(report) => Err(format!("a session ended: {}", report.content).into()),
        DriveOutcome::Waiting => Err("a run waits for a person".into()),
    }
}

pub fn object(text: &str) -> Result<Object> {
    Value::parse(text)?.as_object().cloned().ok_or_else(|| format!("{text} is not an object").into())
}

/// A step that calls the tool.
pub fn step(id: &str, capability: &str, parameters: &str) -> Result<Step> {
    Ok(Step::new(id, NAME, capability, "").with_parameters(object(parameters)?))
}

/// A chain of calls, each with the result of the one before.
pub fn chain(capability: &str, steps: usize) -> Result<Plan> {
    let steps = (0..steps).map(|number| {
        let after = number.checked_sub(1).map(|last| format!("{{{{s{last}.token}}}}")).unwrap_or_default();
        step(&format!("s{number}"), capability, &format!(r#"{{"after": "{after}"}}"#))
    });
    Ok(Plan::new("chain", "a chain", steps.collect::<Result<_>>()?))
}
