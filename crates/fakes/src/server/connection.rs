//! A connection that can be reset, and that fails once its server is dropped.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Resets the connection of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResetSwitch(Arc<AtomicBool>);

impl ResetSwitch {
    /// Resets the connection at the next write: the peer sees `connection reset`, not a regular end.
    pub(crate) fn reset(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_reset(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A stream with a [`ResetSwitch`]. It fails once the server is dropped.
pub(crate) struct Connection {
    stream: TcpStream,
    reset_switch: ResetSwitch,
    closed: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, closed: &CancellationToken) -> Self {
        Self { stream, reset_switch: ResetSwitch::default(), closed: Box::pin(closed.clone().cancelled_owned()) }
    }

    pub(super) fn reset_switch(&self) -> ResetSwitch {
        self.reset_switch.clone()
    }

    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.reset_switch.is_reset() {
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
