//! Cancels, resumes and retries runs, and decides their questions.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use reknit_engine::{DecidedBy, Decision};
use reknit_journal::Liveness;
use reknit_protocol::{Object, RunId, Value};
use reknit_runtime::signals;
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::access::Caller;
use crate::api_error::{ApiError, ErrorBody};
use crate::json_body::JsonBody;
use crate::run_view::{RunView, open_questions, view};
use crate::state::{ServerState, now_ms};

type Accepted = Result<(StatusCode, Json<RunView>), ApiError>;

/// Cancels a run. Calls in progress may still complete.
#[utoipa::path(post, path = "/v1/runs/{run}/cancel", tag = "runs", params(("run" = String, Path)),
    responses((status = 202, body = RunView), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn cancel(
    State(server): State<ServerState>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
) -> Accepted {
    let run = RunId::new(run);
    server.journal().send(&run, signals::cancel(), now_ms()).await?;
    tracing::info!(run = %run, by = &*caller.name, "cancelled a run");
    drive_if_nobody_does(&server, &run).await?;
    Ok((StatusCode::ACCEPTED, Json(view(server.journal(), &run).await?)))
}

/// Continues a run that stopped because its process ended.
#[utoipa::path(post, path = "/v1/runs/{run}/resume", tag = "runs", params(("run" = String, Path)),
    responses((status = 202, body = RunView), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn resume(State(server): State<ServerState>, Path(run): Path<String>) -> Accepted {
    let run = RunId::new(run);
    let summary = server.journal().summary(&run).await?;
    if let Some(status) = summary.status {
        return Err(ApiError::conflict(format!("run `{run}` has ended ({status})")));
    }
    drive_if_nobody_does(&server, &run).await?;
    Ok((StatusCode::ACCEPTED, Json(view(server.journal(), &run).await?)))
}

/// Tries the failed and skipped steps of a run again that has ended. Done steps stay done.
#[utoipa::path(post, path = "/v1/runs/{run}/retry", tag = "runs", params(("run" = String, Path)),
    responses((status = 202, body = RunView), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn retry(State(server): State<ServerState>, Path(run): Path<String>) -> Accepted {
    let run = RunId::new(run);
    server.check_room()?;
    let summary = server.journal().summary(&run).await?;
    if !matches!(summary.status.as_deref(), Some("partial" | "failed" | "budget_exhausted")) {
        let message = "only a run that is partial, that failed or that reached a limit can be retried";
        return Err(ApiError::conflict(format!("run `{run}` is {}: {message}", summary.state())));
    }
    let handle = server.reknit.retry(&run);
    server.runs.add(&handle);
    handle.created().await?;
    Ok((StatusCode::ACCEPTED, Json(view(server.journal(), &run).await?)))
}

/// A decision about a question.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DecisionBody {
    /// The hash of the question. A decision about anything else than what the question shows is refused.
    hash: String,
    /// What is decided.
    decision: DecisionWord,
    /// Why not, for `deny`. A model that made the call reads it.
    reason: Option<String>,
    /// All parameters of the call, for `edit`.
    #[schema(value_type = Option<Object>)]
    parameters: Option<Box<RawValue>>,
    /// The result of the call, for `happened`.
    #[schema(value_type = Option<Value>)]
    result: Option<Box<RawValue>>,
}

/// What is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DecisionWord {
    /// Make the call.
    Approve,
    /// Make the call with other parameters.
    Edit,
    /// Do not make the call.
    Deny,
    /// The call took effect: do not make it again.
    Happened,
    /// The call did not take effect: make it.
    DidNotHappen,
    /// Call the capability that tells whether the call took effect.
    Check,
}

impl DecisionBody {
    fn decision(&self) -> Result<Decision, ApiError> {
        let value = |raw: &Option<Box<RawValue>>| raw.as_deref().and_then(|raw| Value::parse(raw.get()).ok());
        Ok(match self.decision {
            DecisionWord::Approve => Decision::Approve,
            DecisionWord::Deny => Decision::Deny { reason: self.reason.clone() },
            DecisionWord::DidNotHappen => Decision::DidNotHappen,
            DecisionWord::Check => Decision::Check,
            DecisionWord::Edit => match value(&self.parameters) {
                Some(Value::Object(parameters)) => Decision::Edit { parameters },
                _ => {
                    return Err(ApiError::invalid(
                        "`edit` needs `parameters`, all parameters of the call as an object",
                    ));
                }
            },
            DecisionWord::Happened => {
                Decision::Happened { result: value(&self.result).unwrap_or_else(|| Value::Object(Object::new())) }
            }
        })
    }
}

/// Decides a question that a run asks a person.
#[utoipa::path(post, path = "/v1/runs/{run}/decisions/{question}", tag = "runs", request_body = DecisionBody,
    params(("run" = String, Path), ("question" = String, Path, description = "The id of the question, with `/` written as `%2F` or as it is")),
    responses((status = 202, body = RunView), (status = 400, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody, description = "The question shows something else by now, or is decided")))]
pub(crate) async fn decide(
    State(server): State<ServerState>,
    Extension(caller): Extension<Caller>,
    Path((run, question)): Path<(String, String)>,
    JsonBody(body): JsonBody<DecisionBody>,
) -> Accepted {
    let run = RunId::new(run);
    let decision = body.decision()?;
    server.journal().summary(&run).await?;
    let asks = open_questions(server.journal(), &run).await?;
    let Some(ask) = asks.into_iter().find(|ask| ask.id.to_string() == question) else {
        return Err(ApiError::not_found(format!("run `{run}` does not ask `{question}`, or does not any more")));
    };
    if ask.hash != body.hash {
        let message = "the question shows something else than what was decided; read it again";
        return Err(ApiError::conflict(message));
    }
    // One decision counts: whoever comes second learns of the first.
    let _one_at_a_time = server.decisions.lock().await;
    let inbox = server.journal().inbox(&run).await?;
    if let Some(earlier) = signals::decisions(&inbox).get(&ask.id) {
        return Err(ApiError::conflict(format!("the question is decided already: {}", earlier.as_str())));
    }
    let word = decision.as_str();
    let signal = signals::decide_by(ask.id, ask.hash, decision, DecidedBy::Person);
    server.journal().send(&run, signal, now_ms()).await?;
    tracing::info!(run = %run, question, by = &*caller.name, decision = word, "decided a question");
    drive_if_nobody_does(&server, &run).await?;
    Ok((StatusCode::ACCEPTED, Json(view(server.journal(), &run).await?)))
}

/// Continues a run here, unless a living process drives it.
async fn drive_if_nobody_does(server: &ServerState, run: &RunId) -> Result<(), ApiError> {
    if server.runs.driven_run(run).is_some() {
        return Ok(());
    }
    let lease = server.journal().summary(run).await?.lease;
    if lease.is_none_or(|lease| lease.holder.liveness() == Liveness::Dead) {
        server.runs.add(&server.reknit.resume(run));
    }
    Ok(())
}
