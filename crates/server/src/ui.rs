//! The pages for people: thin handlers that read what the API reads, and let `reknit-web` write it as HTML.

mod fleet;
mod live;
mod new_run;
mod open_questions;
mod page;
mod rules;
mod run;
mod run_digests;
mod runs;
mod session;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{DefaultBodyLimit, FromRef, Request};
use axum::middleware::Next;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Router, middleware};
use reknit_runtime::KeptLessons;

pub(crate) use page::errors_as_pages;
use run_digests::{LoadedRuns, RunDigests};

use crate::access::Gate;
use crate::api_error::ApiError;
use crate::control;
use crate::request::read_body;
use crate::state::ServerState;

const MAX_FORM: usize = 1 << 20;

#[derive(Debug, Clone)]
struct UiState {
    server: ServerState,
    digests: Arc<RunDigests>,
    lessons: Arc<KeptLessons>,
    loaded: Arc<LoadedRuns>,
    gate: Arc<Gate>,
}

impl FromRef<UiState> for ServerState {
    fn from_ref(ui: &UiState) -> Self {
        ui.server.clone()
    }
}

pub(crate) fn router(server: &ServerState, gate: Arc<Gate>) -> Router {
    let digests = Arc::new(RunDigests::new(server.reknit.runtime().policy.prices.clone()));
    let state = UiState { server: server.clone(), digests, lessons: Arc::default(), loaded: Arc::default(), gate };
    Router::new()
        .route("/", get(runs::page))
        .route("/runs/{run}", get(run::page))
        .route("/runs/{run}/compare", get(run::compare))
        .route("/runs/{run}/cancel", post(|request| run::change(request, control::cancel)))
        .route("/runs/{run}/resume", post(|request| run::change(request, control::resume)))
        .route("/runs/{run}/retry", post(|request| run::change(request, control::retry)))
        .route("/runs/{run}/decisions/{question}", post(run::decide))
        .route("/new", get(new_run::page).post(new_run::start))
        .route("/questions", get(fleet::questions))
        .route("/tools", get(fleet::tools))
        .route("/tools/{tool}/{capability}", get(fleet::tool).post(fleet::call))
        .route("/models", get(fleet::models))
        .route("/stats", get(fleet::stats))
        .route("/rules", get(rules::page))
        .route("/rules/{rule}/accept", post(rules::accept))
        .route("/rules/{rule}/reject", post(rules::reject))
        .route("/ui/plan-check", post(new_run::check_plan))
        .route("/ui/changes", get(live::runs))
        .route("/ui/runs/{run}/changes", get(live::run))
        .route("/ui/runs/{run}/events.jsonl", get(run::events))
        .route("/ui/theme", post(session::set_theme))
        .route("/ui/style.css", get(session::style))
        .route("/ui/script.js", get(session::script))
        .route("/ui/icon.svg", get(session::icon))
        .route("/sign-in", get(session::page).post(session::sign_in))
        .route("/sign-out", post(session::sign_out))
        .layer(middleware::from_fn(read_form))
        .layer(DefaultBodyLimit::max(MAX_FORM))
        .with_state(state)
}

/// Reads the whole form before it is handled, within the time that a body may take.
async fn read_form(request: Request, next: Next) -> Result<Response, ApiError> {
    let (parts, body) = request.into_parts();
    let bytes = read_body(body, MAX_FORM).await?;
    Ok(next.run(Request::from_parts(parts, Body::from(bytes))).await)
}
