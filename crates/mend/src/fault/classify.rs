//! Whether a reply is a success, and if not, whether resending or correcting the call can help. One table decides.

use reknit_expressions::abridge;
use reknit_protocol::spelling::folded;
use reknit_protocol::{
    Category, Delivery, ErrorFields, ReplyBody, SideEffect, ToolError, ToolReply, TransportFailure, TransportKind,
    Value, truncate,
};

use super::denied_access::denies_access;
use super::error_in_success::reports_error;
use super::retry_after::requested_wait_ms;
use super::structured_error::{stated_success, structured_error};
use super::{CallFault, Fate, FaultOrigin, error_message, silent_message};
use crate::policy::ErrorsInSuccess;

/// The most of a body that a fault keeps, in bytes of its JSON. A longer body is shortened field by field and not cut, so
/// that its fields still state facts.
const MAX_BODY_BYTES: usize = 4_096;
/// The most of a body without a message that is shown as the message, in bytes.
const MAX_FALLBACK_MESSAGE_BYTES: usize = 500;

#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The call succeeded; the value is the body of the reply.
    Success(Value),
    /// Neither the same call nor another one can work.
    Permanent(CallFault),
    /// The same call may work later.
    Transient(CallFault),
    /// A corrected call may work now.
    Correctable(CallFault),
}

/// What the meaning of a reply depends on beside the reply.
#[derive(Debug, Clone, Copy)]
pub struct ReplyContext<'a> {
    /// When the reply came, in milliseconds since 1970: some tools name the moment to retry at.
    pub now_ms: i64,
    pub side_effect: SideEffect,
    /// Whether errors are looked for in replies with the status of a success.
    pub errors_in_success: ErrorsInSuccess,
    /// Whether the capability announces an object or a list as its result.
    pub announces_data: bool,
    /// Where the errors of the tool name a parameter, if it says so.
    pub error_fields: Option<&'a ErrorFields>,
}

impl ReplyContext<'_> {
    /// The context of a reply that came at `now_ms`, to a call with this side effect. Errors in successes are looked for,
    /// and no result is announced.
    pub fn new(side_effect: SideEffect, now_ms: i64) -> Self {
        Self {
            now_ms,
            side_effect,
            errors_in_success: ErrorsInSuccess::Detect,
            announces_data: false,
            error_fields: None,
        }
    }
}

pub fn classify_reply(reply: &ToolReply, context: ReplyContext<'_>) -> Verdict {
    let body = reply.body.to_value();
    if matches!(reply.status, 200..=299) {
        return classify_success(reply, context, body);
    }
    let error = structured_error(&body);
    let is_auth = error.as_ref().is_some_and(|error| error.category == Some(Category::AuthError));
    let fault = fault(reply, context, &body, error);
    if matches!(reply.status, 400..=499) && !matches!(reply.status, 408 | 429) && is_denied(&fault, &body) {
        return Verdict::Permanent(denied(fault));
    }
    match reply.status {
        300..=399 | 401 | 403 | 405 | 407 => Verdict::Permanent(fault),
        _ if is_auth => Verdict::Permanent(fault),
        _ if is_key_conflict(&fault) => Verdict::Transient(fault),
        _ if fault.is_type_error() && fault.fate == Fate::Rejected => Verdict::Correctable(fault),
        408 | 429 | 500.. => Verdict::Transient(fault),
        _ => Verdict::Correctable(fault),
    }
}

/// Whether a reply is about a conflict of idempotency keys: the first call is still running or done, so a corrected call must
/// not follow. A reply about a missing key is no conflict.
pub(super) fn is_key_conflict(fault: &CallFault) -> bool {
    let names_key = |text: &str| {
        let text = folded(text);
        text.contains("idempotencykey") || text.contains("idempotentkey")
    };
    let is_missing = |text: &str| ["required", "missing"].iter().any(|word| folded(text).contains(word));
    let title = fault.body.get("title").and_then(Value::as_str).unwrap_or_default();
    let in_text = matches!(fault.status(), Some(409 | 422 | 425)) && (names_key(&fault.message) || names_key(title));
    (folded(&fault.code).contains("idempotency") || in_text) && !is_missing(&fault.code) && !is_missing(&fault.message)
}

pub fn classify_failure(failure: &TransportFailure) -> Verdict {
    let fate = match failure.delivery {
        Delivery::NotSent => Fate::NotSent,
        Delivery::Possible => Fate::Unknown,
    };
    let fault = CallFault::without_reply(FaultOrigin::Transport(failure.kind), fate, failure.message.clone());
    match failure.kind {
        TransportKind::Refused | TransportKind::Reset | TransportKind::TimedOut | TransportKind::Unreadable => {
            Verdict::Transient(fault)
        }
        // The same call would give the same oversized answer, and take effect a second time.
        TransportKind::TooLarge | TransportKind::NotCallable => Verdict::Permanent(fault),
    }
}

