//! Cancels, resumes and retries runs, and decides their questions.

use axum::extract::Path;
use reknit_engine::{DecidedBy, Decision};
use reknit_journal::RunSummary;
use reknit_protocol::{RunId, Value, word_enum};
use reknit_runtime::operations::{self, FoundRun, QuestionDecision};
use reknit_runtime::system_ms;
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::api_error::{ApiError, ErrorBody};
use crate::request::{Accepted, JsonBody, RunRequest};
use crate::run_view::RunView;
use crate::state::ServerState;

/// Cancels a run. Calls in progress may still complete.
#[utoipa::path(post, path = "/v1/runs/{run}/cancel", tag = "runs", params(("run" = String, Path)),
    responses((status = 202, body = RunView), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn cancel(request: RunRequest) -> Accepted {
    let RunRequest { server, caller, run, .. } = &request;
    operations::cancel(server.journal(), run, system_ms()).await?;
    tracing::info!(run = %run, by = caller.name(), "cancelled a run");
    drive_if_abandoned(server, run).await?;
    request.accepted().await
}

/// Continues a run that stopped because its process ended. One that has ended stays as it is.
#[utoipa::path(post, path = "/v1/runs/{run}/resume", tag = "runs", params(("run" = String, Path)),
    responses((status = 202, body = RunView), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn resume(request: RunRequest) -> Accepted {
    let RunRequest { server, run, .. } = &request;
    if let FoundRun::Open(machine) = operations::resumable(server.journal(), run, system_ms()).await? {
        operations::check_requirements(server.reknit.runtime(), &machine)?;
        drive_if_abandoned(server, run).await?;
    }
    request.accepted().await
}

/// Tries the failed and skipped steps of a run again that has ended. Done steps stay done.
#[utoipa::path(post, path = "/v1/runs/{run}/retry", tag = "runs", params(("run" = String, Path)),
    responses((status = 202, body = RunView), (status = 404, body = ErrorBody), (status = 409, body = ErrorBody)))]
pub(crate) async fn retry(request: RunRequest) -> Accepted {
    let RunRequest { server, caller, run, .. } = &request;
    // Before there is a handle for it: a run that goes on has one.
    operations::retriable(server.journal(), run).await?;
    server.start(|| caller.reknit.retry(run))?.continued().await?;
    request.accepted().await
}

/// The next message of the user.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MessageBody {
    /// Its text.
    input: String,
}

/// Goes on with a session that has ended: with the next message of the user. The session knows what it knew.
#[utoipa::path(post, path = "/v1/runs/{run}/messages", tag = "runs", request_body = MessageBody, params(("run" = String, Path)),
    responses((status = 202, body = RunView), (status = 400, body = ErrorBody), (status = 402, body = ErrorBody),
        (status = 404, body = ErrorBody), (status = 409, body = ErrorBody, description = "It is no session, or goes on")))]
pub(crate) async fn message(request: RunRequest, JsonBody(body): JsonBody<MessageBody>) -> Accepted {
    let RunRequest { server, caller, run, .. } = &request;
    if body.input.trim().is_empty() {
        return Err(ApiError::invalid("`input` is empty"));
    }
    operations::continuable(server.journal(), run).await?;
    server.start(|| caller.reknit.follow_up(run, &body.input))?.continued().await?;
    request.accepted().await
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
    /// The result of the call, for `happened`; without one it is `null`.
    #[schema(value_type = Option<Value>)]
    result: Option<Box<RawValue>>,
}

word_enum! {
    /// What is decided.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
    #[serde(rename_all = "snake_case")]
    pub(crate) enum DecisionWord {
        /// Make the call.
        Approve = "approve",
        /// Make the call with other parameters.
        Edit = "edit",
        /// Do not make the call.
        Deny = "deny",
        /// The call took effect: do not make it again.
        Happened = "happened",
        /// The call did not take effect: make it.
        DidNotHappen = "did_not_happen",
        /// Call the capability that tells whether the call took effect.
        Check = "check",
    }
}

impl DecisionWord {
    /// The decision, with what belongs to it.
    pub(crate) fn decision(
        self,
        reason: Option<String>,
        parameters: Option<Value>,
        result: Option<Value>,
    ) -> Result<Decision, ApiError> {
        Ok(match self {
            Self::Approve => Decision::Approve,
            Self::Deny => Decision::Deny { reason },
            Self::DidNotHappen => Decision::DidNotHappen,
            Self::Check => Decision::Check,
            Self::Edit => match parameters {
                Some(Value::Object(parameters)) => Decision::Edit { parameters },
                _ => {
                    return Err(ApiError::invalid(
                        "`edit` needs `parameters`, all parameters of the call as an object",
                    ));
                }
            },
            Self::Happened => Decision::Happened { result: result.unwrap_or_default() },
        })
    }
}

/// Decides a question that a run asks a person.
#[utoipa::path(post, path = "/v1/runs/{run}/decisions/{question}", tag = "runs", request_body = DecisionBody,
    params(("run" = String, Path), ("question" = String, Path, description = "The id of the question, with `/` written as `%2F` or as it is")),
    responses((status = 202, body = RunView), (status = 400, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 409, body = ErrorBody, description = "The question shows something else by now, or is decided")))]
pub(crate) async fn decide(
    request: RunRequest,
    Path((_, question)): Path<(String, String)>,
    JsonBody(body): JsonBody<DecisionBody>,
) -> Accepted {
    let value = |raw: Option<Box<RawValue>>| raw.and_then(|raw| Value::parse(raw.get()).ok());
    let decision = body.decision.decision(body.reason, value(body.parameters), value(body.result))?;
    decide_question(&request, QuestionDecision { question, hash: body.hash, decision, by: DecidedBy::Person }).await
}

/// Decides a question, and lets the run go on.
pub(crate) async fn decide_question(request: &RunRequest, decided: QuestionDecision) -> Accepted {
    let RunRequest { server, caller, run, .. } = request;
    let (question, word) = (decided.question.clone(), decided.decision.as_str());
    operations::decide(server.journal(), run, decided, system_ms()).await?;
    tracing::info!(run = %run, question, by = caller.name(), decision = word, "decided a question");
    drive_if_abandoned(server, run).await?;
    request.accepted().await
}

/// The same for an id of a question whose `/` are not written as `%2F`.
pub(crate) async fn decide_plain(
    request: RunRequest,
    Path((run, owner, rest)): Path<(String, String, String)>,
    body: JsonBody<DecisionBody>,
) -> Accepted {
    decide(request, Path((run, format!("{owner}/{rest}"))), body).await
}

/// Continues a run here, unless a living process drives it.
pub(crate) async fn drive_if_abandoned(server: &ServerState, run: &RunId) -> Result<(), ApiError> {
    if server.runs.driven_run(run).is_some() {
        return Ok(());
    }
    let RunSummary { lease, status, .. } = server.journal().summary(run).await?;
    if status.is_none() && lease.is_none_or(|lease| lease.may_be_taken_over(system_ms())) {
        server.runs.add(&server.reknit.resume(run));
    }
    Ok(())
}
