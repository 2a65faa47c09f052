//! A loopback server whose connections can be broken on purpose.

mod connection;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use connection::Connection;
pub(crate) use connection::Switch;

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
        let loopback = Loopback { listener, closed: closed.clone() };
        let service = router.into_make_service_with_connect_info::<Switch>();
        let task = tokio::spawn(async move { axum::serve(loopback, service).await });
        Ok(Self { address, closed, task })
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // axum owns the tasks of its connections; each listens to this.
        self.closed.cancel();
        self.task.abort();
    }
}

/// Makes a [`Connection`] of each stream.
struct Loopback {
    listener: TcpListener,
    closed: CancellationToken,
}

impl Listener for Loopback {
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

impl Connected<IncomingStream<'_, Loopback>> for Switch {
    fn connect_info(stream: IncomingStream<'_, Loopback>) -> Self {
        stream.io().switch()
    }
}
