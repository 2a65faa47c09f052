//! Responses that are sent as a whole.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use reknit_gateway::{GatewayError, GatewayRequest, Identity, patch_response, write_response};
use reknit_model_api::{ErrorClass, ModelFailure, TargetName};
use reknit_models::{ForwardedError, Models};
use reknit_protocol::Value;
use reknit_runtime::{ModelAttempts, NoAnswerError, RotatingClient, Served};

use super::attempts::{Attempts, MendedResponse, ReceivedAnswer};
use super::headers::of_response;
use crate::client_api::{add_retry, error_response};

/// The longest value of a header about what was mended.
const MAX_HEADER: usize = 2_000;

struct WholeAttempts<'a> {
    models: &'a Models,
    attempts: Attempts,
}

impl ModelAttempts for WholeAttempts<'_> {
    type Answer = ReceivedAnswer;
    type Accepted = MendedResponse;

    async fn attempt(&mut self, target: &TargetName) -> Result<ReceivedAnswer, ModelFailure> {
        self.attempts.send(self.models, target, &mut |_| {}).await
    }

    fn accept(
        &mut self,
        target: &TargetName,
        result: Result<ReceivedAnswer, ModelFailure>,
    ) -> Result<MendedResponse, ModelFailure> {
        let received = result.map_err(|failure| self.attempts.count_failure(target, failure))?;
        self.attempts.mend(target, received)
    }
}

/// Asks models until one answers.
pub(super) async fn whole(client: RotatingClient, attempts: Attempts) -> Result<Response, GatewayError> {
    let mut attempts = WholeAttempts { models: client.models(), attempts };
    let result = client.serve(&mut attempts).await;
    let mut made = attempts.attempts;
    if let Some(bill) = made.bill.take() {
        bill.settle().await;
    }
    let (answer, target, attempts) = match (result, made.fallback.take()) {
        (Ok(Served { answer, target, failed }), _) => (answer, target, failed.len() + 1),
        // Its attempt is among those that failed.
        (Err(error), Some((target, answer))) => (answer, target, error.failed.len()),
        (Err(error), None) => return Ok(no_answer(&error, &made)),
    };
    let mut headers = answer.headers.clone();
    add_attempts(&mut headers, &target, attempts);
    describe(&mut headers, &made.request, &answer);
    headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
    Ok((headers, Body::from(bytes(&made.request, &answer))).into_response())
}

/// The body of the response: as it came, or with what was mended in its place, or in the API of the caller.
fn bytes(request: &GatewayRequest, served: &MendedResponse) -> Vec<u8> {
    let mended = &served.answer;
    let Some(body) = &served.body else {
        return write_response(request.api, &mended.answer, &identity()).to_string().into_bytes();
    };
    if mended.changes.is_empty() {
        return body.clone();
    }
    match std::str::from_utf8(body).ok().and_then(|text| Value::parse(text).ok()) {
        Some(Value::Object(mut response)) => {
            patch_response(request.api, &mut response, &mended.answer);
            response.to_string().into_bytes()
        }
        _ => write_response(request.api, &mended.answer, &identity()).to_string().into_bytes(),
    }
}

/// A new id and the time.
pub(super) fn identity() -> Identity {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let created = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    Identity { id: uuid::Uuid::new_v4().simple().to_string(), created }
}

/// Adds which model answered, and how many attempts it took.
pub(super) fn add_attempts(headers: &mut HeaderMap, target: &TargetName, attempts: usize) {
    insert(headers, "x-reknit-target", target.as_str());
    insert(headers, "x-reknit-attempts", &attempts.to_string());
}

/// What was changed, what is wrong, and which options the model did not get.
fn describe(headers: &mut HeaderMap, request: &GatewayRequest, served: &MendedResponse) {
    let mended = &served.answer;
    let omitted = if served.is_same_api { Vec::new() } else { omitted(request, &mended.answer.omitted_options) };
    for (name, values) in [
        ("x-reknit-mended", &mended.changes),
        ("x-reknit-unmended", &mended.doubts),
        ("x-reknit-left-as-text", &mended.left_as_text),
        ("x-reknit-omitted", &omitted),
    ] {
        if !values.is_empty() {
            insert(headers, name, &values.join("; "));
        }
    }
}

/// The options that the caller has set and the model did not get, as the caller names them.
fn omitted(request: &GatewayRequest, by_target: &[String]) -> Vec<String> {
    let mut omitted = request.foreign_options.clone();
    for option in by_target {
        let names = caller_names(option);
        omitted.extend(names.into_iter().find(|name| request.body.contains_key(name)).map(str::to_owned));
    }
    omitted
}

/// The fields in which requests of the three APIs have an option.
fn caller_names(option: &str) -> Vec<&str> {
    match option {
        "effort" => vec!["reasoning_effort", "reasoning"],
        "parallel_tool_calls" => vec!["parallel_tool_calls", "tool_choice"],
        "stop" => vec!["stop", "stop_sequences"],
        "thinking_tokens" => vec!["thinking"],
        same => vec![same],
    }
}

/// Inserts a header. Characters that headers cannot have are replaced.
pub(super) fn insert(headers: &mut HeaderMap, name: &'static str, value: &str) {
    let is_plain = |letter: &char| letter.is_ascii_graphic() || *letter == ' ';
    let plain = value.chars().take(MAX_HEADER).map(|letter| if is_plain(&letter) { letter } else { '?' });
    if let Ok(value) = HeaderValue::try_from(plain.collect::<String>()) {
        headers.insert(HeaderName::from_static(name), value);
    }
}

/// The response if no model answered: a rate limit of any model says when to come back; otherwise the preferred model's error counts.
/// What a server with the API of the caller has sent is passed on as it came.
pub(super) fn no_answer(error: &NoAnswerError, made: &Attempts) -> Response {
    let api = made.request.api;
    let failed = || error.failed.iter().enumerate();
    let limited = failed().filter(|(_, attempt)| attempt.failure.class == ErrorClass::RateLimit);
    let soonest = limited.min_by_key(|(_, attempt)| attempt.failure.retry_after_ms.unwrap_or(u64::MAX));
    let preferred = error.failed.first().map(|first| &first.target);
    let first = failed().rfind(|(_, attempt)| Some(&attempt.target) == preferred);
    let Some((index, attempt)) = soonest.or(first) else {
        let failure = ModelFailure::new(ErrorClass::NetworkError, error.to_string());
        return error_response(api, &GatewayError::from_failure(&failure));
    };
    let described: Vec<String> = error
        .failed
        .iter()
        .map(|attempt| format!("`{}`: {}", attempt.target, attempt.failure.class.description()))
        .collect();
    let own = GatewayError::from_failure(&attempt.failure);
    let mut response = made.error(index).and_then(|sent| as_sent(sent, &own)).unwrap_or_else(|| {
        let message = format!("{}; no model answered ({})", attempt.failure, described.join(", "));
        error_response(api, &GatewayError { message, ..own.clone() })
    });
    add_attempts(response.headers_mut(), &attempt.target, error.failed.len());
    insert(response.headers_mut(), "x-reknit-failed", &described.join(", "));
    response
}

/// An error as the server of a provider has sent it, if its body is a JSON object: clients read that by the rules of the provider.
fn as_sent(sent: &ForwardedError, own: &GatewayError) -> Option<Response> {
    let body = std::str::from_utf8(&sent.body).ok()?;
    let status = StatusCode::from_u16(sent.status?).ok()?;
    Value::parse(body).ok()?.as_object()?;
    let mut headers = of_response(&sent.headers);
    headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
    add_retry(&mut headers, own);
    Some((status, headers, body.to_owned()).into_response())
}
