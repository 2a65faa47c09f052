//! The events of a run as they happen.

use std::convert::Infallible;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_core::Stream;
use futures_util::StreamExt;
use reknit::{EventCursor, RunHandle};
use reknit_protocol::Value;
use utoipa::ToSchema;

use crate::api_error::{ApiError, ErrorBody};
use crate::request::RunRequest;

/// How often an idle stream sends a comment, so that proxies keep it open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// One event of a stream.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "only the document reads it")]
pub(crate) struct StreamedEvent {
    /// Its number, for `Last-Event-ID`.
    id: Option<String>,
    /// What happened.
    event: Option<String>,
    /// JSON.
    data: Option<String>,
}

/// Follows a run: server-sent events, those that have happened first. The stream ends with the run. `Last-Event-ID` goes on after
/// the event with this id, also after a restart of the server.
#[utoipa::path(get, path = "/v1/runs/{run}/events", tag = "runs",
    params(("run" = String, Path), ("Last-Event-ID" = Option<String>, Header, description = "The id of an event, which is a number")),
    responses((status = 200, content_type = "text/event-stream", body = StreamedEvent),
        (status = 400, body = ErrorBody), (status = 404, body = ErrorBody)))]
pub(crate) async fn follow(request: RunRequest, headers: HeaderMap) -> Result<impl IntoResponse, ApiError> {
    let after = match headers.get("last-event-id") {
        None => 0,
        Some(id) => {
            let id = id.to_str().ok().and_then(|id| id.trim().parse().ok());
            id.ok_or_else(|| ApiError::invalid("`Last-Event-ID` is not the id of an event, which is a number"))?
        }
    };
    Ok(stream(&request.server.runs.watch(&request.run), after))
}

pub(crate) fn stream(handle: &RunHandle, after: u64) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<>> {
    let run = handle.id.clone();
    let events = handle.events_after(EventCursor(after)).filter_map(move |event| {
        let json = event.to_json(&run);
        std::future::ready(json.map(|mut object| {
            let name = object.remove("event").and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
            Ok(Event::default().id(event.cursor.0.to_string()).event(name).data(Value::Object(object).to_string()))
        }))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
}
