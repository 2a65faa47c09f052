//! A connection with a request that is being sent, as hyper reads its response.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A connection that sends a request itself. Hyper only reads the response: what it writes is dropped.
#[derive(Debug)]
pub(super) struct Exchange {
    stream: TcpStream,
    request: Vec<u8>,
    sent: usize,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// Nothing is read before hyper has written its request: it would take the response for an unexpected message.
    Unread(Option<Waker>),
    Reading,
}

impl Exchange {
    pub(super) fn new(stream: TcpStream, request: Vec<u8>) -> Self {
        Self { stream, request, sent: 0, phase: Phase::Unread(None) }
    }

    /// Sends the request. Ready when there is something to read, which may be before all is sent.
    pub(super) fn poll_response(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.send(context);
        // The reader sees an error.
        self.stream.poll_read_ready(context).map(|_| ())
    }

    /// The connection, if the whole request was sent.
    pub(super) fn into_stream(self) -> Option<TcpStream> {
        self.request.is_empty().then_some(self.stream)
    }

    /// Sends what can be sent now. A service may answer without reading everything, so what cannot be sent is dropped.
    fn send(&mut self, context: &mut Context<'_>) {
        while let Some(rest) = self.request.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match Pin::new(&mut self.stream).poll_write(context, rest) {
                Poll::Ready(Ok(count)) if count > 0 => self.sent += count,
                Poll::Ready(_) => self.sent = usize::MAX,
                Poll::Pending => return,
            }
        }
        if self.sent == self.request.len() {
            (self.request, self.sent) = (Vec::new(), 0);
        }
    }
}

impl AsyncRead for Exchange {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Phase::Unread(waiting) = &mut self.phase {
            *waiting = Some(context.waker().clone());
            return Poll::Pending;
        }
        self.send(context);
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Exchange {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Phase::Unread(Some(waiting)) = std::mem::replace(&mut self.phase, Phase::Reading) {
            waiting.wake();
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        Poll::Ready(Ok(()))
    }
}
