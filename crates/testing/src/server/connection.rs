//! A connection that can be reset, and that ends with its server.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Breaks the connection a request came on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Switch(Arc<AtomicBool>);

impl Switch {
    /// Resets the connection at the next write: the peer sees `connection reset`, not an end in good order.
    pub(crate) fn reset(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_reset(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A stream with a [`Switch`]; it fails once the server is closed.
pub(crate) struct Connection {
    stream: TcpStream,
    switch: Switch,
    closed: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, closed: &CancellationToken) -> Self {
        Self { stream, switch: Switch::default(), closed: Box::pin(closed.clone().cancelled_owned()) }
    }

    pub(super) fn switch(&self) -> Switch {
        self.switch.clone()
    }

    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.switch.is_reset() {
            // Without it the kernel would end the connection in good order when it is dropped.
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
