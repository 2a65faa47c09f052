//! Starts a request, a plan or an agent.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use reknit::RunHandle;
use reknit_engine::Metadata;
use reknit_plan::read_plan_file;
use reknit_protocol::{Object, Plan, RunId, Sha256, Value, hex};
use reknit_runtime::RunStart;
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::access::Caller;
use crate::api_error::{ApiError, ErrorBody};
use crate::control::drive_if_abandoned;
use crate::events::{self, StreamedEvent};
use crate::request::JsonBody;
use crate::run_view::{RunView, view};
use crate::state::ServerState;

/// What to run: a request, a plan, or an agent with a request.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartRun {
    /// What is asked for. Without a plan or an agent, a model plans it.
    request: Option<String>,
    /// A plan: the text of a plan file, or the same as JSON.
    #[schema(value_type = Option<Object>)]
    plan: Option<Box<RawValue>>,
    /// An agent: the text of an agent file. `request` is its input.
    agent: Option<String>,
    /// The values of the inputs that the plan declares.
    #[schema(value_type = Option<Object>)]
    inputs: Option<Box<RawValue>>,
    /// Keys and values that are stored with the run.
    #[serde(default)]
    metadata: BTreeMap<String, String>,
    /// The id of the run. A second request with the same id and the same content returns the same run and does nothing twice.
    run_id: Option<String>,
    /// When to answer.
    #[serde(default)]
    mode: StartMode,
}

/// When the answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StartMode {
    /// When the run has ended, or waits for a person.
    #[default]
    Wait,
    /// At once, as server-sent events.
    Stream,
    /// At once, with the id of the run.
    Start,
}

/// Starts a run.
#[utoipa::path(post, path = "/v1/runs", tag = "runs", request_body = StartRun,
    params(("Idempotency-Key" = Option<String>, Header, description = "Instead of `run_id`: the same key starts the same run")),
    responses((status = 200, description = "The run has ended, or waits for a person; its events with `mode: stream`",
            content((RunView = "application/json"), (StreamedEvent = "text/event-stream"))),
        (status = 202, body = RunView, description = "The run goes on"),
        (status = 400, body = ErrorBody), (status = 402, body = ErrorBody, description = "The budget of the token does not cover the run"),
        (status = 409, body = ErrorBody, description = "The id belongs to another request"),
        (status = 429, body = ErrorBody, description = "Too many runs are in progress")))]
pub(crate) async fn start(
    State(server): State<ServerState>,
    caller: Caller,
    headers: HeaderMap,
    JsonBody(body): JsonBody<StartRun>,
) -> Result<Response, ApiError> {
    let mode = body.mode;
    let id = run_id(&caller, &headers, body.run_id.as_deref())?;
    let start = read_start(&server, &caller, id, body)?;
    let handle = match known_run(&server, &caller, &start).await? {
        Some(handle) => handle,
        None => server.start(|| caller.reknit.start(start))?,
    };
    match mode {
        StartMode::Stream => Ok(events::stream(&handle, 0).into_response()),
        StartMode::Wait => {
            handle.settled().await?;
            Ok(Json(view(caller.reknit.runtime(), &handle.id).await?).into_response())
        }
        StartMode::Start => {
            handle.created().await?;
            let location = [(LOCATION, format!("/v1/runs/{}", handle.id))];
            Ok((StatusCode::ACCEPTED, location, Json(view(caller.reknit.runtime(), &handle.id).await?)).into_response())
        }
    }
}

fn read_start(server: &ServerState, caller: &Caller, id: Option<RunId>, body: StartRun) -> Result<RunStart, ApiError> {
    let metadata = Metadata::from_pairs(body.metadata).map_err(|error| ApiError::invalid(error.to_string()))?;
    let runtime = caller.reknit.runtime();
    let inputs = object(body.inputs.as_deref(), "inputs")?;
    match (body.plan, body.agent, body.request) {
        (Some(_), Some(_), _) => Err(ApiError::invalid("send a `plan` or an `agent`, not both")),
        (None, None, None) => Err(ApiError::invalid("send a `request`, a `plan` or an `agent`")),
        (None, Some(_), None) => Err(ApiError::invalid("an `agent` needs a `request`, which is its input")),
        (None, Some(agent), Some(request)) => {
            let session = caller.reknit.session(&agent, &request);
            let session = session.map_err(|error| ApiError::invalid(error.to_string()))?.with_metadata(metadata);
            Ok(RunStart::from(match id {
                Some(id) => session.with_id(id),
                None => session,
            }))
        }
        (plan, None, request) => {
            let plan = plan.map(|plan| read_plan(&plan)).transpose()?;
            let named = plan.as_ref().map(|plan: &Plan| plan.original_request.clone());
            let request = request.or(named).unwrap_or_default();
            let started = match plan {
                Some(plan) => server.started(runtime, &request, plan)?,
                None => runtime.started(&request, None),
            };
            let mut started = started.with_metadata(metadata);
            started.inputs = inputs;
            Ok(RunStart::from(match id {
                Some(id) => started.with_id(id),
                None => started,
            }))
        }
    }
}

/// The run that the same request has started before, also if there is no room for another one.
async fn known_run(server: &ServerState, caller: &Caller, start: &RunStart) -> Result<Option<RunHandle>, ApiError> {
    let Some(summary) = caller.reknit.runtime().driver().started_before(start).await? else { return Ok(None) };
    let run = start.run();
    if summary.status.is_none() {
        drive_if_abandoned(server, run).await?;
    }
    Ok(Some(server.runs.watch(run)))
}

/// The id that the caller chose. Two callers with the same key have two runs.
fn run_id(caller: &Caller, headers: &HeaderMap, given: Option<&str>) -> Result<Option<RunId>, ApiError> {
    let key = headers.get("idempotency-key").map(HeaderValue::as_bytes);
    match (given, key) {
        (Some(_), Some(_)) => Err(ApiError::invalid("send `run_id` or `Idempotency-Key`, not both")),
        (Some(id), None) => RunId::parse(id).map(Some).map_err(|error| ApiError::invalid(format!("`run_id`: {error}"))),
        (None, Some(key)) => {
            let key = [caller.name.as_bytes(), &[0], key].concat();
            Ok(Some(RunId::new(format!("key-{}", hex(&Sha256::digest(key))))))
        }
        (None, None) => Ok(None),
    }
}

/// Reads a plan: text as in a file, or the same as JSON.
pub(crate) fn read_plan(raw: &RawValue) -> Result<Plan, ApiError> {
    let text = match serde_json::from_str::<String>(raw.get()) {
        Ok(text) => text,
        Err(_) => raw.get().to_owned(),
    };
    if matches!(text.trim_start().chars().next(), Some('[') | None) {
        return Err(ApiError::invalid("the plan is a list or empty; a plan is an object with `steps`"));
    }
    match read_plan_file(&text) {
        Ok((plan, _)) => Ok(plan),
        Err(error) => {
            let problems = error.to_string().lines().map(str::to_owned).collect();
            Err(ApiError::invalid("the plan cannot be read").with_problems(problems))
        }
    }
}

fn object(raw: Option<&RawValue>, name: &str) -> Result<Object, ApiError> {
    let Some(raw) = raw else { return Ok(Object::new()) };
    match Value::parse(raw.get()) {
        Ok(Value::Object(object)) => Ok(object),
        _ => Err(ApiError::invalid(format!("`{name}` is not an object"))),
    }
}
