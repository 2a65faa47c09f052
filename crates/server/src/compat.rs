//! What stays compatible with the systems that Reknit grew from: `POST /orchestrate/natural`, with its path and its bodies.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use reknit::RunHandle;
use reknit_engine::{Answer, Ending, Metadata, Outcome, Overview, Status, StepReport, Synthesis};
use reknit_runtime::run_overview;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::access::Caller;
use crate::api_error::ApiError;
use crate::request::JsonBody;
use crate::run_view::{RunView, view};
use crate::start_run::{run_id, start_once};
use crate::state::ServerState;

/// A request in natural language.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct NaturalRequest {
    /// What is asked for.
    #[serde(default)]
    #[schema(min_length = 1)]
    request: String,
    /// Whether a model writes the answer, or code; the configuration decides if it is missing.
    ai_synthesis: Option<bool>,
    /// Keys and values that are stored with the run. Values that are not texts are stored as JSON.
    #[serde(default)]
    #[schema(value_type = Object)]
    metadata: BTreeMap<String, Box<RawValue>>,
}

/// The answer to a request in natural language.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NaturalResponse {
    /// The id of the run.
    request_id: String,
    request: String,
    /// `complete`, `partial`, `failed` and so on.
    #[schema(example = "complete")]
    status: String,
    /// The text of the answer.
    response: String,
    tools_used: Vec<String>,
    /// In seconds, as text.
    #[schema(example = "1.25s")]
    execution_time: String,
    step_results: Vec<NaturalStep>,
    /// What failed, one sentence each.
    errors: Vec<String>,
    /// The steps without a result and the outputs without a value.
    missing: Vec<String>,
    /// What a reader should verify, one sentence each.
    doubts: Vec<String>,
    /// 1 if everything was done and nothing is in doubt, else half of the share of the steps that are done.
    confidence: f64,
}

/// A step of a run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NaturalStep {
    step_id: String,
    tool_name: String,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// A run that waits for a person.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NaturalWaiting {
    /// The id of the run, for `GET /v1/runs/{run}`.
    request_id: String,
    #[serde(flatten)]
    run: RunView,
}

/// Why there is no answer.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NaturalError {
    error: String,
    status: u16,
    success: bool,
    /// The id of the run, if one was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
}

fn failed(status: StatusCode, error: &impl ToString) -> Response {
    failed_run(status, error, None)
}

fn failed_run(status: StatusCode, error: &impl ToString, request_id: Option<String>) -> Response {
    let body = NaturalError { error: error.to_string(), status: status.as_u16(), success: false, request_id };
    (status, Json(body)).into_response()
}

/// Plans a request with a model, runs the plan and waits for the answer.
#[utoipa::path(post, path = "/orchestrate/natural", tag = "runs", request_body = NaturalRequest,
    params(("Idempotency-Key" = Option<String>, Header, description = "The same key gets the answer of the same run")),
    responses((status = 200, body = NaturalResponse), (status = 202, body = NaturalWaiting, description = "The run waits for a person"),
        (status = 400, body = NaturalError), (status = 500, body = NaturalError), (status = 503, body = NaturalError)))]
pub(crate) async fn natural(
    State(server): State<ServerState>,
    caller: Caller,
    headers: HeaderMap,
    body: Result<JsonBody<NaturalRequest>, ApiError>,
) -> Response {
    let body = match body {
        Ok(JsonBody(body)) => body,
        Err(error) => return failed(StatusCode::BAD_REQUEST, &error),
    };
    if body.request.trim().is_empty() {
        return failed(StatusCode::BAD_REQUEST, &"`request` is empty");
    }
    if server.reknit.runtime().targets.is_empty() {
        return failed(StatusCode::SERVICE_UNAVAILABLE, &"no model is configured that could write a plan");
    }
    let handle = match begin(&server, &caller, &headers, &body).await {
        Ok(handle) => handle,
        // A server without room says so with the status that clients of this path know.
        Err(error) if error.status == StatusCode::TOO_MANY_REQUESTS => {
            return failed(StatusCode::SERVICE_UNAVAILABLE, &error);
        }
        Err(error) => return failed(error.status, &error),
    };
    let id = handle.id.to_string();
    match answer(&caller, &handle, body.request).await {
        Ok(response) => response,
        Err(error) => failed_run(StatusCode::INTERNAL_SERVER_ERROR, &error, Some(id)),
    }
}

