//! The paths of the protocol, answered by rules.

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Path, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use reknit_protocol::{CapabilityName, Category, Object, ToolError, ToolResponse, Value};

use super::record::Record;
use super::{Call, Offer, When};
use crate::Reply;
use crate::log::Log;
use crate::reply::{Content, Rendered, deliver, internal};
use crate::rules::Rules;
use crate::server::Switch;

/// Larger than what real tools take, smaller than the memory of a test machine.
const MAX_BODY: usize = 16 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) name: String,
    pub(super) offers: Vec<Offer>,
    pub(super) rules: Rules<(CapabilityName, When)>,
    pub(super) log: Log<Call>,
    pub(super) record: Option<Record>,
}

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/api/capabilities", get(list))
        .route("/api/capabilities/{name}", post(call))
        .route("/api/capabilities/{name}/schema", get(schema))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(shared)
}

async fn health(State(shared): State<Arc<Shared>>) -> Response {
    json(&Object::from([("status", "healthy".into()), ("name", shared.name.as_str().into())]).into())
}

async fn list(State(shared): State<Arc<Shared>>) -> Response {
    json(&shared.offers.iter().map(|offer| offer.capability.to_value()).collect())
}

async fn schema(State(shared): State<Arc<Shared>>, Path(name): Path<String>) -> Response {
    let offer = shared.offers.iter().find(|offer| offer.capability.name.as_str() == name);
    match offer.and_then(|offer| offer.schema.clone().or_else(|| offer.capability.input_schema())) {
        Some(schema) => json(&schema),
        None => envelope(&not_found(&name)).into_response(),
    }
}

async fn call(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(switch): ConnectInfo<Switch>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = String::from_utf8_lossy(&body).into_owned();
    if !shared.offers.iter().any(|offer| offer.capability.name.as_str() == name) {
        return envelope(&not_found(&name)).into_response();
    }
    let call = match shared.take(name.into(), body, &headers) {
        Ok(call) => call,
        Err(error) => return internal(&format!("the call cannot be recorded: {error}")),
    };
    let chosen = shared.rules.choose(|(capability, when)| *capability == call.capability && when.applies(&call));
    let Some(reply) = chosen else {
        return internal(&format!(
            "the script has no reply for call {} of {}: {}",
            call.nth, call.capability, call.body
        ));
    };
    deliver(&reply, render(&reply), &switch).await
}

impl Shared {
    /// Records a call, in memory and in the file, before anything is answered.
    fn take(&self, capability: CapabilityName, body: String, headers: &HeaderMap) -> io::Result<Call> {
        let header = |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let key = header("idempotency-key");
        self.log.push_with(|before| {
            let earlier = || before.iter().filter(|call| call.capability == capability);
            let call = Call {
                nth: earlier().count() + 1,
                is_repeat: key.is_some() && earlier().any(|call| call.idempotency_key == key),
                parameters: Value::parse(&body).unwrap_or_default(),
                idempotency_key: key,
                traceparent: header("traceparent"),
                capability,
                body,
            };
            if let Some(record) = &self.record {
                record.add(&self.name, &call)?;
            }
            Ok(call)
        })
    }
}

fn render(reply: &Reply) -> Rendered {
    match &reply.content {
        Content::Text(text) => Rendered::plain(reply.status.unwrap_or(200), text.clone()),
        Content::Body(body) => Rendered::whole(reply.status.unwrap_or(200), body.clone()),
        Content::Refusal(_) => Rendered::plain(500, "the script gives a tool the refusal of a model".to_owned()),
        Content::Data(data) => {
            let body = ToolResponse::ok(data.clone()).to_value().to_string();
            Rendered::whole(reply.status.unwrap_or(200), body)
        }
        Content::Error(error) => {
            let body = ToolResponse::fail(error.clone()).to_value().to_string();
            Rendered::whole(reply.status.unwrap_or_else(|| error.status()), body)
        }
    }
}

fn not_found(name: &str) -> ToolError {
    ToolError::new("CAPABILITY_NOT_FOUND", format!("the scripted tool has no `{name}`"), Category::NotFound)
}

fn envelope(error: &ToolError) -> impl IntoResponse {
    let status = axum::http::StatusCode::from_u16(error.status()).unwrap_or_default();
    (status, json(&ToolResponse::fail(error.clone()).to_value()))
}

fn json(value: &Value) -> Response {
    ([(axum::http::header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}
