//! A loopback server whose connections can be reset on purpose.

mod connection;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use connection::Connection;
pub(crate) use connection::ResetSwitch;

/// Larger than any prompt or answer, smaller than the memory of a test machine.
const MAX_BODY: usize = 16 * 1024 * 1024;

/// A server on a free port of 127.0.0.1. Dropping it closes the port and every connection, answered or not.
#[derive(Debug)]
pub(crate) struct Server {
    address: SocketAddr,
    closed: CancellationToken,
    task: JoinHandle<io::Result<()>>,
}

impl Server {
    pub(crate) async fn start(router: Router) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let closed = CancellationToken::new();
        let listener = LoopbackListener { listener, closed: closed.clone() };
        let service =
            router.layer(DefaultBodyLimit::max(MAX_BODY)).into_make_service_with_connect_info::<ResetSwitch>();
        let task = tokio::spawn(async move { axum::serve(listener, service).await });
        Ok(Self { address, closed, task })
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // axum owns the tasks of the connections; each connection watches this token.
        self.closed.cancel();
        self.task.abort();
    }
}

/// Wraps each accepted stream in a [`Connection`].
struct LoopbackListener {
    listener: TcpListener,
    closed: CancellationToken,
}

impl Listener for LoopbackListener {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        (Connection::new(stream, &self.closed), address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Connected<IncomingStream<'_, LoopbackListener>> for ResetSwitch {
    fn connect_info(stream: IncomingStream<'_, LoopbackListener>) -> Self {
        stream.io().reset_switch()
    }
}
