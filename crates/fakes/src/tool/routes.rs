//! The HTTP routes of the tool protocol, answered by rules.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use reknit_protocol::{CapabilityName, Category, Object, ToolError, ToolResponse, Value};

use super::{AnnouncedCapability, CallMatcher, RecordedCall};
use crate::Reply;
use crate::reply::{Content, Rendered, deliver, script_error};
use crate::rules::Rules;
use crate::server::{Log, ResetSwitch};

#[derive(Debug)]
pub(super) struct ToolState {
    pub(super) name: String,
    pub(super) capabilities: Vec<AnnouncedCapability>,
    pub(super) rules: Rules<(CapabilityName, CallMatcher)>,
    pub(super) log: Log<RecordedCall>,
    pub(super) call_file: Option<PathBuf>,
}

pub(super) fn router(state: Arc<ToolState>) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/api/capabilities", get(list))
        .route("/api/capabilities/{name}", post(call))
        .route("/api/capabilities/{name}/schema", get(schema))
        .with_state(state)
}

async fn health(State(state): State<Arc<ToolState>>) -> Response {
    json(&Object::from([("status", "healthy".into()), ("name", state.name.as_str().into())]).into())
}

async fn list(State(state): State<Arc<ToolState>>) -> Response {
    json(&state.capabilities.iter().map(|announced| announced.capability.to_value()).collect())
}

async fn schema(State(state): State<Arc<ToolState>>, Path(name): Path<String>) -> Response {
    let schema = state.find(&name).and_then(|found| found.schema.clone().or_else(|| found.capability.input_schema()));
    match schema {
        Some(schema) => json(&schema),
        None => envelope(&not_found(&name)).into_response(),
    }
}

async fn call(
    State(state): State<Arc<ToolState>>,
    ConnectInfo(reset_switch): ConnectInfo<ResetSwitch>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = String::from_utf8_lossy(&body).into_owned();
    if state.find(&name).is_none() {
        return envelope(&not_found(&name)).into_response();
    }
    let call = match state.record(name.into(), body, &headers) {
        Ok(call) => call,
        Err(error) => return script_error(&format!("the call cannot be recorded: {error}")),
    };
    let chosen = state.rules.choose(|(capability, matcher)| *capability == call.capability && matcher.matches(&call));
    let Some(reply) = chosen else {
        return script_error(&format!(
            "the script has no reply for call {} of {}: {}",
            call.nth, call.capability, call.body
        ));
    };
    deliver(&reply, render(&reply), &reset_switch).await
}

impl ToolState {
    fn find(&self, name: &str) -> Option<&AnnouncedCapability> {
        self.capabilities.iter().find(|announced| announced.capability.name.as_str() == name)
    }

    /// Records a call in memory and in the file.
    fn record(&self, capability: CapabilityName, body: String, headers: &HeaderMap) -> io::Result<RecordedCall> {
        let header = |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let key = header("idempotency-key");
        self.log.push_with(|before| {
            let earlier = || before.iter().filter(|call| call.capability == capability);
            let call = RecordedCall {
                nth: earlier().count() + 1,
                is_repeat: key.is_some() && earlier().any(|call| call.idempotency_key == key),
                parameters: Value::parse(&body).unwrap_or_default(),
                idempotency_key: key,
                traceparent: header("traceparent"),
                capability,
                body,
            };
            if let Some(file) = &self.call_file {
                call.append_to(file, &self.name)?;
            }
            Ok(call)
        })
    }
}

fn render(reply: &Reply) -> Rendered {
    match &reply.content {
        Content::Text(text) => Rendered::plain(reply.status.unwrap_or(200), text.clone()),
        Content::Body(body) => Rendered::one_chunk(reply.status.unwrap_or(200), body.clone()),
        Content::Refusal(_) => Rendered::plain(500, "the script gives a tool a reply that only models have".to_owned()),
        Content::Data(data) => {
            let body = ToolResponse::ok(data.clone()).to_value().to_string();
            Rendered::one_chunk(reply.status.unwrap_or(200), body)
        }
        Content::Error(error) => {
            let body = ToolResponse::fail(error.clone()).to_value().to_string();
            Rendered::one_chunk(reply.status.unwrap_or_else(|| error.status()), body)
        }
    }
}

fn not_found(name: &str) -> ToolError {
    ToolError::new("CAPABILITY_NOT_FOUND", format!("the scripted tool has no capability `{name}`"), Category::NotFound)
}

fn envelope(error: &ToolError) -> impl IntoResponse {
    let status = axum::http::StatusCode::from_u16(error.status()).unwrap_or_default();
    (status, json(&ToolResponse::fail(error.clone()).to_value()))
}

fn json(value: &Value) -> Response {
    ([(axum::http::header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}
