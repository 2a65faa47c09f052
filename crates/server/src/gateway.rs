//! The gateway: endpoints that speak the APIs of model providers, over the configured models, tools and agents.

mod attempts;
mod bill;
mod engine_models;
mod headers;
mod pass;
mod reply;
mod stream;

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use reknit_gateway::{GatewayError, GatewayRequest, read_request};
use reknit_model_api::{Api, TargetName};
use reknit_protocol::{Object, Value};
use reknit_runtime::RotatingClient;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::Caller;
use crate::client_api::{error_response, refused};
use crate::events::StreamedEvent;
use crate::request::read_body;
use crate::state::ServerState;
use attempts::Attempts;
use bill::Bill;
use engine_models::EngineModel;
pub(crate) use pass::pass;

/// The most that a request may send: enough for images and documents.
pub(crate) const MAX_BODY: usize = 64 << 20;
/// The name of a model that lets the server choose.
const AUTO: &str = "auto";

/// An endpoint that asks models in the API of a provider.
macro_rules! endpoint {
    ($(#[doc = $doc:tt])* $name:ident, $path:tt, $api:ident) => {
        $(#[doc = $doc])*
        #[utoipa::path(post, path = $path, tag = "gateway", request_body(content = Object),
            params(("Idempotency-Key" = Option<String>, Header, description = "Of `reknit/ask` and `agent/NAME`: the same key gets the answer of the same run"),
                ("x-reknit-mend" = Option<String>, Header, description = "`off` passes answers on as they are, `once` asks no model a second time about an answer"),
                ("x-reknit-stream" = Option<String>, Header, description = "`buffered` streams the answer once it is whole")),
            responses((status = 200, content((Object = "application/json"), (StreamedEvent = "text/event-stream"))),
                (status = 400, body = Object), (status = 404, body = Object), (status = 413, body = Object),
                (status = 429, body = Object), (status = 502, body = Object)))]
        pub(crate) async fn $name(server: State<ServerState>, caller: Caller, headers: HeaderMap, body: Body) -> Response {
            serve(server.0, &caller, Api::$api, &headers, body).await
        }
    };
}

endpoint! {
    /// Asks a model in the API of `OpenAI`, `chat/completions`. Its answer is mended.
    chat_completions, "/v1/chat/completions", ChatCompletions
}
endpoint! {
    /// Asks a model in the API of `OpenAI`, `responses`. Its answer is mended.
    responses, "/v1/responses", Responses
}
endpoint! {
    /// Asks a model in the API of Anthropic, `messages`. Its answer is mended.
    messages, "/v1/messages", Messages
}

async fn serve(server: ServerState, caller: &Caller, api: Api, headers: &HeaderMap, body: Body) -> Response {
    let response =
        answer(&server, caller, api, headers, body).await.unwrap_or_else(|error| error_response(api, &error));
    count(&server, api.as_str(), response)
}

fn count(server: &ServerState, api: &str, response: Response) -> Response {
    let status = response.status().as_u16().to_string();
    let labels = [("api", api), ("status", status.as_str())];
    server.metrics.count("reknit_gateway_requests_total", "Requests to the gateway.", &labels, 1);
    response
}

async fn answer(
    server: &ServerState,
    caller: &Caller,
    api: Api,
    headers: &HeaderMap,
    body: Body,
) -> Result<Response, GatewayError> {
    let body = read_body(body, MAX_BODY).await.map_err(|error| refused(&error))?;
    let request = match read_request(api, read_object(&body)?) {
        Ok(request) => request,
        Err(error) => return pass::unread(server, caller, api, headers, read_object(&body)?, &error).await,
    };
    match EngineModel::named(server, &request.model) {
        Some(model) => model?.answer(server, caller, headers, &request).await,
        None => ask_models(server, caller, headers, request).await,
    }
}

fn read_object(body: &[u8]) -> Result<Object, GatewayError> {
    let text = std::str::from_utf8(body).map_err(|_| GatewayError::invalid("the body is not UTF-8"))?;
    match Value::parse(text) {
        Ok(Value::Object(body)) => Ok(body),
        Ok(_) => Err(GatewayError::invalid("the body is not a JSON object")),
        Err(error) => Err(GatewayError::invalid(format!("the body is not JSON: {error}"))),
    }
}

