//! A reply onto the wire, with its faults.

use std::future::pending;
use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use futures_util::{Stream, stream};
use reknit_protocol::Value;

use super::{Fault, Oddities, Place, Reply};
use crate::server::Switch;

/// What a giant is made of.
static BLANKS: [u8; 64 * 1024] = [b' '; 64 * 1024];

const PLAIN: &str = "text/plain; charset=utf-8";

/// The body of a reply, before anything goes wrong.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) chunks: Vec<String>,
    pub(crate) framing: Framing,
}

/// How the end of a body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// By its length.
    Length,
    /// By a last chunk.
    Chunks,
}

impl Rendered {
    /// A body in one piece.
    pub(crate) fn whole(status: u16, body: String) -> Self {
        let is_json = Value::parse(&body).is_ok();
        let content_type = if is_json { "application/json" } else { PLAIN };
        Self { status, content_type, chunks: vec![body], framing: Framing::Length }
    }

    /// Words, whatever they look like.
    pub(crate) fn plain(status: u16, text: String) -> Self {
        Self { content_type: PLAIN, ..Self::whole(status, text) }
    }
}

/// Waits as the reply says, then answers as it says.
pub(crate) async fn deliver(reply: &Reply, rendered: Rendered, switch: &Switch) -> Response {
    if let Some(gate) = &reply.gate {
        gate.pass().await;
    }
    if let Some(delay) = reply.delay {
        tokio::time::sleep(delay).await;
    }
    match reply.fault {
        // The connection, and with it this wait, ends with the caller's patience or with the server.
        Fault::Silence => pending::<()>().await,
        Fault::Reset => switch.reset(),
        Fault::None | Fault::Cut { .. } | Fault::Stall { .. } => {}
    }
    match response(reply, rendered) {
        Ok(response) => response,
        Err(problem) => internal(&format!("the scripted reply cannot be sent: {problem}")),
    }
}

/// A script is at fault: 500, with words.
pub(crate) fn internal(message: &str) -> Response {
    let body = serde_json::json!({"error": {"message": message, "type": "script_error"}}).to_string();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn response(reply: &Reply, rendered: Rendered) -> Result<Response, axum::http::Error> {
    let content_type = match &reply.odd.content_type {
        Some(content_type) => HeaderValue::try_from(content_type)?,
        None => HeaderValue::from_static(rendered.content_type),
    };
    let mut builder =
        Response::builder().status(StatusCode::from_u16(rendered.status)?).header(CONTENT_TYPE, content_type);
    for (name, value) in &reply.headers {
        builder = builder.header(HeaderName::try_from(name)?, HeaderValue::try_from(value)?);
    }
    let framing = rendered.framing;
    let acts = acts(reply, rendered);
    if framing == Framing::Length {
        builder = builder.header(CONTENT_LENGTH, acts.length);
    }
    builder.body(Body::from_stream(perform(acts.list)))
}

/// What is done to send a body, and how long it would be if all went well.
struct Acts {
    list: Vec<Act>,
    length: usize,
}

enum Act {
    Send(Bytes),
    Wait(Duration),
    Break,
    Hang,
}

fn acts(reply: &Reply, rendered: Rendered) -> Acts {
    let chunks = oddly(&reply.odd, rendered);
    let length: usize = chunks.iter().map(Bytes::len).sum();
    let (part, end) = match reply.fault {
        // A cut is a cut, even behind the last byte.
        Fault::Cut { after: Place::Bytes(bytes) } => {
            (first(chunks, bytes.min(length.saturating_sub(1))), Some(Act::Break))
        }
        Fault::Cut { after: Place::Events(events) } => {
            let events = events.min(chunks.len().saturating_sub(1));
            (chunks.into_iter().take(events).collect(), Some(Act::Break))
        }
        Fault::Stall { after: Place::Bytes(bytes) } => (first(chunks, bytes), Some(Act::Hang)),
        Fault::Stall { after: Place::Events(events) } => (chunks.into_iter().take(events).collect(), Some(Act::Hang)),
        Fault::None | Fault::Reset | Fault::Silence => (chunks, None),
    };
    let mut list: Vec<Act> = reply.odd.first_token_after.map(Act::Wait).into_iter().collect();
    for (index, chunk) in part.into_iter().enumerate() {
        list.extend(reply.odd.event_every.filter(|_| index > 0).map(Act::Wait));
        list.push(Act::Send(chunk));
    }
    list.extend(end);
    Acts { list, length }
}

/// The pieces of a body with what is odd about them.
fn oddly(odd: &Oddities, rendered: Rendered) -> Vec<Bytes> {
    let is_stream = rendered.framing == Framing::Chunks;
    let mut chunks: Vec<Bytes> = rendered.chunks.into_iter().map(Bytes::from).collect();
    if let Some(nth) = odd.malformed_event.filter(|_| is_stream) {
        let index = nth.saturating_sub(1).min(chunks.len());
        chunks.insert(index, Bytes::from_static(b"data: {\"choices\": [{\"delta\": oops\n\n"));
    }
    if let Some(bytes) = odd.giant {
        let whole = bytes / BLANKS.len();
        chunks.extend(std::iter::repeat_n(Bytes::from_static(&BLANKS), whole));
        chunks.push(Bytes::from_static(BLANKS.get(..bytes % BLANKS.len()).unwrap_or_default()));
    }
    chunks
}

/// The first bytes of a body, in the chunks it came in.
fn first(chunks: Vec<Bytes>, bytes: usize) -> Vec<Bytes> {
    let mut left = bytes;
    let mut part = Vec::new();
    for chunk in chunks {
        if left == 0 {
            break;
        }
        let kept = chunk.slice(..left.min(chunk.len()));
        left -= kept.len();
        part.push(kept);
    }
    part
}

/// Does one act after the other. The server writes what it has when it has to wait, so it is made to wait once before
/// something breaks: otherwise the caller would see nothing of the part.
fn perform(acts: Vec<Act>) -> impl Stream<Item = io::Result<Bytes>> {
    stream::unfold(acts.into_iter(), |mut acts| async move {
        loop {
            match acts.next()? {
                Act::Send(bytes) => return Some((Ok(bytes), acts)),
                Act::Wait(pause) => tokio::time::sleep(pause).await,
                Act::Hang => pending::<()>().await,
                Act::Break => {
                    tokio::task::yield_now().await;
                    return Some((Err(io::ErrorKind::UnexpectedEof.into()), acts));
                }
            }
        }
    })
}
