//! Streams that say when a page has changed. The page then asks for itself again, so what it shows always comes from one place.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Query, State};
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_core::Stream;
use futures_util::{StreamExt as _, stream};
use reknit::EventCursor;
use serde::Deserialize;

use super::UiState;
use super::runs::{recent, version};
use crate::access::Caller;
use crate::request::RunRequest;

/// What happens within this time is one change.
const PAUSE: Duration = Duration::from_millis(100);
/// How often the list of runs is looked at.
const LIST_PAUSE: Duration = Duration::from_millis(700);
/// The list of runs is sent again after so many looks, because it shows ages.
const LOOKS: u32 = 60;
/// The most events that are one change.
const CHUNK: usize = 1_000;

/// A browser ignores an event without data.
fn change(name: &str, id: &str) -> Event {
    Event::default().event(name).id(id).data(name)
}

fn streamed(changes: impl Stream<Item = Event> + Send + 'static) -> impl IntoResponse {
    Sse::new(changes.map(Ok::<_, Infallible>)).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}

pub(super) async fn run(RunRequest { server, run, .. }: RunRequest) -> impl IntoResponse {
    let events = server.runs.watch(&run).events_after(EventCursor(0)).ready_chunks(CHUNK);
    let changes = events.then(|chunk| async move {
        tokio::time::sleep(PAUSE).await;
        change("change", &chunk.last().map_or(0, |event| event.cursor.0).to_string())
    });
    streamed(changes.chain(stream::once(std::future::ready(change("end", "")))))
}

#[derive(Debug, Deserialize)]
pub(super) struct Since {
    /// The version of the list that the page shows.
    #[serde(default)]
    since: String,
}

pub(super) async fn runs(
    State(ui): State<UiState>,
    caller: Caller,
    Query(Since { since }): Query<Since>,
) -> impl IntoResponse {
    let changes = stream::unfold((ui, caller, since, 0), async |(ui, caller, mut known, mut looks)| {
        loop {
            if ui.server.is_stopping() {
                return None;
            }
            looks += 1;
            let now = version(&recent(caller.reknit.runtime()).await.ok()?);
            if now != known || looks >= LOOKS {
                known.clone_from(&now);
                return Some((change("change", &now), (ui, caller, known, 0)));
            }
            tokio::time::sleep(LIST_PAUSE).await;
        }
    });
    streamed(changes)
}
