//! Runs requests, plans and agents.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use reknit_engine::SessionStarted;
use reknit_journal::{LeaseInfo, RunFilter, RunSummary, StatusFilter, StorageError};
use reknit_plan::Catalogue;
use reknit_protocol::{Object, Plan, RunId};
use reknit_runtime::agent::{Agent, AgentProblem};
use reknit_runtime::telemetry::Sink;
use reknit_runtime::{AgentStartError, NamedAgent, RunOwner, RunStart, Runtime, load_run, system_ms};
use reknit_tools::DiscoveryProblem;

use crate::run_handle::RunHandle;
use crate::run_task::{Beginning, spawn};

/// Runs requests, plans and agents over tools, and mends what breaks. Cloning is cheap.
///
/// Every run goes on in a task of its own, also if its [`RunHandle`] is dropped, so the methods that start one need a tokio runtime.
#[derive(Debug, Clone)]
pub struct Reknit {
    runtime: Runtime,
    /// Unfinished runs whose tools this process does not have, each with the tools that were known when it was looked at.
    left: Arc<Mutex<HashMap<RunId, Arc<Catalogue>>>>,
}

/// Why an agent cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The text is not the text of an agent file.
    #[error("the agent cannot be used: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Text(Vec<AgentProblem>),
    /// It names files, which only [`Reknit::named_agent`] and the command line can use.
    #[error("the agent names files (`agents` or a schema file); read them, and use `named_agent`")]
    Files,
    /// It uses something that is not there.
    #[error(transparent)]
    Start(#[from] AgentStartError),
}

impl From<Runtime> for Reknit {
    /// A façade for a runtime that a program assembled itself.
    fn from(runtime: Runtime) -> Self {
        Self { runtime, left: Arc::default() }
    }
}

impl Reknit {
    /// Plans a request with a model and runs the plan.
    pub fn ask(&self, request: &str) -> RunHandle {
        self.start(self.runtime.started(request, None))
    }

    /// Runs a plan. `inputs` are the values of the inputs that it declares.
    pub fn run_plan(&self, plan: Plan, inputs: impl Into<Object>) -> RunHandle {
        let mut started = self.runtime.started(&plan.original_request.clone(), Some(plan));
        started.inputs = inputs.into();
        self.start(started)
    }

    /// Starts a session with an agent. `agent` is the text of an agent file: settings between two lines of three dashes, then the
    /// prompt; or the prompt alone.
    pub fn agent(&self, agent: &str, input: &str) -> Result<RunHandle, AgentError> {
        Ok(self.start(self.session(agent, input)?))
    }

    /// The start of a session with an agent, for [`Reknit::start`]: it can get an id and metadata first.
    pub fn session(&self, agent: &str, input: &str) -> Result<SessionStarted, AgentError> {
        let agent = Agent::read(agent, &self.runtime.session).map_err(AgentError::Text)?;
        if !agent.agents.is_empty() || agent.schema_file.is_some() {
            return Err(AgentError::Files);
        }
        Ok(self.runtime.session_started(NamedAgent { name: "agent".to_owned(), agent, agents: Vec::new() }, input)?)
    }

    /// Starts a session with an agent that may call other agents.
    pub fn named_agent(&self, agent: NamedAgent, input: &str) -> Result<RunHandle, AgentStartError> {
        Ok(self.start(self.runtime.session_started(agent, input)?))
    }

    /// Starts a run or a session with an id, metadata and the like. [`Runtime::started`] makes a start. If the journal has a run with
    /// this id and the same request, the handle is one of that run.
    pub fn start(&self, start: impl Into<RunStart>) -> RunHandle {
        let start: RunStart = start.into();
        let run = start.run().clone();
        RunHandle::new(spawn(&self.runtime, run, Beginning::New(Box::new(start))))
    }

    /// Continues a run of the journal, or returns the outcome of one that has ended. While another process drives it, this waits. A run
    /// that needs tools or models that this process does not have stays as it is, and the outcome is an error.
    pub fn resume(&self, run: &RunId) -> RunHandle {
        RunHandle::new(spawn(&self.runtime, run.clone(), Beginning::Resumed))
    }

