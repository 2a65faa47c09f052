//! Lists and shows runs.

use axum::Json;
use axum::extract::{Path, Query};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use reknit_engine::{Event, Overview, explain as explain_overview};
use reknit_journal::{RunFilter, RunSummary, StatusFilter};
use reknit_protocol::RunId;
use reknit_runtime::{Runtime, operations, run_overview};
use reknit_telemetry::Interaction;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use crate::access::Caller;
use crate::api_error::{ApiError, ErrorBody};
use crate::request::RunRequest;
use crate::run_view::{RunLine, RunView, view};

const MAX_RUNS: u32 = 1_000;
/// The number of runs in one answer if the caller names none.
const DEFAULT_RUNS: u32 = 50;

#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// Only runs with this status: `running`, `waiting`, `stopped`, `parked`, or how they ended.
    pub(crate) status: Option<String>,
    /// Only runs that started at this time or later, in milliseconds since 1970.
    pub(crate) since_ms: Option<i64>,
    /// Only runs whose request contains this text.
    pub(crate) search: Option<String>,
    /// How many runs; 50 without it, at most 1,000.
    #[param(minimum = 1, maximum = 1_000)]
    pub(crate) limit: Option<u32>,
    /// Where to go on: `next` of the answer before.
    pub(crate) after: Option<String>,
}

/// Runs, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunList {
    runs: Vec<RunLine>,
    /// `after` of the next request; missing if there are no more runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Lists runs.
#[utoipa::path(get, path = "/v1/runs", tag = "runs", params(ListQuery),
    responses((status = 200, body = RunList), (status = 400, body = ErrorBody)))]
pub(crate) async fn list(
    caller: Caller,
    query: Result<Query<ListQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<RunList>, ApiError> {
    let Query(query) = query.map_err(|error| ApiError::invalid(error.body_text()))?;
    let (found, next) = find(caller.reknit.runtime(), query).await?;
    Ok(Json(RunList { runs: found.iter().map(RunLine::from).collect(), next }))
}

/// The runs that a query asks for, and where the next ones begin.
pub(crate) async fn find(runtime: &Runtime, query: ListQuery) -> Result<(Vec<RunSummary>, Option<String>), ApiError> {
    let limit = query.limit.unwrap_or(DEFAULT_RUNS);
    if limit == 0 || limit > MAX_RUNS {
        return Err(ApiError::invalid(format!("`limit` is {limit}; it can be 1 to {MAX_RUNS}")));
    }
    let status = match query.status.as_deref() {
        None => StatusFilter::All,
        Some("running" | "waiting" | "stopped" | "parked") => StatusFilter::Unfinished,
        Some(status) => StatusFilter::Status(status.to_owned()),
    };
    // The journal does not know which of the unfinished runs wait.
    let read = if status == StatusFilter::Unfinished { u32::MAX } else { limit + 1 };
    let (since_ms, title, after) = (query.since_ms, query.search, query.after.map(RunId::new));
    let filter = RunFilter { since_ms, title, after, ..RunFilter::of_status(status, read) };
    let is_wanted = |run: &RunSummary| query.status.as_ref().is_none_or(|status| run.state() == status);
    let mut found = runtime.runs(&filter).await?.into_iter().filter(is_wanted);
    let runs: Vec<RunSummary> = found.by_ref().take(limit as usize).collect();
    let next = found.next().and_then(|_| runs.last()).map(|last| last.run.to_string());
    Ok((runs, next))
}

/// Shows a run: its result, or the questions that it waits for.
#[utoipa::path(get, path = "/v1/runs/{run}", tag = "runs", params(("run" = String, Path, description = "The id of the run")),
    responses((status = 200, body = RunView), (status = 404, body = ErrorBody)))]
pub(crate) async fn show(caller: Caller, Path(run): Path<String>) -> Result<Json<RunView>, ApiError> {
    Ok(Json(view(caller.reknit.runtime(), &RunId::new(run)).await?))
}

/// Explains a run in plain words: what was asked, what was done, what failed and how it was mended, what is missing.
#[utoipa::path(get, path = "/v1/runs/{run}/explain", tag = "runs", params(("run" = String, Path)),
    responses((status = 200, body = Object), (status = 404, body = ErrorBody)))]
pub(crate) async fn explain(request: RunRequest) -> Result<impl IntoResponse, ApiError> {
    let explanation = operations::explain(request.server.journal(), &request.run).await?;
    Ok(Json(serde_json::value::to_raw_value(&explanation).map_err(ApiError::unwritable)?))
}

/// Draws the steps of a run and what they need.
#[utoipa::path(get, path = "/v1/runs/{run}/graph.svg", tag = "runs", params(("run" = String, Path)),
    responses((status = 200, content_type = "image/svg+xml", body = String), (status = 404, body = ErrorBody)))]
pub(crate) async fn graph(RunRequest { server, run, .. }: RunRequest) -> Result<impl IntoResponse, ApiError> {
    let overview = run_overview(server.journal(), &run).await?;
    if matches!(overview, Overview::Session(_)) {
        return Err(ApiError::not_found(format!("run `{run}` is a session, which has no plan to draw")));
    }
    Ok(([(CONTENT_TYPE, "image/svg+xml")], explain_overview(&overview, "").graph.to_svg()))
}

/// What models were asked in a run, and what they answered.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InteractionList {
    /// In the order of their ends. Secrets are redacted.
    #[schema(value_type = Vec<Object>)]
    interactions: Vec<Box<RawValue>>,
}

/// Lists what models were asked in a run, and what they answered. The setting `llm-debug.enabled` allows it.
#[utoipa::path(get, path = "/v1/runs/{run}/interactions", tag = "runs", params(("run" = String, Path)),
    responses((status = 200, body = InteractionList), (status = 403, body = ErrorBody, description = "`llm-debug` is off"),
        (status = 404, body = ErrorBody)))]
pub(crate) async fn interactions(request: RunRequest) -> Result<Json<InteractionList>, ApiError> {
    let events = request.server.journal().events(&request.run, 0).await?;
    let decoded = events.iter().map(|stored| serde_json::from_str::<Event>(&stored.body));
    let events = decoded.collect::<Result<Vec<_>, _>>().map_err(ApiError::unwritable)?;
    let found = reknit_telemetry::interactions(&events).map_err(|error| ApiError::conflict(error.to_string()))?;
    let Some(found) = found else {
        let message = "the texts of models are not shown: `llm-debug.enabled` was off when the run started";
        return Err(ApiError::forbidden(message));
    };
    let raw = |interaction: &Interaction| RawValue::from_string(interaction.to_value().to_string());
    let interactions = found.iter().map(raw).collect::<Result<_, _>>().map_err(ApiError::unwritable)?;
    Ok(Json(InteractionList { interactions }))
}
