//! The paths of the protocol.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{DefaultBodyLimit, FromRequest, Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use reknit_protocol::spelling::nearest;
use reknit_protocol::tool::codes;
use reknit_protocol::{Category, Object, Retryable, ToolError, Value};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::call::Calls;
use crate::keys::Keys;
use crate::reply::Reply;
use crate::service::Service;
use crate::{CallContext, Capability, IdempotencyKey, Limits};

/// A service that takes requests.
#[derive(Debug)]
pub(crate) struct Open {
    name: String,
    description: String,
    capabilities: Vec<Capability>,
    limits: Limits,
    /// Requests beyond are refused at once: a queue would only hide that there are too many.
    room: Semaphore,
    pub(crate) calls: Calls,
}

impl Open {
    pub(crate) fn new(service: Service) -> Self {
        let calls = Calls::new(Keys::new(service.keys), service.limits.call);
        Self {
            room: Semaphore::new(service.limits.at_once.min(Semaphore::MAX_PERMITS)),
            name: service.name,
            description: service.description,
            capabilities: service.capabilities,
            limits: service.limits,
            calls,
        }
    }

    pub(crate) fn router(self: Arc<Self>) -> Router {
        Router::new()
            .route("/health", get(health))
            .route("/api/capabilities", get(list))
            .route("/api/capabilities/{name}", post(call))
            .route("/api/capabilities/{name}/schema", get(schema))
            .fallback(no_such_path)
            .method_not_allowed_fallback(wrong_method)
            .layer(DefaultBodyLimit::max(self.limits.body))
            .with_state(self)
    }

    fn find(&self, name: &str) -> Result<&Capability, Reply> {
        let found = self.capabilities.iter().find(|capability| capability.name().as_str() == name);
        found.ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, name: &str) -> Reply {
        let names = || self.capabilities.iter().map(|capability| capability.name().as_str());
        let mut error =
            ToolError::new("CAPABILITY_NOT_FOUND", format!("there is no capability `{name}`"), Category::NotFound)
                .retryable(Retryable::No)
                .detail("capabilities", names().map(Value::from).collect::<Vec<_>>());
        if let Some(meant) = nearest(name, names()) {
            error = error.detail("did_you_mean", meant);
        }
        Reply::error(&error)
    }
}

async fn health(State(open): State<Arc<Open>>) -> Response {
    let mut health = Object::from([("status", "healthy".into()), ("name", open.name.as_str().into())]);
    if !open.description.is_empty() {
        health.insert("description", open.description.as_str());
    }
    health.insert("capabilities", open.capabilities.len());
    json(&health.into())
}

async fn list(State(open): State<Arc<Open>>) -> Response {
    json(&open.capabilities.iter().map(|capability| capability.announcement().to_value()).collect())
}

async fn schema(State(open): State<Arc<Open>>, Path(name): Path<String>) -> Response {
    match open.find(&name) {
        Ok(capability) => json(capability.schema()),
        Err(reply) => reply.into_response(),
    }
}

async fn call(State(open): State<Arc<Open>>, Path(name): Path<String>, request: Request) -> Reply {
    match answer(&open, &name, request).await {
        Ok(reply) | Err(reply) => reply,
    }
}

/// `Err` where the handler was never reached.
async fn answer(open: &Open, name: &str, request: Request) -> Result<Reply, Reply> {
    let capability = open.find(name)?;
    let _room = open.room.try_acquire().map_err(|_| Reply::error(&too_many()))?;
    let mut context = CallContext::new(capability.name().clone());
    if let Some(key) = key(request.headers())? {
        context = context.with_key(key);
    }
    let bytes = read(open, request).await?;
    let text = str::from_utf8(&bytes).map_err(|error| Reply::error(&unreadable(&error.to_string())))?;
    let body = Value::parse(text).map_err(|error| Reply::error(&unreadable(&error.to_string())))?;
    Ok(open.calls.answer(capability, context, body).await)
}

fn key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Reply> {
    let Some(header) = headers.get("idempotency-key") else { return Ok(None) };
    // What is no visible ASCII has no text here, and is refused like any other odd key.
    let text = header.to_str().unwrap_or(" ");
    let key = IdempotencyKey::parse(text).map_err(|error| {
        let message = format!("the header `Idempotency-Key` cannot be used: {error}");
        Reply::error(&invalid_request(&message))
    })?;
    Ok(Some(key))
}

async fn read(open: &Open, request: Request) -> Result<Bytes, Reply> {
    match timeout(open.limits.body_time, Bytes::from_request(request, &())).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)))) => {
            let message = format!("the body is larger than {} bytes", open.limits.body);
            let error = ToolError::new("PAYLOAD_TOO_LARGE", message, Category::InputError).retryable(Retryable::No);
            Err(Reply::refusal(413, &error))
        }
        Ok(Err(other)) => Err(Reply::error(&invalid_request(&format!("the body cannot be received: {other}")))),
        Err(_) => {
            let message = format!("the body did not arrive within {:?}", open.limits.body_time);
            let error =
                ToolError::new(codes::REQUEST_TIMEOUT, message, Category::ServiceError).retryable(Retryable::Yes);
            Err(Reply::refusal(408, &error))
        }
    }
}

async fn no_such_path(uri: Uri) -> Reply {
    let message = format!("there is nothing at `{}`", uri.path());
    let error = ToolError::new(codes::RESOURCE_NOT_FOUND, message, Category::NotFound)
        .retryable(Retryable::No)
        .detail("hint", "GET /api/capabilities lists what there is");
    Reply::error(&error)
}

async fn wrong_method(method: Method, uri: Uri) -> Reply {
    let message = format!("`{}` does not take {method}", uri.path());
    let error = ToolError::new("METHOD_NOT_ALLOWED", message, Category::InputError).retryable(Retryable::No);
    Reply::refusal(405, &error)
}

fn unreadable(why: &str) -> ToolError {
    invalid_request(&format!("the body is not JSON: {why}")).detail("hint", "send the parameters as one JSON object")
}

fn invalid_request(message: &str) -> ToolError {
    ToolError::new(codes::INVALID_REQUEST, message, Category::InputError).retryable(Retryable::No)
}

fn too_many() -> ToolError {
    ToolError::new(codes::SERVICE_UNAVAILABLE, "too many calls at once; nothing was done", Category::ServiceError)
        .retryable(Retryable::Yes)
}

fn json(value: &Value) -> Response {
    ([(CONTENT_TYPE, "application/json")], Body::from(value.to_string())).into_response()
}
