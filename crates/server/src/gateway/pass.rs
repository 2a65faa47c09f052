//! Requests that the gateway does not read: they are sent to the server of a provider as they are.

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use reknit_gateway::{GatewayError, RequestError};
use reknit_model_api::{Api, TargetName};
use reknit_models::{Models, PassedRequest, PassedResponse};
use reknit_protocol::{Object, Value};

use super::engine_models::EngineModel;
use super::{AUTO, MAX_BODY, headers, reply};
use crate::access::Caller;
use crate::api_error::ApiError;
use crate::client_api::{client_api, error_response, refused};
use crate::request::read_body;
use crate::state::ServerState;

/// Requests that use nothing that the provider has stored. All tokens of this server have the same account there.
const WITHOUT_STORE: [&str; 9] = [
    "/embeddings",
    "/moderations",
    "/audio/",
    "/images/",
    "/completions",
    "/rerank",
    "/chat/completions",
    "/messages/count_tokens",
    "/responses/input_tokens",
];
/// Requests that cost nothing.
const FREE: [&str; 2] = ["/messages/count_tokens", "/responses/input_tokens"];

/// Answers a request to a path of a provider, or to none.
pub(crate) async fn pass(State(server): State<ServerState>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let (Some(api), Some(caller)) = (client_api(&path, &parts.headers), parts.extensions.get::<Caller>()) else {
        return ApiError::not_found("there is no such path; `/openapi.json` lists all of them").into_response();
    };
    let below = path.strip_prefix("/v1").unwrap_or_default();
    let query = parts.uri.query().map(str::to_owned);
    let request = PassedRequest {
        method: parts.method,
        path: below.to_owned(),
        query,
        headers: headers::of_request(&parts.headers, caller),
        body: Vec::new(),
    };
    let result = forward(&server, caller, api, request, body).await;
    let response = result.unwrap_or_else(|error| error_response(api, &error));
    super::count(&server, "other", response)
}

async fn forward(
    server: &ServerState,
    caller: &Caller,
    api: Api,
    request: PassedRequest,
    body: Body,
) -> Result<Response, GatewayError> {
    let body = read_body(body, MAX_BODY).await.map_err(|error| refused(&error))?;
    let no_server = || {
        let api = if api == Api::Messages { "Anthropic" } else { "OpenAI" };
        let message = format!("there is no such path, and no model with the API of {api} to which it could be sent");
        GatewayError { status: 404, code: "not_found", message, retry_after_ms: None }
    };
    let client = server.reknit.runtime().model_client().ok_or_else(no_server)?;
    let json = read_json(&request.headers, &body);
    let target = choose(client.models(), client.targets(), api, json.as_ref()).ok_or_else(no_server)?;
    check(caller, &request)?;
    let body = json.map_or_else(|| body.to_vec(), |json| with_model(client.models(), &target, json, &body));
    send(client.models(), &target, PassedRequest { body, ..request }).await
}

/// Sends a question that could not be read to the model that it names, if its server has the same API: the provider knows what is
/// valid. Fails with what is wrong with it otherwise, and for a token with a budget.
pub(super) async fn unread(
    server: &ServerState,
    caller: &Caller,
    api: Api,
    given: &HeaderMap,
    body: Object,
    error: &RequestError,
) -> Result<Response, GatewayError> {
    let invalid = || GatewayError::invalid(error.to_string());
    let named = body.get("model").and_then(Value::as_str).filter(|name| EngineModel::named(server, name).is_none());
    let client = server.reknit.runtime().model_client().ok_or_else(invalid)?;
    let client = super::choose(client, named.ok_or_else(invalid)?)?;
    let has_budget = caller.reknit.runtime().owner().is_some_and(|owner| owner.monthly_budget.is_some());
    let target = client.targets().first().filter(|target| client.models().api(target) == Some(api) && !has_budget);
    let target = target.ok_or_else(invalid)?;
    super::refuse_stored_elsewhere(caller, &body)?;
    let path = match api {
        Api::ChatCompletions => "/chat/completions",
        Api::Responses => "/responses",
        Api::Messages => "/messages",
    };
    let mut headers = headers::of_question(given, caller);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let body = with_model_of(client.models(), target, body);
    let request = PassedRequest { method: Method::POST, path: path.to_owned(), query: None, headers, body };
    send(client.models(), target, request).await
}

