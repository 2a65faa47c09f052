//! A reply onto the wire, with its faults.

use std::convert::Infallible;
use std::future::pending;
use std::io;

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use futures_util::{Stream, StreamExt, stream};
use reknit_protocol::Value;

use super::{Fault, Reply};
use crate::server::Switch;

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
    let mut builder = Response::builder()
        .status(StatusCode::from_u16(rendered.status)?)
        .header(CONTENT_TYPE, HeaderValue::from_static(rendered.content_type));
    for (name, value) in &reply.headers {
        builder = builder.header(HeaderName::try_from(name)?, HeaderValue::try_from(value)?);
    }
    let length: usize = rendered.chunks.iter().map(String::len).sum();
    if rendered.framing == Framing::Length {
        builder = builder.header(CONTENT_LENGTH, length);
    }
    let chunks = rendered.chunks.into_iter().map(Bytes::from);
    let body = match reply.fault {
        Fault::Cut { after } => {
            let part = first(chunks, after.min(length.saturating_sub(1)));
            Body::from_stream(broken(part))
        }
        Fault::Stall { after } => {
            let part = first(chunks, after);
            Body::from_stream(stream::iter(part.into_iter().map(Ok::<_, Infallible>)).chain(stream::pending()))
        }
        Fault::None | Fault::Reset | Fault::Silence => Body::from_stream(stream::iter(chunks.map(Ok::<_, Infallible>))),
    };
    builder.body(body)
}

/// The first bytes of a body, in the chunks it came in.
fn first(chunks: impl Iterator<Item = Bytes>, bytes: usize) -> Vec<Bytes> {
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

/// The chunks, and then a failure. The server writes what it has when it has to wait, so it is made to wait once:
/// otherwise the caller would see nothing of the part.
fn broken(part: Vec<Bytes>) -> impl Stream<Item = io::Result<Bytes>> {
    let failure = stream::once(async {
        tokio::task::yield_now().await;
        Err(io::ErrorKind::UnexpectedEof.into())
    });
    stream::iter(part.into_iter().map(Ok)).chain(failure)
}
