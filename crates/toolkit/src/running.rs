//! A service that takes requests, and how it ends.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::routes::Open;

/// A service that takes requests. Dropping it stops the service without waiting for the calls that run.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    stop: CancellationToken,
    server: JoinHandle<io::Result<()>>,
    open: Arc<Open>,
    drain: Duration,
}

/// Why a service did not end in good order.
#[derive(Debug, thiserror::Error)]
pub enum ShutdownError {
    /// Calls were still running when the time was up; they were cut.
    #[error("calls were still running after {limit:?} and have been cut")]
    Cut {
        /// How long it waited.
        limit: Duration,
    },
    /// The server failed.
    #[error("the server failed")]
    Server(#[from] io::Error),
    /// The task of the server did not end by itself.
    #[error("the server's task did not end by itself")]
    Task(#[from] tokio::task::JoinError),
}

impl Running {
    pub(crate) fn start(open: Arc<Open>, listener: TcpListener, drain: Duration) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let stop = CancellationToken::new();
        let router = Arc::clone(&open).router();
        let signal = stop.clone().cancelled_owned();
        let server = tokio::spawn(async move { axum::serve(listener, router).with_graceful_shutdown(signal).await });
        Ok(Self { address, stop, server, open, drain })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it listens, as callers write it: `http://127.0.0.1:41234`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Takes no more requests and waits for those that run, at most for the time to drain.
    ///
    /// Fails if calls had to be cut; the service has ended all the same.
    pub async fn shutdown(mut self) -> Result<(), ShutdownError> {
        self.stop.cancel();
        let (server, open) = (&mut self.server, &self.open);
        let drained = timeout(self.drain, async {
            let result = server.await;
            open.calls.ended().await;
            result
        });
        match drained.await {
            Ok(result) => Ok(result??),
            // Dropping the handle cuts what is left.
            Err(_) => Err(ShutdownError::Cut { limit: self.drain }),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
        self.open.calls.cut();
        self.server.abort();
    }
}
