//! A worker: the endpoint that Restate calls to advance runs and to perform their effects.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use reknit_runtime::EffectRunner;
use restate_sdk::prelude::*;
use restate_sdk::service::IntoServiceDefinition;
use tokio::net::TcpListener;

use crate::blobs::BlobStore;
use crate::effect_service::EffectService;
use crate::machine_cache::MachineCache;
use crate::run_object::RunObject;
use crate::worker_parts::WorkerParts;

/// An effect may take this long before Restate asks it to pause, and then as long again before it is cut off.
const MAX_EFFECT: Duration = Duration::from_hours(24);
/// How often an invocation that cannot go on is tried again, before a person has to look at it. With the longest pause, about a month.
const MAX_ATTEMPTS: u64 = 500_000;

/// A worker.
#[derive(Debug)]
pub struct Worker {
    parts: Arc<WorkerParts>,
}

impl Worker {
    /// A worker that performs effects with this runner, and stores large values in these blobs.
    pub fn new(runner: EffectRunner, blobs: Arc<dyn BlobStore>) -> Self {
        Self { parts: Arc::new(WorkerParts { runner, blobs, machines: MachineCache::default() }) }
    }

    /// Serves Restate until `end` is ready. Invocations in progress get a few seconds to end; Restate moves the others to another worker.
    pub async fn serve(self, listener: TcpListener, end: impl Future<Output = ()>) {
        let options = || {
            ServiceOptions::new()
                .journal_retention(Duration::ZERO)
                .retry_policy_initial_interval(Duration::from_millis(50))
                .retry_policy_exponentiation_factor(2.0)
                .retry_policy_max_interval(Duration::from_secs(5))
                .retry_policy_max_attempts(MAX_ATTEMPTS)
                .retry_policy_pause_on_max_attempts()
        };
        let effects = options().inactivity_timeout(MAX_EFFECT).abort_timeout(MAX_EFFECT).ingress_private(true);
        let runs = RunObject { parts: Arc::clone(&self.parts) }.into_service_definition().options(options());
        let effects = EffectService { parts: self.parts }.into_service_definition().options(effects);
        let endpoint = Endpoint::builder().bind(runs).bind(effects).build();
        HttpServer::new(endpoint).serve_with_cancel(listener, end).await;
    }
}
