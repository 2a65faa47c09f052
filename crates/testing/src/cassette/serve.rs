//! One request: passed on and written down, or answered from what is.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING};
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use futures_util::stream;
use reknit_protocol::Value;

use super::redact::Secrets;
use super::tape::{Answered, Asked};
use super::{Mode, Shared, difference, lock};

pub(super) async fn serve(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let secrets = Secrets::of(&headers);
    let text = secrets.hide(&String::from_utf8_lossy(&body));
    let path = uri.path_and_query().map_or_else(String::new, ToString::to_string);
    let asked = Asked {
        method: method.to_string(),
        path: secrets.hide_in_path(&path),
        body: Value::parse(&text).unwrap_or(Value::String(text)),
    };
    let done = match &shared.mode {
        Mode::Replay => {
            let mut tape = lock(&shared.tape);
            tape.take(&asked).ok_or_else(|| difference::miss(&asked, tape.exchanges()))
        }
        Mode::Record { client, upstream, .. } => {
            let request = client.request(method, format!("{upstream}{path}")).headers(passed_on(headers)).body(body);
            record(&shared, &secrets, asked, request).await
        }
    };
    let answered = match done.and_then(response) {
        Ok(response) => return response,
        Err(problem) => problem,
    };
    lock(&shared.misses).push(answered.clone());
    missed(&answered)
}

/// Headers that belong to this connection stay here. What is compressed could not be written down as text.
fn passed_on(mut headers: HeaderMap) -> HeaderMap {
    for name in [HOST, CONTENT_LENGTH, TRANSFER_ENCODING] {
        headers.remove(name);
    }
    headers.remove("accept-encoding");
    headers
}

async fn record(
    shared: &Shared,
    secrets: &Secrets,
    asked: Asked,
    request: reqwest::RequestBuilder,
) -> Result<Answered, String> {
    let what = format!("{} {}", asked.method, asked.path);
    // The address of the error may hold a key; `what` is the same without one.
    let failed =
        |error: reqwest::Error| secrets.hide(&format!("{what} could not be passed on: {:?}", error.without_url()));
    let response = request.send().await.map_err(failed)?;
    let (status, headers) = (response.status().as_u16(), secrets.kept(response.headers()));
    let bytes = response.bytes().await.map_err(failed)?;
    let text =
        std::str::from_utf8(&bytes).map_err(|_| format!("{what} was answered with something that is no text"))?;
    let answered = Answered { status, headers, body: secrets.hide(text) };
    let mut tape = lock(&shared.tape);
    tape.add(asked, answered.clone());
    if let Mode::Record { path, .. } = &shared.mode {
        tape.save(path).map_err(|error| format!("{what} could not be written down: {error}"))?;
    }
    Ok(answered)
}

/// The response as it was, a stream of events in its events.
fn response(answered: Answered) -> Result<Response, String> {
    let mut builder = Response::builder().status(answered.status);
    for (name, value) in &answered.headers {
        builder = builder.header(name, value);
    }
    let is_stream =
        answered.headers.iter().any(|(name, value)| name == "content-type" && value.contains("event-stream"));
    let body = if is_stream {
        let events: Vec<String> = answered.body.split_inclusive("\n\n").map(str::to_owned).collect();
        Body::from_stream(stream::iter(events.into_iter().map(|event| Ok::<_, Infallible>(Bytes::from(event)))))
    } else {
        Body::from(answered.body)
    };
    builder.body(body).map_err(|error| format!("a recording cannot be given: {error}"))
}

/// Not a status that anybody tries again.
fn missed(problem: &str) -> Response {
    let body = serde_json::json!({"error": {"message": problem, "type": "cassette_miss"}}).to_string();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = axum::http::StatusCode::BAD_REQUEST;
    response.headers_mut().insert(CONTENT_TYPE, axum::http::HeaderValue::from_static("application/json"));
    response
}