async fn ask_models(
    server: &ServerState,
    caller: &Caller,
    headers: &HeaderMap,
    request: GatewayRequest,
) -> Result<Response, GatewayError> {
    let Some(client) = server.reknit.runtime().model_client() else {
        return Err(GatewayError::invalid("no model is configured; `reknit models` says how to add one"));
    };
    let client = choose(client, &request.model)?;
    refuse_stored_elsewhere(caller, &request.body)?;
    let bill = Bill::reserve(caller.reknit.runtime(), &client, &request).await?;
    let sent = headers::of_question(headers, caller);
    let attempts = Attempts::new(request, headers, sent, Arc::clone(&server.metrics), bill);
    if attempts.request.stream {
        return stream::respond(client, attempts).await;
    }
    reply::whole(client, attempts).await
}

/// Refuses a request that refers to answers which the provider has stored, unless the caller may see those of all tokens.
fn refuse_stored_elsewhere(caller: &Caller, body: &Object) -> Result<(), GatewayError> {
    let Some(stored) = stored_elsewhere(body).filter(|_| !caller.sees_all_runs()) else { return Ok(()) };
    let message = format!(
        "what {stored} refers to is stored by the provider for all tokens of this server, and may belong to another one; send the \
         conversation itself"
    );
    Err(GatewayError { status: 403, code: "forbidden", message, retry_after_ms: None })
}

/// The part of a request that refers to answers which the provider has stored. All tokens have the same account there.
fn stored_elsewhere(body: &Object) -> Option<&'static str> {
    let is_reference = |item: &Value| item.get("type").and_then(Value::as_str) == Some("item_reference");
    let input = body.get("input").and_then(Value::as_array).unwrap_or_default();
    let names = ["previous_response_id", "conversation"].into_iter();
    let mut present = names.filter(|name| body.get(name).is_some_and(|value| !value.is_null()));
    present.next().or_else(|| input.iter().any(is_reference).then_some("an `item_reference`"))
}

/// The client with the named model first. The others are asked if it fails.
fn choose(client: RotatingClient, model: &str) -> Result<RotatingClient, GatewayError> {
    if model == AUTO {
        return Ok(client);
    }
    let models = client.models();
    let by_name = client.targets().iter().find(|target| target.as_str() == model);
    let has_model = |target: &&TargetName| models.target(target).is_some_and(|target| target.model == model);
    let Some(first) = by_name.or_else(|| client.targets().iter().find(has_model)).cloned() else {
        let known: Vec<String> = client.targets().iter().map(|target| format!("`{target}`")).collect();
        let message = format!("there is no model `{model}`; there are `{AUTO}`, {}", known.join(", "));
        return Err(GatewayError { status: 404, code: "model_not_found", message, retry_after_ms: None });
    };
    let others = client.targets().iter().filter(|target| **target != first).cloned();
    let targets = std::iter::once(first.clone()).chain(others).collect();
    Ok(client.with_targets(targets))
}

/// The models of the gateway, for clients of both providers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModelList {
    object: &'static str,
    data: Vec<ListedModel>,
    has_more: bool,
    first_id: Option<String>,
    last_id: Option<String>,
}

/// A model of the gateway.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ListedModel {
    id: String,
    object: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    created: i64,
    created_at: &'static str,
    display_name: String,
    owned_by: String,
}

impl ListedModel {
    fn new(id: String, owned_by: &str) -> Self {
        let (display_name, owned_by) = (id.clone(), owned_by.to_owned());
        let (object, kind, created_at) = ("model", "model", "1970-01-01T00:00:00Z");
        Self { id, object, kind, created: 0, created_at, display_name, owned_by }
    }
}

/// Lists the models that requests can name: `auto`, the configured ones, and those that run the engine or an agent.
#[utoipa::path(get, path = "/v1/models", tag = "gateway", responses((status = 200, body = ModelList)))]
pub(crate) async fn models(State(server): State<ServerState>) -> Json<ModelList> {
    let mut data = Vec::new();
    if let Some(client) = server.reknit.runtime().model_client() {
        data.push(ListedModel::new(AUTO.to_owned(), "reknit"));
        for name in client.targets() {
            let provider = client.models().target(name).map_or("", |target| target.provider.as_str());
            data.push(ListedModel::new(name.to_string(), provider));
        }
    }
    data.extend(EngineModel::names(&server).map(|name| ListedModel::new(name, "reknit")));
    let (first_id, last_id) = (data.first().map(|model| model.id.clone()), data.last().map(|model| model.id.clone()));
    Json(ModelList { object: "list", data, has_more: false, first_id, last_id })
}
