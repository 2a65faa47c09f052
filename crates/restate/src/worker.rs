//! A worker: the endpoint that Restate calls to advance runs and to perform their effects.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reknit_runtime::EffectRunner;
use restate_sdk::endpoint::HandlerOptions;
use restate_sdk::prelude::*;
use restate_sdk::service::IntoServiceDefinition;
use tokio::net::{TcpListener, TcpSocket};

use crate::blobs::BlobStore;
use crate::effect_service::EffectService;
use crate::run_object::RunObject;
use crate::worker_parts::WorkerParts;

/// An effect may take this long before Restate asks it to pause, and then as long again before it is cut off.
const MAX_EFFECT: Duration = Duration::from_hours(24);
/// How often an invocation that cannot go on is tried again, before a person has to look at it. With the longest pause, about a month.
const MAX_ATTEMPTS: u64 = 500_000;
/// How many connections may wait to be accepted.
const BACKLOG: u32 = 1024;

/// Handlers that only workers and the object itself may call, not a client at the ingress.
const PRIVATE_HANDLERS: [&str; 4] = ["outcome", "wake", "grace_over", "wants_call"];

/// Advances runs and performs their effects when a Restate server asks for it.
pub struct Worker {
    endpoint: Endpoint,
}

impl fmt::Debug for Worker {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Worker").finish_non_exhaustive()
    }
}

/// A public key of a server cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("`{key}` is not the public key of a Restate server: {problem}")]
pub struct IdentityKeyError {
    pub key: String,
    pub problem: String,
}

impl Worker {
    /// A worker with this runner and this store of blobs. With identity keys, it serves only servers that have one of them.
    pub fn new(
        runner: EffectRunner,
        blobs: Arc<dyn BlobStore>,
        identity_keys: &[String],
    ) -> Result<Self, IdentityKeyError> {
        let parts = Arc::new(WorkerParts::new(runner, blobs));
        let runs = RunObject { parts: Arc::clone(&parts) }.into_service_definition().options(run_options());
        let effects = EffectService { parts }.into_service_definition().options(options().ingress_private(true));
        let mut builder = Endpoint::builder().bind(runs).bind(effects);
        for key in identity_keys {
            let problem = |problem: String| IdentityKeyError { key: key.clone(), problem };
            builder = builder.identity_key(key).map_err(|error| problem(error.to_string()))?;
        }
        Ok(Self { endpoint: builder.build() })
    }

    /// Listens at an address. Small messages are sent at once; otherwise each step would wait for delayed acknowledgements.
    pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
        // Accepted connections have what the listening socket has.
        socket.set_nodelay(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    }

    /// Serves Restate until `end` is ready. Invocations in progress get a few seconds to end; Restate moves the others to another worker.
    pub async fn serve(self, listener: TcpListener, end: impl Future<Output = ()>) {
        HttpServer::new(self.endpoint).serve_with_cancel(listener, end).await;
    }
}

fn options() -> ServiceOptions {
    ServiceOptions::new()
        .journal_retention(Duration::ZERO)
        .inactivity_timeout(MAX_EFFECT)
        .abort_timeout(MAX_EFFECT)
        .retry_policy_initial_interval(Duration::from_millis(50))
        .retry_policy_exponentiation_factor(2.0)
        .retry_policy_max_interval(Duration::from_secs(5))
        .retry_policy_max_attempts(MAX_ATTEMPTS)
        .retry_policy_pause_on_max_attempts()
}

fn run_options() -> ServiceOptions {
    let private =
        |options: ServiceOptions, handler| options.handler(handler, HandlerOptions::new().ingress_private(true));
    PRIVATE_HANDLERS.into_iter().fold(options(), private)
}

#[cfg(test)]
mod tests;
