//! Starts a request, a plan or an agent, and checks plans without running them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use reknit::RunHandle;
use reknit_engine::{AskScope, Metadata, Started, Synthesis};
use reknit_model_api::Attachment;
use reknit_plan::{PlanAuthor, PlanProblem, check as check_steps, correct_plan, read_plan_file};
use reknit_protocol::{Object, Plan, RunId, Sha256, Value, hex};
use reknit_runtime::operations::{self, StartOptions};
use reknit_runtime::{NamedAgent, RunStart, Runtime};
use serde::{Deserialize, Serialize};
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
    /// How the answer of a run is written: by a `model`, by code (`template`), or as the `raw` results. Without it as configured, and for
    /// a plan by code.
    #[schema(value_type = Option<String>, example = "template")]
    answer: Option<Synthesis>,
    /// Which calls a person is asked about: those that match `rules`, `all` that do not only read, or the `plan` once. It adds questions
    /// to the configured ones, and takes none away.
    #[schema(value_type = Option<String>, example = "all")]
    ask: Option<AskScope>,
    /// Images, documents and sound that models are to look at.
    #[serde(default)]
    attachments: Vec<AttachedFile>,
    /// The id of the run. A second request with the same id and the same content returns the same run and does nothing twice.
    run_id: Option<String>,
    /// When to answer.
    #[serde(default)]
    mode: StartMode,
}

/// A file that belongs to a request.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AttachedFile {
    #[schema(example = "image/png")]
    media_type: String,
    /// Its bytes in Base64.
    base64: String,
    /// The name that the model sees.
    name: Option<String>,
}

impl AttachedFile {
    fn read(self) -> Result<Attachment, ApiError> {
        let attachment = Attachment { name: self.name, ..Attachment::base64(self.media_type, self.base64) };
        if attachment.has_bytes() {
            Ok(attachment)
        } else {
            Err(ApiError::invalid("`attachments`: `base64` is empty or not Base64"))
        }
    }
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
        (status = 409, body = ErrorBody, description = "The id belongs to another request, or to another token"),
        (status = 429, body = ErrorBody, description = "Too many runs are in progress")))]
