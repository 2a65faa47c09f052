//! Which of the few things can be done about an answer. One table; a new kind of answer must choose its row.

use reknit_bind::project;
use reknit_protocol::{Category, Object, Retryable, ToolError, ToolResponse, Value};

use super::wait::asked_wait_ms;
use super::{Fate, Fault, Origin};
use crate::cut::cut;
use crate::reply::{Body, Sent, ToolReply, TransportFailure, TransportKind};

/// The most of a body that a fault keeps, in bytes of its JSON. What is too long is shortened and not cut: its fields still
/// state facts.
const BODY_LIMIT: usize = 4_096;

/// What an answer means.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The call did what it should; the value is the body as it came.
    Success(Value),
    /// Nothing we may do can help.
    Stop(Fault),
    /// The same call may work later.
    SendAgain(Fault),
    /// Another call may work now.
    Mend(Fault),
}

/// Judges an answer that came at a moment, in milliseconds since 1970: some tools name the moment to come back.
pub fn judge_reply(reply: &ToolReply, now_ms: i64) -> Verdict {
    let body = reply.body.to_value();
    let error = tool_error(&body);
    match (reply.status, error) {
        (200..=299, None) => Verdict::Success(body),
        (200..=299, Some(error)) => judge_refusal_in_success(fault(reply, now_ms, &body, Some(error.clone())), &error),
        (300..=399 | 401 | 403 | 405, error) => Verdict::Stop(fault(reply, now_ms, &body, error)),
        (status, error) => {
            let about_key = error.as_ref().is_some_and(is_about_key);
            let is_auth = error.as_ref().is_some_and(|error| error.category == Some(Category::AuthError));
            let fault = fault(reply, now_ms, &body, error);
            match status {
                _ if is_auth => Verdict::Stop(fault),
                // A word about the key says that the first call is still under way or done: never a reason for another.
                _ if about_key => Verdict::SendAgain(fault),
                408 | 429 | 500.. => Verdict::SendAgain(fault),
                _ => Verdict::Mend(fault),
            }
        }
    }
}

/// Judges a call that brought no answer.
pub fn judge_failure(failure: &TransportFailure) -> Verdict {
    let fault = Fault {
        origin: Origin::Transport(failure.kind),
        fate: match failure.sent {
            Sent::No => Fate::NotSent,
            Sent::Maybe => Fate::Unknown,
        },
        code: String::new(),
        message: failure.message.clone(),
        category: None,
        retryable: None,
        details: Object::new(),
        wait_ms: None,
        body: Value::Null,
    };
    match failure.kind {
        TransportKind::Refused | TransportKind::Reset | TransportKind::TimedOut => Verdict::SendAgain(fault),
        // An answer that is too large comes again; what the call did, it would do again.
        TransportKind::BadAnswer | TransportKind::Unusable => Verdict::Stop(fault),
    }
}

/// A status of success around `success: false`: the tool's own category decides.
fn judge_refusal_in_success(fault: Fault, error: &ToolError) -> Verdict {
    match error.category {
        Some(Category::AuthError) => Verdict::Stop(fault),
        Some(Category::RateLimit | Category::ServiceError) => Verdict::SendAgain(fault),
        _ if is_about_key(error) => Verdict::SendAgain(fault),
        _ => Verdict::Mend(fault),
    }
}

/// Whether a tool speaks of the key of the call and not of the call.
fn is_about_key(error: &ToolError) -> bool {
    error.code.to_ascii_uppercase().contains("IDEMPOTENCY")
}

/// The tool's own report, if the body is an envelope that holds one.
fn tool_error(body: &Value) -> Option<ToolError> {
    if !ToolResponse::is_envelope(body) {
        return None;
    }
    match ToolResponse::from_value(body) {
        Ok(response) => response.into_result().err(),
        // `success: false` in a shape of the tool's own: it failed all the same, and its words are in the body.
        Err(_) if body.get("success").and_then(Value::as_bool) == Some(false) => {
            Some(ToolError::new("", words_in(body).unwrap_or_default(), Category::InputError))
        }
        Err(_) => None,
    }
}

fn fault(reply: &ToolReply, now_ms: i64, body: &Value, error: Option<ToolError>) -> Fault {
    let retryable = error.as_ref().map_or(Retryable::Unsaid, |error| error.retryable);
    let category =
        error.as_ref().and_then(|error| error.category.clone()).or_else(|| Category::from_status(reply.status));
    let message = error.as_ref().map(|error| error.message.clone()).filter(|message| !message.is_empty());
    let message = message
        .or_else(|| words_in(body))
        .or_else(|| match &reply.body {
            Body::Text(text) => Some(cut(text.trim().to_owned(), 500)),
            Body::Json(_) | Body::Empty => None,
        })
        .unwrap_or_else(|| format!("the tool answered {} and said nothing more", reply.status));
    let details = error.as_ref().map(|error| error.details.clone()).unwrap_or_default();
    Fault {
        origin: Origin::Status(reply.status),
        fate: fate(reply.status, category.as_ref(), retryable),
        code: error.map(|error| error.code).unwrap_or_default(),
        category: category.map(|category| category.as_str().to_owned()),
        retryable: retryable.as_bool(),
        wait_ms: asked_wait_ms(reply.retry_after_ms, &details, body, &message, now_ms),
        message,
        details,
        body: project(body, BODY_LIMIT, &[]),
    }
}

/// What became of a call that was answered with a failure.
fn fate(status: u16, category: Option<&Category>, retryable: Retryable) -> Fate {
    // A tool that asks for the call again says that it had no effect.
    if retryable == Retryable::Yes {
        return Fate::Rejected;
    }
    match (status, category) {
        (408 | 500.., _) | (200..=299, Some(Category::ServiceError)) => Fate::Unknown,
        _ => Fate::Rejected,
    }
}

/// The words of an error in a shape that is not ours: `error`, `message`, `detail`, `title`, one level deep.
fn words_in(body: &Value) -> Option<String> {
    let words = |value: &Value| {
        ["message", "detail", "error", "title"].iter().find_map(|key| value.get(key)?.as_str().map(str::to_owned))
    };
    words(body).or_else(|| words(body.get("error")?)).filter(|words| !words.is_empty())
}
