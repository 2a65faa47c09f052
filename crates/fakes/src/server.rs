//! A loopback server whose connections can be reset on purpose, and the log of its requests.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

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
        let closed = Box::pin(self.closed.clone().cancelled_owned());
        (Connection { stream, reset_switch: ResetSwitch::default(), closed }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Connected<IncomingStream<'_, LoopbackListener>> for ResetSwitch {
    fn connect_info(stream: IncomingStream<'_, LoopbackListener>) -> Self {
        stream.io().reset_switch.clone()
    }
}

/// Resets the connection of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResetSwitch(Arc<AtomicBool>);

impl ResetSwitch {
    /// Resets the connection at the next write: the peer sees `connection reset`, not a regular end.
    pub(crate) fn reset(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A stream with a [`ResetSwitch`]. It fails once the server is dropped.
struct Connection {
    stream: TcpStream,
    reset_switch: ResetSwitch,
    closed: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Connection {
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.reset_switch.0.load(Ordering::Relaxed) {
            // Otherwise the kernel sends FIN instead of RST when the stream is dropped.
            self.stream.set_zero_linger()?;
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        match self.closed.as_mut().poll(context) {
            Poll::Ready(()) => Err(io::ErrorKind::ConnectionAborted.into()),
            Poll::Pending => Ok(()),
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Entries in the order of their arrival.
#[derive(Debug)]
pub(crate) struct Log<T> {
    entries: Mutex<Vec<T>>,
    count: watch::Sender<usize>,
}

impl<T: Clone> Log<T> {
    pub(crate) fn new() -> Self {
        Self { entries: Mutex::default(), count: watch::Sender::new(0) }
    }

    pub(crate) fn all(&self) -> Vec<T> {
        self.entries.lock().clone()
    }

    /// Adds an entry that `make` derives from the earlier ones, under one lock.
    pub(crate) fn push_with<E>(&self, make: impl FnOnce(&[T]) -> Result<T, E>) -> Result<T, E> {
        let mut entries = self.entries.lock();
        let entry = make(&entries)?;
        entries.push(entry.clone());
        self.count.send_replace(entries.len());
        Ok(entry)
    }

    /// Waits until there are `count` entries.
    pub(crate) async fn wait_for(&self, count: usize) {
        // The sender lives as long as this log, so the wait cannot fail.
        let _ = self.count.subscribe().wait_for(|entries| *entries >= count).await;
    }
}
