//! Model names that run the engine or an agent.

use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use reknit::RunHandle;
use reknit_gateway::{GatewayError, GatewayRequest, StreamWriter, write_response};
use reknit_model_api::{Message, ModelAnswer, Role, Usage};
use reknit_runtime::{NamedAgent, RunStart};

use super::reply::identity;
use crate::access::Caller;
use crate::api_error::ApiError;
use crate::run_view::answer_text;
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

    /// Runs the last message of the user, and answers with what came of it.
    pub(super) async fn answer(
        &self,
        server: &ServerState,
        caller: &Caller,
        request: &GatewayRequest,
    ) -> Result<Response, GatewayError> {
        let last = request.request.messages.iter().rev().find(|message| message.role() == Role::User);
        let Some(input) = last.map(Message::text).filter(|text| !text.trim().is_empty()) else {
            return Err(GatewayError::invalid("there is no message of the user with text"));
        };
        let runtime = caller.reknit.runtime();
        let start = match self {
            Self::Ask => RunStart::from(runtime.started(input, None)),
            Self::Agent(agent) => {
                let session = runtime.session_started(agent.as_ref().clone(), input);
                RunStart::from(session.map_err(|error| GatewayError::invalid(error.to_string()))?)
            }
        };
        let handle = server.start(|| caller.reknit.start(start)).map_err(|error| refused(&error, Some(1_000)))?;
        let failed = |message: String| GatewayError { status: 500, code: "run_failed", message, retry_after_ms: None };
        handle.settled().await.map_err(|error| refused(&ApiError::from(error), None))?;
        let (text, usage) =
            answer_text(server.journal(), &handle.id).await.map_err(|error| failed(error.to_string()))?;
        if text.is_empty() {
            return Err(failed(format!("the run `{}` ended without an answer", handle.id)));
        }
        Ok(respond(request, &handle, text, usage))
    }
}

/// An error of the API, for clients of a model.
pub(super) fn refused(error: &ApiError, retry_after_ms: Option<u64>) -> GatewayError {
    let (status, code) = (error.status.as_u16(), error.code);
    GatewayError { status, code, message: error.to_string(), retry_after_ms }
}

fn respond(request: &GatewayRequest, handle: &RunHandle, text: String, usage: Usage) -> Response {
    let answer = ModelAnswer::complete(text, request.model.as_str(), usage);
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
    if let Ok(run) = HeaderValue::try_from(handle.id.as_str()) {
        headers.insert(HeaderName::from_static("x-reknit-run"), run);
    }
    response
}
