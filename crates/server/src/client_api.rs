//! Which API of a provider the client of a request speaks, and errors in that API.

use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use reknit_gateway::GatewayError;
use reknit_model_api::Api;

use crate::api_error::ApiError;

/// The first words of paths below `/v1` that are not those of a provider.
const OWN: [&str; 8] = ["runs", "mend", "repair", "plans", "tools", "targets", "stats", "token"];

/// The API of the client that sends a request to this path; none if the path is not one of a provider.
pub(crate) fn client_api(path: &str, headers: &HeaderMap) -> Option<Api> {
    let rest = path.strip_prefix("/v1/")?;
    let first = rest.split('/').next().unwrap_or_default();
    match first {
        own if OWN.contains(&own) => None,
        "messages" => Some(Api::Messages),
        _ if headers.contains_key("anthropic-version") => Some(Api::Messages),
        "responses" => Some(Api::Responses),
        _ => Some(Api::ChatCompletions),
    }
}

/// The response to a request that is refused before it is read, in the API of its client.
pub(crate) fn refusal(path: &str, headers: &HeaderMap, error: ApiError) -> Response {
    match client_api(path, headers) {
        Some(api) => error_response(api, &refused(&error)),
        None => error.into_response(),
    }
}

/// An error of the API, for clients of a model.
pub(crate) fn refused(error: &ApiError) -> GatewayError {
    let (status, code) = (error.status.as_u16(), error.code);
    GatewayError { status, code, message: error.to_string(), retry_after_ms: error.retry_after_ms() }
}

/// Adds whether and when the client should send the request again, unless the provider said so.
pub(crate) fn add_retry(headers: &mut HeaderMap, error: &GatewayError) {
    let should_retry = HeaderValue::from_static(if error.should_retry() { "true" } else { "false" });
    headers.entry("x-should-retry").or_insert(should_retry);
    if let Some(ms) = error.retry_after_ms {
        headers.entry(RETRY_AFTER).or_insert(HeaderValue::from(ms.div_ceil(1_000)));
    }
}

/// An error in the API of the client.
pub(crate) fn error_response(api: Api, error: &GatewayError) -> Response {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    add_retry(&mut headers, error);
    (status, headers, error.body(api).to_string()).into_response()
}