pub(crate) async fn start(
    State(server): State<ServerState>,
    caller: Caller,
    headers: HeaderMap,
    JsonBody(body): JsonBody<StartRun>,
) -> Result<Response, ApiError> {
    let options = StartOptions {
        id: run_id(&caller, &headers, body.run_id.as_deref())?,
        metadata: Metadata::from_pairs(body.metadata).map_err(|error| ApiError::invalid(error.to_string()))?,
        attachments: body.attachments.into_iter().map(AttachedFile::read).collect::<Result<_, _>>()?,
        answer: body.answer,
        ask: body.ask,
    };
    let new = NewRun {
        options,
        plan: body.plan.map(|plan| read_plan(&plan)).transpose()?,
        agent: body.agent,
        request: body.request,
        inputs: object(body.inputs.as_deref(), "inputs")?,
    };
    let handle = begin(&server, &caller, new).await?;
    match body.mode {
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

/// A run that is to be started.
#[derive(Debug, Default)]
pub(crate) struct NewRun {
    pub(crate) options: StartOptions,
    pub(crate) plan: Option<Plan>,
    /// The text of an agent file.
    pub(crate) agent: Option<String>,
    pub(crate) request: Option<String>,
    pub(crate) inputs: Object,
}

/// Starts a run, or finds the one that the same request has started before.
pub(crate) async fn begin(server: &ServerState, caller: &Caller, new: NewRun) -> Result<RunHandle, ApiError> {
    let start = run_start(server, caller, new)?;
    start_once(server, caller, start).await
}

/// Starts this run, or finds the one that the same request has started before under the same id.
pub(crate) async fn start_once(server: &ServerState, caller: &Caller, start: RunStart) -> Result<RunHandle, ApiError> {
    match known_run(server, caller, &start).await? {
        Some(handle) => Ok(handle),
        None => server.start(|| caller.reknit.start(start)),
    }
}

fn run_start(server: &ServerState, caller: &Caller, new: NewRun) -> Result<RunStart, ApiError> {
    let runtime = caller.reknit.runtime();
    match (new.plan, new.agent, new.request) {
        (Some(_), Some(_), _) => Err(ApiError::invalid("send a `plan` or an `agent`, not both")),
        (None, None, None) => Err(ApiError::invalid("send a `request`, a `plan` or an `agent`")),
        (None, Some(_), None) => Err(ApiError::invalid("an `agent` needs a `request`, which is its input")),
        (None, Some(agent), Some(request)) => {
            let session = caller.reknit.session(&agent, &request);
            let session = session.map_err(|error| ApiError::invalid(error.to_string()))?;
            Ok(operations::start(runtime, session, new.options)?)
        }
        (plan, None, request) => {
            let request = request.or(plan.as_ref().map(|plan| plan.original_request.clone())).unwrap_or_default();
            let started = match plan {
                Some(plan) => server.started(runtime, &request, plan)?,
                None => runtime.started(&request, None),
            };
            Ok(operations::start(runtime, Started { inputs: new.inputs, ..started }, new.options)?)
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

/// The id that the caller chose, or the one that follows from its name and its key: two callers with the same key have two runs.
pub(crate) fn run_id(caller: &Caller, headers: &HeaderMap, given: Option<&str>) -> Result<Option<RunId>, ApiError> {
    let key = headers.get("idempotency-key").map(HeaderValue::as_bytes);
    match (given, key) {
        (Some(_), Some(_)) => Err(ApiError::invalid("send `run_id` or `Idempotency-Key`, not both")),
        (Some(id), None) => parse_id(id).map(Some),
        (None, Some(key)) => {
            let key = [caller.name().as_bytes(), &[0], key].concat();
            Ok(Some(RunId::new(format!("{}{}", RunId::KEY_PREFIX, hex(&Sha256::digest(key))))))
        }
        (None, None) => Ok(None),
    }
}

/// Reads a plan: text as in a file, or the same as JSON.
fn read_plan(raw: &RawValue) -> Result<Plan, ApiError> {
    read_plan_text(&serde_json::from_str::<String>(raw.get()).unwrap_or_else(|_| raw.get().to_owned()))
}

pub(crate) fn read_plan_text(text: &str) -> Result<Plan, ApiError> {
    if matches!(text.trim_start().chars().next(), Some('[') | None) {
        return Err(ApiError::invalid("the plan is a list or empty; a plan is an object with `steps`"));
    }
    match read_plan_file(text) {
        Ok((plan, _)) => Ok(plan),
        Err(error) => {
            let problems = error.to_string().lines().map(str::to_owned).collect();
            Err(ApiError::invalid("the plan cannot be read").with_problems(problems))
        }
    }
}

pub(crate) fn parse_id(id: &str) -> Result<RunId, ApiError> {
    RunId::parse_foreign(id).map_err(|error| ApiError::invalid(format!("`run_id`: {error}")))
}

fn object(raw: Option<&RawValue>, name: &str) -> Result<Object, ApiError> {
    let Some(raw) = raw else { return Ok(Object::new()) };
    match Value::parse(raw.get()) {
        Ok(Value::Object(object)) => Ok(object),
        _ => Err(ApiError::invalid(format!("`{name}` is not an object"))),
    }
}

/// A plan to check.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckRequest {
    /// The text of a plan file, or the same as JSON.
    #[schema(value_type = Object)]
    plan: Box<RawValue>,
}

/// What is wrong with a plan.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CheckResponse {
    /// Whether it can be run.
    valid: bool,
    /// The number of its steps.
    steps: usize,
    /// What is wrong.
    problems: Vec<ProblemView>,
}

/// A problem of a plan.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProblemView {
    /// A word for programs.
    code: String,
    /// Where it is.
    location: String,
    /// What is wrong.
    message: String,
    /// What to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl From<&PlanProblem> for ProblemView {
    fn from(problem: &PlanProblem) -> Self {
        Self {
            code: problem.code.to_string(),
            location: problem.location.to_string(),
            message: problem.message.clone(),
            hint: problem.hint.clone(),
        }
    }
}

/// Checks a plan against the tools, without running it.
#[utoipa::path(post, path = "/v1/plans/check", tag = "plans", request_body = CheckRequest,
    responses((status = 200, body = CheckResponse), (status = 400, body = ErrorBody)))]
pub(crate) async fn check(
    State(server): State<ServerState>,
    caller: Caller,
    JsonBody(body): JsonBody<CheckRequest>,
) -> Result<Json<CheckResponse>, ApiError> {
    let plan = read_plan(&body.plan)?;
    let steps = plan.steps.len();
    let problems: Vec<ProblemView> =
        problems_of(&server, caller.reknit.runtime(), plan).iter().map(ProblemView::from).collect();
    Ok(Json(CheckResponse { valid: problems.is_empty(), steps, problems }))
}

/// What is wrong with a plan for the tools of this server.
pub(crate) fn problems_of(server: &ServerState, runtime: &Runtime, mut plan: Plan) -> Vec<PlanProblem> {
    let catalogue = runtime.current_catalogue();
    let agents = server.agents_of(&plan);
    // Without a name for its agents, the catalogue has none, and the check says that they are missing.
    let with_agents = catalogue.with_agents(agents.iter().map(NamedAgent::announcement));
    let catalogue = with_agents.map_or(catalogue, Arc::new);
    correct_plan(&mut plan, &catalogue, PlanAuthor::Person);
    check_steps(&plan, &catalogue, PlanAuthor::Person).err().unwrap_or_default()
}
