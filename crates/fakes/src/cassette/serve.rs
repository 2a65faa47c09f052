//! Handles one request: forwards and records it without its API keys, or replays a recorded response.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use reknit_protocol::Value;

use super::{CassetteState, Mode, RecordedRequest, RecordedResponse, difference};

pub(super) async fn serve(
    State(state): State<Arc<CassetteState>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let secrets = Secrets::from_headers(&headers);
    let text = secrets.redact(&String::from_utf8_lossy(&body));
    let path = uri.path_and_query().map_or_else(String::new, ToString::to_string);
    let recorded = RecordedRequest {
        method: method.to_string(),
        path: secrets.redact_path(&path),
        body: Value::parse(&text).unwrap_or(Value::String(text)),
    };
    let result = match &state.mode {
        Mode::Replay => {
            let mut recording = state.recording.lock();
            recording.replay(&recorded).ok_or_else(|| difference::describe_miss(&recorded, &recording.exchanges))
        }
        Mode::Record { client, upstream, .. } => {
            let request = client.request(method, format!("{upstream}{path}")).headers(forwarded(headers)).body(body);
            record(&state, &secrets, recorded, request).await
        }
    };
    result.and_then(response).unwrap_or_else(|miss| {
        let response = miss_response(&miss);
        state.misses.lock().push(miss);
        response
    })
}

/// The request headers without those of the connection, and without `accept-encoding`: a compressed body could not be
/// recorded as text.
fn forwarded(mut headers: HeaderMap) -> HeaderMap {
    for name in [HOST, CONTENT_LENGTH, TRANSFER_ENCODING, ACCEPT_ENCODING] {
        headers.remove(name);
    }
    headers
}

async fn record(
    state: &CassetteState,
    secrets: &Secrets,
    recorded: RecordedRequest,
    request: reqwest::RequestBuilder,
) -> Result<RecordedResponse, String> {
    let name = format!("{} {}", recorded.method, recorded.path);
    // The URL in the error may hold a key; `name` is redacted.
    let failed =
        |error: reqwest::Error| secrets.redact(&format!("{name} could not be forwarded: {:?}", error.without_url()));
    let response = request.send().await.map_err(failed)?;
    let (status, headers) = (response.status().as_u16(), secrets.recorded_headers(response.headers()));
    let bytes = response.bytes().await.map_err(failed)?;
    let text = std::str::from_utf8(&bytes).map_err(|_| format!("the response to {name} is not UTF-8 text"))?;
    let response = RecordedResponse { status, headers, body: secrets.redact(text) };
    let mut recording = state.recording.lock();
    recording.add(recorded, response.clone());
    if let Mode::Record { path, .. } = &state.mode {
        recording.save(path).map_err(|error| format!("{name} could not be recorded: {error}"))?;
    }
    Ok(response)
}

/// The recorded response; an event stream is sent event by event.
fn response(recorded: RecordedResponse) -> Result<Response, String> {
    let mut builder = Response::builder().status(recorded.status);
    for (name, value) in &recorded.headers {
        builder = builder.header(name, value);
    }
    let is_stream =
        recorded.headers.iter().any(|(name, value)| name == "content-type" && value.contains("event-stream"));
    let body = if is_stream {
        let events: Vec<String> = recorded.body.split_inclusive("\n\n").map(str::to_owned).collect();
        Body::from_stream(stream::iter(events.into_iter().map(|event| Ok::<_, Infallible>(Bytes::from(event)))))
    } else {
        Body::from(recorded.body)
    };
    builder.body(body).map_err(|error| format!("the recorded response cannot be sent: {error}"))
}

/// 400, because clients do not retry it.
fn miss_response(miss: &str) -> Response {
    let body = serde_json::json!({"error": {"message": miss, "type": "cassette_miss"}});
    (StatusCode::BAD_REQUEST, axum::Json(body)).into_response()
}

/// Request headers that hold a key, in lower case.
const SECRET_HEADERS: &[&str] =
    &["authorization", "proxy-authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie"];

/// Query parameters that hold a key.
const SECRET_PARAMETERS: &[&str] = &["key", "api_key", "api-key", "access_token"];

/// Response headers that clients use. All others are dropped, because they may identify the account.
const RECORDED_HEADERS: &[&str] = &["content-type", "retry-after", "retry-after-ms", "request-id", "x-request-id"];

const REDACTED: &str = "[redacted]";

/// The keys in the headers of a request.
#[derive(Debug, Default)]
struct Secrets(Vec<String>);

impl Secrets {
    fn from_headers(headers: &HeaderMap) -> Self {
        let values =
            SECRET_HEADERS.iter().flat_map(|name| headers.get_all(*name)).filter_map(|value| value.to_str().ok());
        // In `Bearer sk-1` only the last word is secret.
        let keys = values.filter_map(|value| value.split_whitespace().next_back());
        Self(keys.map(str::to_owned).collect())
    }

    /// Replaces the keys in a text.
    fn redact(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED))
    }

    /// Replaces the keys in a path and in its query.
    fn redact_path(&self, path: &str) -> String {
        let Some((path, query)) = path.split_once('?') else { return self.redact(path) };
        let parameters = query.split('&').map(|parameter| match parameter.split_once('=') {
            Some((name, _)) if SECRET_PARAMETERS.contains(&name) => format!("{name}={REDACTED}"),
            _ => parameter.to_owned(),
        });
        self.redact(&format!("{path}?{}", parameters.collect::<Vec<_>>().join("&")))
    }

    /// The response headers to record.
    fn recorded_headers(&self, headers: &HeaderMap) -> Vec<(String, String)> {
        let is_recorded = |name: &str| RECORDED_HEADERS.contains(&name) || name.contains("ratelimit");
        let headers = headers.iter().filter(|(name, _)| is_recorded(name.as_str()));
        headers
            .filter_map(|(name, value)| Some((name.as_str().to_owned(), self.redact(value.to_str().ok()?))))
            .collect()
    }
}