async fn begin(
    server: &ServerState,
    caller: &Caller,
    headers: &HeaderMap,
    body: &NaturalRequest,
) -> Result<RunHandle, ApiError> {
    let text = |value: &RawValue| serde_json::from_str(value.get()).unwrap_or_else(|_| value.get().to_owned());
    let metadata = body.metadata.iter().map(|(key, value)| (key.as_str(), text(value)));
    let metadata = Metadata::from_pairs(metadata).map_err(|error| ApiError::invalid(error.to_string()))?;
    let mut started = caller.reknit.runtime().started(&body.request, None).with_metadata(metadata);
    match body.ai_synthesis {
        Some(true) => Arc::make_mut(&mut started.policy).synthesis = Synthesis::Model,
        Some(false) => Arc::make_mut(&mut started.policy).synthesis = Synthesis::Template,
        None => {}
    }
    if let Some(id) = run_id(caller, headers, None)? {
        started = started.with_id(id);
    }
    start_once(server, caller, started.into()).await
}

/// Waits until the run has ended or waits for a person.
async fn answer(caller: &Caller, handle: &RunHandle, request: String) -> Result<Response, ApiError> {
    handle.settled().await?;
    let runtime = caller.reknit.runtime();
    let request_id = handle.id.to_string();
    let Overview::Run(run) = run_overview(&runtime.journal, &handle.id).await? else {
        return Ok(failed_run(StatusCode::INTERNAL_SERVER_ERROR, &"the run is a session", Some(request_id)));
    };
    let Some(answer) = run.answer else {
        let location = [(LOCATION, format!("/v1/runs/{request_id}"))];
        let waiting = NaturalWaiting { request_id, run: view(runtime, &handle.id).await? };
        return Ok((StatusCode::ACCEPTED, location, Json(waiting)).into_response());
    };
    let response = natural_response(request_id, request, &answer);
    let has_result = matches!(answer.status, Status::Complete | Status::Partial);
    if !has_result && !response.step_results.iter().any(|step| step.success) {
        let reason = answer.reason.unwrap_or(answer.text);
        return Ok(failed_run(StatusCode::INTERNAL_SERVER_ERROR, &reason, Some(response.request_id)));
    }
    Ok(Json(response).into_response())
}

fn natural_response(request_id: String, request: String, answer: &Answer) -> NaturalResponse {
    let step_results: Vec<NaturalStep> = answer.steps.iter().map(natural_step).collect();
    let mut tools_used: Vec<String> = step_results.iter().map(|step| step.tool_name.clone()).collect();
    tools_used.sort_unstable();
    tools_used.dedup();
    let failed = answer.steps.iter().filter_map(|step| match &step.outcome {
        Outcome::Failed { reason, .. } | Outcome::Unconfirmed { reason, .. } => {
            Some(format!("{}: {reason}", step.step))
        }
        Outcome::Done(_) | Outcome::Skipped { .. } => None,
    });
    let unfinished = step_results.iter().filter(|step| !step.success).map(|step| step.step_id.clone());
    let missing = unfinished.chain(answer.missing_outputs.iter().map(|output| format!("output {}", output.name)));
    let reason = answer.reason.clone().filter(|_| answer.status != Status::Complete);
    let ms = answer.spent.active_ms;
    NaturalResponse {
        request_id,
        request,
        status: answer.status.as_str().to_owned(),
        response: Ending::Answer(answer).full_text(),
        tools_used,
        execution_time: format!("{}.{:03}s", ms / 1_000, ms % 1_000),
        errors: reason.into_iter().chain(failed).collect(),
        missing: missing.collect(),
        doubts: answer.doubts.clone(),
        confidence: confidence(answer, &step_results),
        step_results,
    }
}

fn confidence(answer: &Answer, steps: &[NaturalStep]) -> f64 {
    if answer.status == Status::Complete && answer.doubts.is_empty() {
        return 1.0;
    }
    let done = steps.iter().filter(|step| step.success).count();
    #[expect(clippy::cast_precision_loss, reason = "a plan has few steps")]
    let share = done as f64 / steps.len().max(1) as f64;
    share / 2.0
}

fn natural_step(report: &StepReport) -> NaturalStep {
    let error = match &report.outcome {
        Outcome::Done(_) => None,
        Outcome::Failed { reason, .. } | Outcome::Unconfirmed { reason, .. } | Outcome::Skipped { reason, .. } => {
            Some(reason.clone())
        }
    };
    let (step_id, tool_name) = (report.step.to_string(), report.tool.to_string());
    NaturalStep { step_id, tool_name, success: error.is_none(), error }
}
