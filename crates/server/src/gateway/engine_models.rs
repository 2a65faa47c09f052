//! Model names that run the engine or an agent.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use reknit::RunHandle;
use reknit_engine::Status;
use reknit_gateway::{GatewayError, GatewayRequest, StreamWriter, write_response};
use reknit_model_api::{Attachment, FinishReason, Message, ModelAnswer, Role};
use reknit_runtime::operations::{self, StartOptions};
use reknit_runtime::{NamedAgent, RunStart};

use super::reply::identity;
use crate::access::Caller;
use crate::api_error::ApiError;
use crate::client_api::refused;
use crate::run_view::{RunText, run_text};
use crate::start_run::{run_id, start_once};
use crate::state::ServerState;

/// The model that runs the engine.
const ASK: &str = "reknit/ask";
/// Before the name of an agent.
const AGENT: &str = "agent/";

/// A model that runs the engine or an agent. Its answer is that of the run.
#[derive(Debug)]
pub(super) enum EngineModel {
    Ask,
    Agent(Box<NamedAgent>),
}

impl EngineModel {
    pub(super) fn names(server: &ServerState) -> impl Iterator<Item = String> + use<'_> {
        std::iter::once(ASK.to_owned()).chain(server.agents.keys().map(|name| format!("{AGENT}{name}")))
    }

    pub(super) fn named(server: &ServerState, model: &str) -> Option<Result<Self, GatewayError>> {
        if model == ASK {
            return Some(Ok(Self::Ask));
        }
        let name = model.strip_prefix(AGENT)?;
        let agent = server.agents.get(name).map(|agent| Self::Agent(Box::new(agent.clone())));
        Some(agent.ok_or_else(|| {
            let message = format!("there is no agent `{name}`; `GET /v1/models` lists all");
            GatewayError { status: 404, code: "model_not_found", message, retry_after_ms: None }
        }))
    }

    /// Runs the last message of the user, and answers with what came of it. A request with the same `Idempotency-Key` gets the
    /// answer of the same run.
    pub(super) async fn answer(
        &self,
        server: &ServerState,
        caller: &Caller,
        headers: &HeaderMap,
        request: &GatewayRequest,
    ) -> Result<Response, GatewayError> {
        let Some((input, attachments)) = input_of(&request.request.messages) else {
            return Err(GatewayError::invalid("there is no message of the user with text"));
        };
        let runtime = caller.reknit.runtime();
        let id = run_id(caller, headers, None).map_err(|error| refused(&error))?;
        let start = match self {
            Self::Ask => RunStart::from(runtime.started(&input, None)),
            Self::Agent(agent) => {
                let session = runtime.session_started(agent.as_ref().clone(), &input);
                RunStart::from(session.map_err(|error| GatewayError::invalid(error.to_string()))?)
            }
        };
        let options = StartOptions { id, attachments, ..StartOptions::default() };
        let start = operations::start(runtime, start, options).map_err(|refusal| refused(&refusal.into()))?;
        let handle = start_once(server, caller, start).await.map_err(|error| refused(&error))?;
        let failed = |message: String| GatewayError { status: 500, code: "run_failed", message, retry_after_ms: None };
        handle.settled().await.map_err(|error| refused(&ApiError::from(error)))?;
        let ended = run_text(server.journal(), &handle.id).await.map_err(|error| failed(error.to_string()))?;
        if ended.text.is_empty() {
            return Err(failed(format!("the run `{}` ended without an answer", handle.id)));
        }
        Ok(respond(request, &handle, ended))
    }
}

/// What a run is asked: the last message of the user, and below it what was said before. What tools of the client returned is left
/// out: it would count as what the user says.
fn input_of(messages: &[Message]) -> Option<(String, Vec<Attachment>)> {
    let last = messages.iter().rposition(|message| message.role() == Role::User)?;
    let input = messages.get(last).map(Message::text).filter(|text| !text.trim().is_empty())?;
    let mut earlier = Vec::new();
    let mut attachments = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if message.role() == Role::Tool {
            continue;
        }
        attachments.extend_from_slice(message.attachments());
        if index != last && !message.text().trim().is_empty() {
            earlier.push(format!("[{}] {}", message.role(), message.text().trim()));
        }
    }
    if earlier.is_empty() {
        return Some((input.to_owned(), attachments));
    }
    Some((format!("{}\n\nWhat was said before:\n\n{}", input.trim(), earlier.join("\n\n")), attachments))
}

fn respond(request: &GatewayRequest, handle: &RunHandle, ended: RunText) -> Response {
    let RunText { status, text, usage } = ended;
    let mut answer = ModelAnswer::complete(text, request.model.as_str(), usage);
    if status != Status::Complete.as_str() {
        // Of the reasons that every client knows, the one that says: this is not the whole answer.
        answer.finish = FinishReason::Length;
    }
    let (content_type, body) = if request.stream {
        let mut writer = StreamWriter::new(request.api, identity(), &request.model, request.include_usage);
        let mut out = Vec::new();
        writer.finish(&answer, &answer.text, None, &mut out);
        ("text/event-stream; charset=utf-8", out)
    } else {
        ("application/json", write_response(request.api, &answer, &identity()).to_string().into_bytes())
    };
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(axum::http::header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    for (name, value) in [("x-reknit-run", handle.id.as_str()), ("x-reknit-status", status.as_str())] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    response
}
