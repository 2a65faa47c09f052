//! Calls without an answer, and answers that are only a status.

use reknit_protocol::{CallTool, Delivery, Object, ReplyBody, ToolReply, TransportFailure, TransportKind, Value};
use rmcp::service::ServiceError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::connection::Connection;
use crate::http::{HttpFault, status_of};
use crate::stdio::WriteError;

pub(crate) async fn lost(
    error: &ServiceError,
    connection: &Connection,
    call: &CallTool,
) -> Result<ToolReply, TransportFailure> {
    let ServiceError::TransportSend(error) = error else {
        let end = if connection.is_open() { error.to_string() } else { connection.describe_end().await };
        let kind = if connection.is_overfull() { TransportKind::TooLarge } else { TransportKind::Reset };
        return Err(failure(kind, Delivery::Possible, call, &format!("broke the connection: {end}")));
    };
    if let Some(error) = error.error.downcast_ref::<WriteError>() {
        let end = connection.describe_end().await;
        let delivery = if error.is_partial { Delivery::Possible } else { Delivery::NotSent };
        let kind = if error.is_partial { TransportKind::Reset } else { TransportKind::Refused };
        return Err(failure(kind, delivery, call, &format!("takes no more messages: {end}")));
    }
    let fault = error.error.downcast_ref::<StreamableHttpError<HttpFault>>();
    if let Some((status, retry_after_ms, body)) = fault.and_then(status_of) {
        if let (401, Some(text)) = (status, connection.sign_in_needed()) {
            return Ok(unauthorized(text));
        }
        return Ok(status_reply(status, retry_after_ms, body));
    }
    let (kind, delivery, problem) = match fault {
        Some(StreamableHttpError::Client(fault)) => {
            let (kind, delivery) = match fault {
                HttpFault::Unreachable(_) => (TransportKind::Refused, Delivery::NotSent),
                HttpFault::TooLarge(_) => (TransportKind::TooLarge, Delivery::Possible),
                HttpFault::Unreadable(_) => (TransportKind::Unreadable, Delivery::Possible),
                HttpFault::Broken(_) | HttpFault::Status { .. } => (TransportKind::Reset, Delivery::Possible),
            };
            (kind, delivery, fault.to_string())
        }
        // A token that cannot be renewed is found out before the call is sent, or after it was refused.
        Some(StreamableHttpError::Auth(error)) => {
            (TransportKind::Refused, Delivery::NotSent, format!("the sign-in cannot be renewed: {error}"))
        }
        _ => (TransportKind::Reset, Delivery::Possible, error.error.to_string()),
    };
    Err(failure(kind, delivery, call, &format!("failed: {problem}")))
}

pub(crate) fn status_reply(status: u16, retry_after_ms: Option<u64>, body: String) -> ToolReply {
    let body = match Value::parse(&body) {
        Ok(value) => ReplyBody::Json(value),
        Err(_) if body.trim().is_empty() => ReplyBody::Empty,
        Err(_) => ReplyBody::Text(body),
    };
    ToolReply { status, retry_after_ms, body, job: None }
}

/// The reply to a call for which nobody is signed in.
pub(crate) fn unauthorized(text: &str) -> ToolReply {
    let error = Object::from([("code", "unauthorized".into()), ("message", text.into())]);
    let body = ReplyBody::Json(Object::from([("error", Value::Object(error))]).into());
    ToolReply { status: 401, retry_after_ms: None, body, job: None }
}

pub(crate) fn not_sent(call: &CallTool, reason: &str) -> TransportFailure {
    failure(TransportKind::Refused, Delivery::NotSent, call, &format!("cannot be reached: {reason}"))
}

/// An answer that cannot be read. The server has received the call.
pub(crate) fn unreadable(call: &CallTool, problem: &str) -> TransportFailure {
    failure(TransportKind::Unreadable, Delivery::Possible, call, &format!("answered, but {problem}"))
}

pub(crate) fn failure(kind: TransportKind, delivery: Delivery, call: &CallTool, problem: &str) -> TransportFailure {
    TransportFailure { kind, delivery, message: format!("`{}` {problem}", call.tool) }
}
