//! What all requests share, and the runs that this process follows.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use parking_lot::Mutex;
use reknit::{Mender, Reknit, RunError, RunHandle};
use reknit_engine::{Started, Synthesis};
use reknit_journal::Journal;
use reknit_plan::agent_name;
use reknit_protocol::{Plan, RunId, Step};
use reknit_runtime::telemetry::prometheus::PrometheusMetrics;
use reknit_runtime::{NamedAgent, Runtime};
use tokio_util::task::TaskTracker;

use crate::api_error::ApiError;

#[derive(Debug, Clone)]
pub(crate) struct ServerState {
    pub(crate) reknit: Arc<Reknit>,
    pub(crate) mender: Arc<Mender>,
    pub(crate) runs: ActiveRuns,
    /// The requests to models that are being answered. They have no run; a server that stops waits for them.
    pub(crate) open_requests: TaskTracker,
    pub(crate) metrics: Arc<PrometheusMetrics>,
    pub(crate) agents: Arc<BTreeMap<String, NamedAgent>>,
    /// Whether a model also writes the answers of plans that people wrote.
    pub(crate) plan_answers: bool,
    pub(crate) max_runs: usize,
    pub(crate) stopping: Arc<AtomicBool>,
}

impl ServerState {
    pub(crate) fn journal(&self) -> &Journal {
        &self.reknit.runtime().journal
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// The start of a plan. Its steps can run the agents of this server.
    pub(crate) fn started(&self, runtime: &Runtime, request: &str, plan: Plan) -> Result<Started, ApiError> {
        let agents = self.agents_of(&plan);
        let started = runtime.started_with_agents(request, plan, agents);
        let mut started = started.map_err(|error| ApiError::invalid(error.to_string()))?;
        // The author of a plan knows what its results mean.
        if !self.plan_answers {
            Arc::make_mut(&mut started.policy).synthesis = Synthesis::Template;
        }
        Ok(started)
    }

    /// The agents that steps of a plan run, without those that this server does not have.
    pub(crate) fn agents_of(&self, plan: &Plan) -> Vec<NamedAgent> {
        let names: BTreeSet<&str> = plan.steps.iter().filter_map(Step::agent_file).map(agent_name).collect();
        names.into_iter().filter_map(|name| self.agents.get(name).cloned()).collect()
    }

    /// Starts a run, unless too many are in progress or the server stops.
    pub(crate) fn start(&self, start: impl FnOnce() -> RunHandle) -> Result<RunHandle, ApiError> {
        if self.is_stopping() {
            return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", "the server stops"));
        }
        let full = || ApiError::busy(format!("the limit of runs in progress ({}) is reached", self.max_runs));
        self.runs.start(self.max_runs, start).ok_or_else(full)
    }
}

/// A run of another process is followed until it had no watcher for this long.
const UNWATCHED: Duration = Duration::from_secs(2);

/// The handles of all runs that this process drives or watches, so that a thousand watchers share one.
#[derive(Debug, Clone)]
pub(crate) struct ActiveRuns {
    reknit: Arc<Reknit>,
    handles: Arc<Mutex<HashMap<RunId, ActiveRun>>>,
    /// The number of the last handle.
    last: Arc<AtomicU64>,
}

#[derive(Debug, Clone)]
struct ActiveRun {
    handle: RunHandle,
    number: u64,
    /// Whether this process drives the run, or only watches it.
    is_driven: bool,
}

impl ActiveRuns {
    pub(crate) fn new(reknit: Arc<Reknit>) -> Self {
        Self { reknit, handles: Arc::default(), last: Arc::default() }
    }

    /// How many runs this process drives, without those that wait for a person.
    pub(crate) fn driven(&self) -> usize {
        count_driven(&self.handles.lock())
    }

    pub(crate) fn start(&self, max: usize, start: impl FnOnce() -> RunHandle) -> Option<RunHandle> {
        let mut handles = self.handles.lock();
        if count_driven(&handles) >= max {
            return None;
        }
        let handle = start();
        self.insert(&mut handles, handle.clone(), true);
        Some(handle)
    }

    pub(crate) fn add(&self, handle: &RunHandle) {
        self.insert(&mut self.handles.lock(), handle.clone(), true);
    }

    fn insert(&self, handles: &mut HashMap<RunId, ActiveRun>, handle: RunHandle, is_driven: bool) {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        handles.insert(handle.id.clone(), ActiveRun { handle: handle.clone(), number, is_driven });
        let runs = self.clone();
        tokio::spawn(async move {
            if is_driven {
                if let Err(RunError::NotDriven(error)) = handle.outcome().await {
                    tracing::warn!(run = %handle.id, "the run does not go on here: {error}");
                }
            } else {
                until_unwatched(&handle).await;
            }
            let mut handles = runs.handles.lock();
            // A run that was retried has another handle by now.
            if handles.get(&handle.id).is_some_and(|run| run.number == number) {
                handles.remove(&handle.id);
            }
        });
    }

    pub(crate) fn driven_run(&self, run: &RunId) -> Option<RunHandle> {
        self.handles.lock().get(run).filter(|run| run.is_driven).map(|run| run.handle.clone())
    }

    pub(crate) fn watch(&self, run: &RunId) -> RunHandle {
        let mut handles = self.handles.lock();
        if let Some(known) = handles.get(run) {
            return known.handle.clone();
        }
        let handle = self.reknit.follow(run);
        self.insert(&mut handles, handle.clone(), false);
        handle
    }

    /// Waits until each run that this process drives has ended or waits for a person.
    pub(crate) async fn drained(&self) {
        while self.driven() > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

fn count_driven(handles: &HashMap<RunId, ActiveRun>) -> usize {
    handles.values().filter(|run| run.is_driven && !run.handle.is_waiting()).count()
}

/// Waits until a run that is only watched has ended, or has no watcher any more.
async fn until_unwatched(handle: &RunHandle) {
    let mut was_watched = true;
    loop {
        tokio::time::sleep(UNWATCHED).await;
        let is_watched = handle.watchers() > 0;
        if handle.has_ended() || !(is_watched || was_watched) {
            return;
        }
        was_watched = is_watched;
    }
}
