//! What stays compatible with the systems that Reknit grew from: `POST /orchestrate/natural`, with its path and its bodies.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use reknit::{RunError, RunResult};
use reknit_engine::{Metadata, Outcome, StepReport};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::access::Caller;
use crate::request::JsonBody;
use crate::state::ServerState;

/// A request in natural language.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct NaturalRequest {
    /// What is asked for.
    #[serde(default)]
    #[schema(min_length = 1)]
    request: String,
    /// Keys and values that are stored with the run.
    #[serde(default)]
    metadata: BTreeMap<String, String>,
}

/// The answer to a request in natural language.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NaturalResponse {
    /// The id of the run.
    request_id: String,
    request: String,
    /// The text of the answer.
    response: String,
    tools_used: Vec<String>,
    /// In seconds, as text.
    #[schema(example = "1.25s")]
    execution_time: String,
    step_results: Vec<NaturalStep>,
    /// The share of the steps that are done.
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

/// Why there is no answer.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct NaturalError {
    error: String,
    status: u16,
    success: bool,
}

fn failed(status: StatusCode, error: String) -> Response {
    (status, Json(NaturalError { error, status: status.as_u16(), success: false })).into_response()
}

/// Plans a request with a model, runs the plan and waits for the answer.
#[utoipa::path(post, path = "/orchestrate/natural", tag = "runs", request_body = NaturalRequest,
    responses((status = 200, body = NaturalResponse), (status = 400, body = NaturalError), (status = 500, body = NaturalError),
        (status = 503, body = NaturalError)))]
pub(crate) async fn natural(
    State(server): State<ServerState>,
    caller: Caller,
    body: Result<JsonBody<NaturalRequest>, crate::api_error::ApiError>,
) -> Response {
    let Ok(JsonBody(body)) = body else {
        return failed(StatusCode::BAD_REQUEST, "the body is not a JSON object with `request`".to_owned());
    };
    if body.request.trim().is_empty() {
        return failed(StatusCode::BAD_REQUEST, "`request` is empty".to_owned());
    }
    let metadata = match Metadata::from_pairs(body.metadata) {
        Ok(metadata) => metadata,
        Err(error) => return failed(StatusCode::BAD_REQUEST, error.to_string()),
    };
    if server.reknit.runtime().targets.is_empty() {
        return failed(StatusCode::SERVICE_UNAVAILABLE, "no model is configured that could write a plan".to_owned());
    }
    let started = caller.reknit.runtime().started(&body.request, None).with_metadata(metadata);
    let handle = match server.start(|| caller.reknit.start(started)) {
        Ok(handle) => handle,
        Err(error) => return failed(StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
    };
    let result = match handle.outcome().await {
        Ok(answer) => answer.result,
        Err(RunError::Failed(failure)) => failure.result,
        Err(error) => return failed(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    };
    let RunResult::Answer(answer) = result else {
        return failed(StatusCode::INTERNAL_SERVER_ERROR, "the run is a session".to_owned());
    };
    let steps: Vec<NaturalStep> = answer.steps.iter().map(natural_step).collect();
    let done = steps.iter().filter(|step| step.success).count();
    if done == 0 {
        let reason = answer.reason.clone().unwrap_or_else(|| answer.text.clone());
        return failed(StatusCode::INTERNAL_SERVER_ERROR, reason);
    }
    let mut tools_used: Vec<String> = steps.iter().map(|step| step.tool_name.clone()).collect();
    tools_used.sort_unstable();
    tools_used.dedup();
    #[expect(clippy::cast_precision_loss, reason = "a plan has few steps")]
    let confidence = done as f64 / steps.len() as f64;
    let ms = answer.spent.active_ms;
    let response = NaturalResponse {
        request_id: handle.id.to_string(),
        request: body.request,
        response: answer.text.clone(),
        tools_used,
        execution_time: format!("{}.{:03}s", ms / 1_000, ms % 1_000),
        step_results: steps,
        confidence,
    };
    Json(response).into_response()
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
