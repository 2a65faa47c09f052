//! The HTTP routes of the tool protocol.

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

use crate::call_runner::CallRunner;
use crate::capability::Endpoint;
use crate::idempotency::IdempotencyStore;
use crate::reply::Reply;
use crate::{BuildError, CallContext, CapabilityDefinition, IdempotencyKey, Service, ServiceLimits};

/// What the routes of one service share.
#[derive(Debug)]
pub(crate) struct ServiceState {
    name: String,
    description: String,
    endpoints: Vec<Arc<Endpoint>>,
    limits: ServiceLimits,
    /// Requests beyond the limit are refused at once: a queue would only hide that there are too many.
    call_slots: Semaphore,
    pub(crate) runner: CallRunner,
}

impl ServiceState {
    /// Fails if the schema of a capability is not valid.
    pub(crate) fn new(service: Service) -> Result<Self, BuildError> {
        let endpoints = service.capabilities.into_iter().map(CapabilityDefinition::compile);
        let store = IdempotencyStore::new(service.idempotency);
        Ok(Self {
            endpoints: endpoints.collect::<Result<_, _>>()?,
            name: service.name,
            description: service.description,
            call_slots: Semaphore::new(service.limits.concurrent_calls.min(Semaphore::MAX_PERMITS)),
            runner: CallRunner::new(store, service.limits.call_timeout),
            limits: service.limits,
        })
    }

    pub(crate) fn router(self: Arc<Self>) -> Router {
        Router::new()
            .route("/health", get(health))
            .route("/api/capabilities", get(list))
            .route("/api/capabilities/{name}", post(call))
            .route("/api/capabilities/{name}/schema", get(schema))
            .fallback(unknown_path)
            .method_not_allowed_fallback(wrong_method)
            .layer(DefaultBodyLimit::max(self.limits.body_bytes))
            .with_state(self)
    }

    fn find(&self, name: &str) -> Result<&Arc<Endpoint>, Reply> {
        let endpoint = self.endpoints.iter().find(|endpoint| endpoint.capability.name.as_str() == name);
        endpoint.ok_or_else(|| self.unknown_capability(name))
    }

    fn unknown_capability(&self, name: &str) -> Reply {
        let names = || self.endpoints.iter().map(|endpoint| endpoint.capability.name.as_str());
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

async fn health(State(state): State<Arc<ServiceState>>) -> Response {
    let mut health = Object::from([("status", "healthy".into()), ("name", state.name.as_str().into())]);
    if !state.description.is_empty() {
        health.insert("description", state.description.as_str());
    }
    health.insert("capabilities", state.endpoints.len());
    json(&health.into())
}

async fn list(State(state): State<Arc<ServiceState>>) -> Response {
    json(&state.endpoints.iter().map(|endpoint| endpoint.capability.to_value()).collect())
}

async fn schema(State(state): State<Arc<ServiceState>>, Path(name): Path<String>) -> Response {
    match state.find(&name) {
        Ok(endpoint) => json(endpoint.schema.source()),
        Err(reply) => reply.into_response(),
    }
}

async fn call(State(state): State<Arc<ServiceState>>, Path(name): Path<String>, request: Request) -> Reply {
    match answer(&state, &name, request).await {
        Ok(reply) | Err(reply) => reply,
    }
}

/// `Err` if the request is refused before the handler.
async fn answer(state: &ServiceState, name: &str, request: Request) -> Result<Reply, Reply> {
    let endpoint = state.find(name)?;
    let _slot = state.call_slots.try_acquire().map_err(|_| too_many_calls())?;
    let context = CallContext::new(endpoint.capability.name.clone(), idempotency_key(request.headers())?);
    let bytes = read_body(&state.limits, request).await?;
    let text = str::from_utf8(&bytes).map_err(not_json)?;
    let parameters = Value::parse(text).map_err(not_json)?;
    Ok(state.runner.answer(endpoint, context, parameters).await)
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Reply> {
    let Some(header) = headers.get("idempotency-key") else { return Ok(None) };
    // A header that is not visible ASCII has no text; a blank makes it an invalid key.
    let text = header.to_str().unwrap_or(" ");
    let unusable = |error| invalid_request(format!("the header `Idempotency-Key` cannot be used: {error}"));
    IdempotencyKey::parse(text).map(Some).map_err(|error| Reply::error(&unusable(error)))
}

async fn read_body(limits: &ServiceLimits, request: Request) -> Result<Bytes, Reply> {
    match timeout(limits.body_timeout, Bytes::from_request(request, &())).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)))) => {
            let message = format!("the body is larger than {} bytes", limits.body_bytes);
            let error = ToolError::new("PAYLOAD_TOO_LARGE", message, Category::InputError).retryable(Retryable::No);
            Err(Reply::with_status(413, &error))
        }
        Ok(Err(other)) => Err(Reply::error(&invalid_request(format!("the body cannot be received: {other}")))),
        Err(_) => {
            let message = format!("the body did not arrive within {:?}", limits.body_timeout);
            let error =
                ToolError::new(codes::REQUEST_TIMEOUT, message, Category::ServiceError).retryable(Retryable::Yes);
            Err(Reply::with_status(408, &error))
        }
    }
}

async fn unknown_path(uri: Uri) -> Reply {
    let message = format!("there is nothing at `{}`", uri.path());
    let error = ToolError::new(codes::RESOURCE_NOT_FOUND, message, Category::NotFound)
        .retryable(Retryable::No)
        .detail("hint", "GET /api/capabilities lists the capabilities");
    Reply::error(&error)
}

async fn wrong_method(method: Method, uri: Uri) -> Reply {
    let message = format!("`{}` does not take {method}", uri.path());
    let error = ToolError::new("METHOD_NOT_ALLOWED", message, Category::InputError).retryable(Retryable::No);
    Reply::with_status(405, &error)
}

fn not_json(error: impl std::fmt::Display) -> Reply {
    let error = invalid_request(format!("the body is not JSON: {error}"));
    Reply::error(&error.detail("hint", "send the parameters as one JSON object"))
}

fn invalid_request(message: String) -> ToolError {
    ToolError::new(codes::INVALID_REQUEST, message, Category::InputError).retryable(Retryable::No)
}

fn too_many_calls() -> Reply {
    let message = "too many calls at once; nothing was done";
    let error = ToolError::new(codes::SERVICE_UNAVAILABLE, message, Category::ServiceError);
    Reply::error(&error.retryable(Retryable::Yes))
}

fn json(value: &Value) -> Response {
    ([(CONTENT_TYPE, "application/json")], Body::from(value.to_string())).into_response()
}
