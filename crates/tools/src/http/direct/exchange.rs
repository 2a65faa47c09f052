//! A connection with a request that is being sent, and its response, which hyper reads in the task that waits for it.

use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use http_body::{Body, Frame};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use reqwest::ResponseBuilderExt as _;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::AfterRequest;
use super::pool::Pool;

/// Where a connection goes when the response has been read.
type Home = Option<(Arc<Pool>, Box<str>)>;

/// Reads the head of a response. Its body is read from the same connection later.
pub(super) async fn read_response(
    exchange: Exchange,
    after: Box<AfterRequest>,
    home: Home,
) -> Result<reqwest::Response, Box<dyn Error + Send + Sync>> {
    let AfterRequest { method, url } = *after;
    let (mut sender, connection) = http1::handshake(TokioIo::new(exchange)).await?;
    let mut connection = Connection::Open(Box::new(connection));
    // Hyper must know which method is answered. The request itself has been sent.
    let request = http::Request::builder().method(method).uri("/").body(String::new())?;
    let mut response = pin!(sender.send_request(request));
    let response = poll_fn(|context| match response.as_mut().poll(context) {
        Poll::Pending => {
            connection.drive(context);
            response.as_mut().poll(context)
        }
        ready @ Poll::Ready(_) => ready,
    })
    .await?;
    let (head, incoming) = response.into_parts();
    let body = reqwest::Body::wrap(ResponseBody { incoming: Some(incoming), sender, connection, home });
    let mut response = http::Response::builder().status(head.status).url(url).body(body)?;
    *response.headers_mut() = head.headers;
    Ok(response.into())
}

enum Connection {
    Open(Box<http1::Connection<TokioIo<Exchange>, String>>),
    Closed,
}

impl Connection {
    /// Lets hyper read. Its errors arrive at the response, or at its body.
    fn drive(&mut self, context: &mut Context<'_>) {
        if let Self::Open(connection) = self
            && connection.poll_without_shutdown(context).is_ready()
        {
            *self = Self::Closed;
        }
    }
}

/// A body that reads itself from its connection.
struct ResponseBody {
    /// `None` when it is not read any more.
    incoming: Option<Incoming>,
    sender: SendRequest<String>,
    connection: Connection,
    home: Home,
}

impl ResponseBody {
    /// Keeps the connection for the next request, if there may be one.
    fn finish(&mut self, context: &mut Context<'_>) {
        // Hyper sees now that the body is complete, and closes a connection that must not be used again.
        self.connection.drive(context);
        if let Connection::Open(connection) = std::mem::replace(&mut self.connection, Connection::Closed)
            && let Some((pool, place)) = self.home.take()
            && self.sender.is_ready()
        {
            let parts = connection.into_parts();
            if let Some(stream) = parts.io.into_inner().into_stream().filter(|_| parts.read_buf.is_empty()) {
                pool.put(place, stream);
            }
        }
    }
}

impl Drop for ResponseBody {
    /// Keeps a connection whose response was not read to its end, if hyper has all of it.
    fn drop(&mut self) {
        self.incoming = None;
        self.finish(&mut Context::from_waker(Waker::noop()));
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Self { incoming: Some(incoming), connection, .. } = &mut *self else { return Poll::Ready(None) };
        let mut frame = Pin::new(&mut *incoming).poll_frame(context);
        if frame.is_pending() {
            connection.drive(context);
            frame = Pin::new(incoming).poll_frame(context);
        }
        let frame = ready!(frame);
        if frame.is_none() {
            self.finish(context);
        }
        Poll::Ready(frame)
    }
}

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
    fn into_stream(self) -> Option<TcpStream> {
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
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
