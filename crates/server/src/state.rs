//! What all requests share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::StatusCode;
use reknit::{Mender, Reknit, RunHandle};
use reknit_engine::{Started, Synthesis};
use reknit_journal::Journal;
use reknit_plan::agent_name;
use reknit_protocol::{Plan, Step};
use reknit_runtime::telemetry::prometheus::PrometheusMetrics;
use reknit_runtime::{NamedAgent, Runtime};
use tokio_util::task::TaskTracker;

use crate::active_runs::ActiveRuns;
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