    /// Tries the failed and skipped steps of a run again that has ended. Done steps stay done.
    pub fn retry(&self, run: &RunId) -> RunHandle {
        RunHandle::new(spawn(&self.runtime, run.clone(), Beginning::Retried))
    }

    /// Goes on with a session that has ended: with the next message of the user. The session knows what it knew, its limits count
    /// anew for this message, and the outcome is the report about it. [`Reknit::resume`] continues after a crash.
    pub fn follow_up(&self, run: &RunId, input: &str) -> RunHandle {
        RunHandle::new(spawn(&self.runtime, run.clone(), Beginning::FollowedUp(input.to_owned())))
    }

    /// Watches a run of the journal without driving it: another process does. Its events arrive within a moment.
    pub fn follow(&self, run: &RunId) -> RunHandle {
        RunHandle::new(spawn(&self.runtime, run.clone(), Beginning::Followed))
    }

    /// Continues all runs of the journal that have not ended and that no other process drives, for example after a crash. Parked runs
    /// are left alone, and so are those that need tools or models that this process does not have: the log names them. The oldest run
    /// comes first.
    pub async fn resume_unfinished(&self) -> Result<Vec<RunHandle>, StorageError> {
        let is_free = |lease: &LeaseInfo| lease.may_be_taken_over(system_ms());
        self.resume_all(|run| run.lease.as_ref().is_none_or(is_free)).await
    }

    /// Continues all runs whose process has died while it drove them, and those that [`resume_unfinished`](Self::resume_unfinished) left
    /// alone and that have their tools now. Runs that wait for a person are left alone. The oldest run comes first.
    pub async fn resume_abandoned(&self) -> Result<Vec<RunHandle>, StorageError> {
        let has_died = |lease: &LeaseInfo| lease.may_be_taken_over(system_ms());
        self.resume_all(|run| run.lease.as_ref().map_or_else(|| self.left.lock().contains_key(&run.run), has_died))
            .await
    }

    async fn resume_all(&self, is_chosen: impl Fn(&RunSummary) -> bool) -> Result<Vec<RunHandle>, StorageError> {
        let filter = RunFilter::of_status(StatusFilter::Unfinished, u32::MAX);
        let mut runs = self.runtime.journal.runs(&filter).await?;
        runs.reverse();
        let mut ready = Vec::new();
        for run in runs.into_iter().filter(|run| run.parked.is_none() && is_chosen(run)) {
            if self.can_go_on(&run.run).await {
                ready.push(run.run);
            }
        }
        // All at once: if the caller stops waiting for this, no run goes on without a handle.
        Ok(ready.into_iter().map(|run| RunHandle::new(spawn(&self.runtime, run, Beginning::Checked))).collect())
    }

    /// Whether this process has what an unfinished run needs.
    async fn can_go_on(&self, run: &RunId) -> bool {
        let tools = self.runtime.current_catalogue();
        // With the same tools, nothing has changed since.
        if self.left.lock().get(run).is_some_and(|known| Arc::ptr_eq(known, &tools)) {
            return false;
        }
        // A run that cannot be read is resumed: its handle says why it cannot go on.
        let Ok(saved) = load_run(&self.runtime.journal, run).await else { return true };
        let missing = self.runtime.missing_for(&saved.machine);
        if missing.is_empty() {
            self.left.lock().remove(run);
            return true;
        }
        if self.left.lock().insert(run.clone(), tools).is_none() {
            tracing::warn!(run = %run, "the run is left alone: {} is not configured here", missing.join(", "));
        }
        false
    }

    /// Why tools cannot be used.
    pub fn problems(&self) -> &[DiscoveryProblem] {
        &self.runtime.problems
    }

    /// Reports the telemetry of runs to one more sink.
    #[must_use]
    pub fn with_sink(self, sink: Arc<dyn Sink>) -> Self {
        Self { runtime: self.runtime.with_sink(sink), ..self }
    }

    /// Starts runs for an owner with a part of the tools and a monthly budget, for servers that several callers share.
    #[must_use]
    pub fn owned_by(self, owner: RunOwner) -> Self {
        Self { runtime: self.runtime.owned_by(owner), ..self }
    }

    /// What runs are made of: the journal, the catalogue of tools, the rules.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }
}