fn with_model_of(models: &Models, target: &TargetName, mut body: Object) -> Vec<u8> {
    if let Some(target) = models.target(target) {
        body.insert("model", target.model.as_str());
    }
    body.to_string().into_bytes()
}

/// The body of a request, if it is a JSON object.
fn read_json(headers: &HeaderMap, body: &[u8]) -> Option<Object> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("application/json");
    let text = kind.contains("json").then(|| std::str::from_utf8(body).ok()).flatten()?;
    Value::parse(text).ok().and_then(|value| Object::try_from(value).ok())
}

/// Whose server gets a request: that of the model that it names; else the first in the configuration with the client's API.
fn choose(models: &Models, targets: &[TargetName], api: Api, body: Option<&Object>) -> Option<TargetName> {
    let speaks = |target: &&TargetName| match models.api(target) {
        Some(Api::Messages) => api == Api::Messages,
        Some(Api::ChatCompletions | Api::Responses) => api != Api::Messages,
        None => false,
    };
    let named = body.and_then(|body| body.get("model")).and_then(Value::as_str);
    let is_named = |target: &&TargetName| {
        named.is_some_and(|name| {
            target.as_str() == name || models.target(target).is_some_and(|target| target.model == name)
        })
    };
    let mut able = targets.iter().filter(speaks);
    able.clone().find(is_named).or_else(|| able.next()).cloned()
}

/// The body with the provider's name of the model, if it has the name of a model of the configuration; else as it came.
fn with_model(models: &Models, target: &TargetName, json: Object, body: &[u8]) -> Vec<u8> {
    let named = json.get("model").and_then(Value::as_str);
    let is_ours = named.is_some_and(|name| name == AUTO || name == target.as_str());
    if is_ours { with_model_of(models, target, json) } else { body.to_vec() }
}

/// Whether the token may send the request: one that sees only its own runs none that concerns what the provider has stored for all,
/// and one with a budget none whose cost is not known.
fn check(caller: &Caller, request: &PassedRequest) -> Result<(), GatewayError> {
    let is_one_of = |paths: &[&str]| {
        let fits = |path: &&str| request.path == **path || (path.ends_with('/') && request.path.starts_with(*path));
        request.method == Method::POST && paths.iter().any(fits)
    };
    let is_read = request.method == Method::GET && request.path.starts_with("/models/");
    if !caller.sees_all_runs() && !is_read && !is_one_of(&WITHOUT_STORE) {
        let message = format!(
            "what `{}` refers to is stored by the provider for all tokens of this server; only a token that sees all runs may use it",
            request.path
        );
        return Err(GatewayError { status: 403, code: "forbidden", message, retry_after_ms: None });
    }
    let owner = caller.reknit.runtime().owner();
    if let Some(owner) = owner.filter(|owner| owner.monthly_budget.is_some())
        && !is_read
        && !is_one_of(&FREE)
    {
        let message =
            format!("the token `{}` has a budget, and what `{}` costs is not known", owner.name, request.path);
        return Err(GatewayError { status: 402, code: "budget_exhausted", message, retry_after_ms: None });
    }
    Ok(())
}

/// Sends a request once, and passes the response on as it comes.
pub(super) async fn send(
    models: &Models,
    target: &TargetName,
    request: PassedRequest,
) -> Result<Response, GatewayError> {
    let response = models.pass(target, request).await.map_err(|failure| GatewayError::from_failure(&failure))?;
    let mut passed = headers::of_response(&response.headers);
    reply::insert(&mut passed, "x-reknit-target", target.as_str());
    let status = StatusCode::from_u16(response.status).unwrap_or(StatusCode::BAD_GATEWAY);
    Ok((status, passed, body(response)).into_response())
}

fn body(response: PassedResponse) -> Body {
    Body::from_stream(unfold(Some(response), |response| async move {
        let mut response = response?;
        match response.chunk().await {
            Ok(Some(chunk)) => Some((Ok(Bytes::from(chunk)), Some(response))),
            Ok(None) => None,
            Err(failure) => Some((Err(failure), None)),
        }
    }))
}
