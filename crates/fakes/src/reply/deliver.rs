//! Sends a reply, with its delays and faults.

use std::future::pending;
use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, stream};
use reknit_protocol::Value;

use super::{ConnectionFault, Reply};
use crate::server::ResetSwitch;

/// One chunk of padding.
static BLANKS: [u8; 64 * 1024] = [b' '; 64 * 1024];

const PLAIN: &str = "text/plain; charset=utf-8";

/// A response without faults.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) chunks: Vec<String>,
    pub(crate) framing: Framing,
}

/// How a response marks the end of its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// By the header `Content-Length`.
    Length,
    /// By chunked transfer encoding.
    Chunks,
}

impl Rendered {
    /// A body in one chunk.
    pub(crate) fn one_chunk(status: u16, body: String) -> Self {
        let is_json = Value::parse(&body).is_ok();
        let content_type = if is_json { "application/json" } else { PLAIN };
        Self { status, content_type, chunks: vec![body], framing: Framing::Length }
    }

    /// Plain text, even if it is JSON.
    pub(crate) fn plain(status: u16, text: String) -> Self {
        Self { content_type: PLAIN, ..Self::one_chunk(status, text) }
    }
}

/// Waits as long as the reply demands, then responds or fails as it demands.
pub(crate) async fn deliver(reply: &Reply, rendered: Rendered, reset_switch: &ResetSwitch) -> Response {
    if let Some(barrier) = &reply.barrier {
        barrier.wait().await;
    }
    if let Some(delay) = reply.delay {
        tokio::time::sleep(delay).await;
    }
    match reply.connection_fault {
        // This wait ends when the caller disconnects or the server is dropped.
        Some(ConnectionFault::Silence) => pending::<()>().await,
        Some(ConnectionFault::Reset) => reset_switch.reset(),
        _ => {}
    }
    response(reply, rendered)
        .unwrap_or_else(|error| script_error(&format!("the scripted reply cannot be sent: {error}")))
}

/// The response to a request that the script cannot answer: 500.
pub(crate) fn script_error(message: &str) -> Response {
    let body = serde_json::json!({"error": {"message": message, "type": "script_error"}});
    (StatusCode::INTERNAL_SERVER_ERROR, axum::Json(body)).into_response()
}

fn response(reply: &Reply, rendered: Rendered) -> Result<Response, axum::http::Error> {
    let content_type = match &reply.content_type {
        Some(content_type) => HeaderValue::try_from(content_type)?,
        None => HeaderValue::from_static(rendered.content_type),
    };
    let mut builder =
        Response::builder().status(StatusCode::from_u16(rendered.status)?).header(CONTENT_TYPE, content_type);
    for (name, value) in &reply.headers {
        builder = builder.header(HeaderName::try_from(name)?, HeaderValue::try_from(value)?);
    }
    let framing = rendered.framing;
    let chunks = chunks_with_faults(reply, rendered);
    let length: usize = chunks.iter().map(Bytes::len).sum();
    if framing == Framing::Length {
        builder = builder.header(CONTENT_LENGTH, length);
    }
    builder.body(Body::from_stream(send(send_steps(reply, chunks, length))))
}

enum SendStep {
    Send(Bytes),
    Wait(Duration),
    Disconnect,
    Hang,
}

/// The steps that send a body of `length` bytes, as far as the fault of the connection allows.
fn send_steps(reply: &Reply, chunks: Vec<Bytes>, length: usize) -> Vec<SendStep> {
    let (sent, end) = match reply.connection_fault {
        // The last byte or event is never sent, so that the body is always incomplete.
        Some(ConnectionFault::CutAfter(bytes)) => {
            (first_bytes(chunks, bytes.min(length.saturating_sub(1))), Some(SendStep::Disconnect))
        }
        Some(ConnectionFault::CutAfterEvents(events)) => {
            let events = events.min(chunks.len().saturating_sub(1));
            (chunks.into_iter().take(events).collect(), Some(SendStep::Disconnect))
        }
        Some(ConnectionFault::StallAfter(bytes)) => (first_bytes(chunks, bytes), Some(SendStep::Hang)),
        Some(ConnectionFault::StallAfterEvents(events)) => {
            (chunks.into_iter().take(events).collect(), Some(SendStep::Hang))
        }
        Some(ConnectionFault::Reset | ConnectionFault::Silence) | None => (chunks, None),
    };
    let mut steps: Vec<SendStep> = reply.first_token_after.map(SendStep::Wait).into_iter().collect();
    for (index, chunk) in sent.into_iter().enumerate() {
        steps.extend(reply.event_interval.filter(|_| index > 0).map(SendStep::Wait));
        steps.push(SendStep::Send(chunk));
    }
    steps.extend(end);
    steps
}

/// The chunks of a body with the malformed event and the padding.
fn chunks_with_faults(reply: &Reply, rendered: Rendered) -> Vec<Bytes> {
    let is_stream = rendered.framing == Framing::Chunks;
    let mut chunks: Vec<Bytes> = rendered.chunks.into_iter().map(Bytes::from).collect();
    if let Some(nth) = reply.malformed_event.filter(|_| is_stream) {
        let index = nth.saturating_sub(1).min(chunks.len());
        chunks.insert(index, Bytes::from_static(b"data: {\"choices\": [{\"delta\": oops\n\n"));
    }
    if let Some(bytes) = reply.padding {
        let whole = bytes / BLANKS.len();
        chunks.extend(std::iter::repeat_n(Bytes::from_static(&BLANKS), whole));
        chunks.push(Bytes::from_static(BLANKS.get(..bytes % BLANKS.len()).unwrap_or_default()));
    }
    chunks
}

/// The first bytes of a body, in the same chunks.
fn first_bytes(chunks: Vec<Bytes>, bytes: usize) -> Vec<Bytes> {
    let mut remaining = bytes;
    let mut kept = Vec::new();
    for chunk in chunks {
        if remaining == 0 {
            break;
        }
        let part = chunk.slice(..remaining.min(chunk.len()));
        remaining -= part.len();
        kept.push(part);
    }
    kept
}

/// Performs one step after the other. The server flushes its buffer only when the body is pending, so this yields once
/// before it disconnects: otherwise the caller would receive no part of the body.
fn send(steps: Vec<SendStep>) -> impl Stream<Item = io::Result<Bytes>> {
    stream::unfold(steps.into_iter(), |mut steps| async move {
        loop {
            match steps.next()? {
                SendStep::Send(bytes) => return Some((Ok(bytes), steps)),
                SendStep::Wait(pause) => tokio::time::sleep(pause).await,
                SendStep::Hang => pending::<()>().await,
                SendStep::Disconnect => {
                    tokio::task::yield_now().await;
                    return Some((Err(io::ErrorKind::UnexpectedEof.into()), steps));
                }
            }
        }
    })
}
