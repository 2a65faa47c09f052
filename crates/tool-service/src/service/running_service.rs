//! A service that accepts requests, and its shutdown.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reknit_registry::{Registration, RegistrationOptions, RegistrationStatus, Registry, RegistryError, ServiceRecord};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::routes::ServiceState;

/// A service that accepts requests. Dropping it stops the service without waiting for running calls.
#[derive(Debug)]
pub struct RunningService {
    address: SocketAddr,
    stop: CancellationToken,
    server: JoinHandle<io::Result<()>>,
    state: Arc<ServiceState>,
    drain_timeout: Duration,
    registration: Option<Registration>,
}

/// Why a shutdown was not clean.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShutdownError {
    /// Calls were still running at the end of the drain timeout and were aborted.
    #[error("calls were still running after {limit:?} and were aborted")]
    CallsAborted {
        /// The drain timeout.
        limit: Duration,
    },
    /// The record could not be removed from the registry; it expires by itself.
    #[error("the service could not be removed from the registry")]
    Registration(#[from] RegistryError),
    /// The HTTP server failed.
    #[error("the HTTP server failed")]
    Server(#[from] io::Error),
    /// The task of the HTTP server panicked or was cancelled.
    #[error("the task of the HTTP server panicked or was cancelled")]
    Task(#[from] tokio::task::JoinError),
}

impl RunningService {
    pub(crate) fn start(
        state: Arc<ServiceState>,
        listener: TcpListener,
        drain_timeout: Duration,
        registration: Option<(RegistrationOptions, ServiceRecord)>,
    ) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let stop = CancellationToken::new();
        let router = Arc::clone(&state).router();
        let signal = stop.clone().cancelled_owned();
        let server = tokio::spawn(async move { axum::serve(listener, router).with_graceful_shutdown(signal).await });
        let registration = registration.map(|(options, record)| {
            Registration::start(Registry::new(options.redis, options.namespace), record, options.ttl)
        });
        Ok(Self { address, stop, server, state, drain_timeout, registration })
    }

    /// The address on which the service listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of the service: `http://127.0.0.1:41234`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Whether the service is registered, now and later; `None` if it does not register itself.
    pub fn registration(&self) -> Option<watch::Receiver<RegistrationStatus>> {
        self.registration.as_ref().map(Registration::status)
    }

    /// Removes the service from the registry, accepts no more requests and waits for running calls, at most for the drain timeout.
    ///
    /// Fails if calls had to be aborted or the HTTP server failed. The service has ended in any case.
    pub async fn shutdown(mut self) -> Result<(), ShutdownError> {
        let removed = match self.registration.take() {
            Some(registration) => registration.remove().await,
            None => Ok(()),
        };
        self.stop.cancel();
        let (server, state) = (&mut self.server, &self.state);
        let drained = timeout(self.drain_timeout, async {
            let result = server.await;
            state.runner.drain().await;
            result
        });
        match drained.await {
            Ok(result) => {
                result??;
                Ok(removed?)
            }
            // Dropping `self` aborts the remaining calls.
            Err(_) => Err(ShutdownError::CallsAborted { limit: self.drain_timeout }),
        }
    }
}

impl Drop for RunningService {
    fn drop(&mut self) {
        self.stop.cancel();
        self.state.runner.abort();
        self.server.abort();
    }
}
