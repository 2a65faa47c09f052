//! Which of the few things can be done about an answer. One table; a new kind of answer must choose its row.

use reknit_bind::project;
use reknit_protocol::spelling::folded;
use reknit_protocol::{Category, Object, Retryable, ToolError, ToolResponse, Value};

use super::wait::asked_wait_ms;
use super::{Fate, Fault, Origin, words};
use reknit_protocol::truncate;
use reknit_protocol::{Delivery, ReplyBody, ToolReply, TransportFailure, TransportKind};

/// The most of a body that a fault keeps, in bytes of its JSON. What is too long is shortened and not cut: its fields still
/// state facts.
const BODY_LIMIT: usize = 4_096;
/// How much of a body that has no words of its own is told in their place, in bytes.
const WORDLESS_LIMIT: usize = 500;

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
            let is_auth = error.as_ref().is_some_and(|error| error.category == Some(Category::AuthError));
            let fault = fault(reply, now_ms, &body, error);
            match status {
                _ if is_auth => Verdict::Stop(fault),
                _ if is_about_key(&fault) => Verdict::SendAgain(fault),
                408 | 429 | 500.. => Verdict::SendAgain(fault),
                _ => Verdict::Mend(fault),
            }
        }
    }
}

/// Whether an answer is about the key of the call: the first call is still under way or done, and nothing about it is a
/// reason for another. That the key is missing is no such word.
fn is_about_key(fault: &Fault) -> bool {
    let named = |text: &str| {
        let text = folded(text);
        text.contains("idempotencykey") || text.contains("idempotentkey")
    };
    let is_missing = |text: &str| ["required", "missing"].iter().any(|word| folded(text).contains(word));
    let title = fault.body.get("title").and_then(Value::as_str).unwrap_or_default();
    let told = matches!(fault.status(), Some(409 | 422 | 425)) && (named(&fault.message) || named(title));
    (folded(&fault.code).contains("idempotency") || told) && !is_missing(&fault.code) && !is_missing(&fault.message)
}

/// Judges a call that brought no answer.
pub fn judge_failure(failure: &TransportFailure) -> Verdict {
    let fault = Fault {
        origin: Origin::Transport(failure.kind),
        fate: match failure.delivery {
            Delivery::NotSent => Fate::NotSent,
            Delivery::Possible => Fate::Unknown,
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
        TransportKind::Refused | TransportKind::Reset | TransportKind::TimedOut | TransportKind::Unreadable => {
            Verdict::SendAgain(fault)
        }
        // An answer that is too large comes again; what the call did, it would do again.
        TransportKind::TooLarge | TransportKind::NotCallable => Verdict::Stop(fault),
    }
}

/// A status of success around `success: false`: the tool's own category decides.
fn judge_refusal_in_success(fault: Fault, error: &ToolError) -> Verdict {
    match error.category {
        Some(Category::AuthError) => Verdict::Stop(fault),
        Some(Category::RateLimit | Category::ServiceError) => Verdict::SendAgain(fault),
        _ if is_about_key(&fault) => Verdict::SendAgain(fault),
        _ => Verdict::Mend(fault),
    }
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
            Some(ToolError::new("", words::sentence(body).unwrap_or_default(), Category::InputError))
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
        .or_else(|| words::sentence(body))
        .or_else(|| beginning(&reply.body))
        .unwrap_or_else(|| format!("the tool answered {} and said nothing more", reply.status));
    let details = error.as_ref().map(|error| error.details.clone()).unwrap_or_default();
    let code = error.map(|error| error.code).filter(|code| !code.is_empty());
    Fault {
        origin: Origin::Status(reply.status),
        fate: fate(reply.status, category.as_ref(), retryable),
        code: code.or_else(|| words::code(body)).unwrap_or_default(),
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

/// The beginning of a body that has no words of its own; nothing if there is nothing in it.
fn beginning(body: &ReplyBody) -> Option<String> {
    let text = match body {
        ReplyBody::Text(text) => text.trim().to_owned(),
        ReplyBody::Json(value) | ReplyBody::Repaired { value, .. } => value.to_string(),
        ReplyBody::Empty => String::new(),
    };
    (!matches!(text.as_str(), "" | "null" | "{}" | "[]" | "\"\"")).then(|| truncate(text, WORDLESS_LIMIT))
}

#[cfg(test)]
mod tests;