/// Classifies a reply with status 2xx: a success, unless its body reports an error.
fn classify_success(reply: &ToolReply, context: ReplyContext<'_>, body: Value) -> Verdict {
    let is_failure = stated_success(&body) == Some(false);
    let is_error = match context.errors_in_success {
        ErrorsInSuccess::Detect => {
            is_failure || reports_error(&reply.body, context.announces_data, context.side_effect)
        }
        ErrorsInSuccess::Ignore => is_failure,
    };
    if !is_error {
        return Verdict::Success(body);
    }
    let is_declared = context.side_effect != SideEffect::Read && !context.side_effect.is_undeclared();
    let whole = fault(reply, context, &body, structured_error(&body));
    if is_denied(&whole, &body) {
        return Verdict::Permanent(denied(whole));
    }
    let error = structured_error(&body).filter(|error| is_failure || error.category.is_some() || !is_declared);
    if let Some(error) = error {
        return classify_error_in_success(fault(reply, context, &body, Some(error.clone())), &error);
    }
    // The tool says neither that the call failed nor why: only a call that changes nothing may be sent again.
    let fault = CallFault { fate: Fate::Unknown, ..fault(reply, context, &body, None) };
    match context.side_effect {
        SideEffect::Read => Verdict::Transient(fault),
        SideEffect::Idempotent
        | SideEffect::Keyed
        | SideEffect::Undeclared
        | SideEffect::Unknown
        | SideEffect::Unsafe => Verdict::Permanent(fault),
    }
}

fn is_denied(fault: &CallFault, body: &Value) -> bool {
    denies_access(body, &fault.code, &fault.message)
}

/// A call without access had no effect.
fn denied(fault: CallFault) -> CallFault {
    CallFault { fate: Fate::Rejected, category: Some(Category::AuthError.as_str().to_owned()), ..fault }
}

/// A 2xx status with a structured error in the body: the tool's own category decides.
fn classify_error_in_success(fault: CallFault, error: &ToolError) -> Verdict {
    match error.category {
        Some(Category::AuthError) => Verdict::Permanent(fault),
        _ if fault.is_type_error() && fault.fate == Fate::Rejected && !is_key_conflict(&fault) => {
            Verdict::Correctable(fault)
        }
        Some(Category::RateLimit | Category::ServiceError) => Verdict::Transient(fault),
        _ if is_key_conflict(&fault) => Verdict::Transient(fault),
        _ => Verdict::Correctable(fault),
    }
}

fn fault(reply: &ToolReply, context: ReplyContext<'_>, body: &Value, error: Option<ToolError>) -> CallFault {
    let is_structured = error.is_some();
    let without_category = || ToolError { category: None, ..ToolError::new("", "", Category::ServiceError) };
    let ToolError { code, message, category, retryable, details, .. } = error.unwrap_or_else(without_category);
    let category = category.or_else(|| Category::from_status(reply.status));
    let message = Some(message)
        .filter(|message| !message.is_empty())
        .or_else(|| error_message::sentence(body))
        .or_else(|| fallback_message(&reply.body))
        .unwrap_or_else(|| silent_message(reply.status));
    let code = Some(code).filter(|code| !code.is_empty());
    let mut fault = CallFault {
        origin: FaultOrigin::Status(reply.status),
        fate: Fate::Rejected,
        code: code.or_else(|| error_message::code(body)).unwrap_or_default(),
        category: category.map(|category| category.as_str().to_owned()),
        retryable: retryable.as_bool(),
        wait_ms: requested_wait_ms(reply.retry_after_ms, &details, body, &message, context.now_ms),
        message,
        details,
        body: abridge(body, MAX_BODY_BYTES, &[]),
        error_fields: context.error_fields.cloned(),
    };
    fault.fate = fate(&fault, reply.status, is_structured, context.side_effect);
    fault
}

/// Whether a call took effect that was answered with an error.
fn fate(fault: &CallFault, status: u16, is_structured: bool, class: SideEffect) -> Fate {
    let is_service_error = fault.category.as_deref() == Some(Category::ServiceError.as_str());
    let is_in_doubt = matches!(status, 408 | 500..) || (matches!(status, 200..=299) && is_service_error);
    match class {
        _ if !is_in_doubt => Fate::Rejected,
        // Not even a tool that asks for a retry proves that nothing happened.
        SideEffect::Unsafe => Fate::Unknown,
        // A tool that asks for a retry thereby says that the call had no effect.
        _ if fault.retryable == Some(true) => Fate::Rejected,
        // The tool could not decode the call, so it did nothing.
        _ if fault.is_type_error() => Fate::Rejected,
        // The tool itself says that the call failed. A tool that declares what its calls change is held to that.
        SideEffect::Read | SideEffect::Undeclared if is_structured => Fate::Rejected,
        SideEffect::Read
        | SideEffect::Undeclared
        | SideEffect::Unknown
        | SideEffect::Idempotent
        | SideEffect::Keyed => Fate::Unknown,
    }
}

/// The beginning of a body that has no message; `None` if the body is empty.
fn fallback_message(body: &ReplyBody) -> Option<String> {
    let text = match body {
        ReplyBody::Text(text)
        | ReplyBody::Json(Value::String(text))
        | ReplyBody::Repaired { value: Value::String(text), .. } => text.trim().to_owned(),
        ReplyBody::Json(value) | ReplyBody::Repaired { value, .. } => value.to_string(),
        ReplyBody::Empty => String::new(),
    };
    (!matches!(text.as_str(), "" | "null" | "{}" | "[]" | "\"\"")).then(|| truncate(text, MAX_FALLBACK_MESSAGE_BYTES))
}

#[cfg(test)]
mod tests;
