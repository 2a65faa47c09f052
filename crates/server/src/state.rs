//! What all requests share.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::StatusCode;
use reknit::{Mender, Reknit, RunHandle};
use reknit_journal::Journal;
use reknit_runtime::NamedAgent;
use reknit_runtime::telemetry::prometheus::PrometheusMetrics;

use crate::active_runs::ActiveRuns;
use crate::api_error::ApiError;

/// What all requests share.
#[derive(Debug, Clone)]
pub(crate) struct ServerState {
    pub(crate) reknit: Reknit,
    pub(crate) mender: Arc<Mender>,
    pub(crate) runs: ActiveRuns,
    pub(crate) metrics: Arc<PrometheusMetrics>,
    /// The agents that requests can name.
    pub(crate) agents: Arc<BTreeMap<String, NamedAgent>>,
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

    /// Starts a run, unless too many are in progress or the server stops.
    pub(crate) fn start(&self, start: impl FnOnce() -> RunHandle) -> Result<RunHandle, ApiError> {
        if self.is_stopping() {
            return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", "the server stops"));
        }
        let full = || ApiError::busy(format!("{} runs are in progress, which is the limit", self.max_runs));
        self.runs.start(self.max_runs, start).ok_or_else(full)
    }
}
