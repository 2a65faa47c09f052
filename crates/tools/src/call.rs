//! One call, as it is.

use std::error::Error;
use std::time::{Duration, SystemTime};

use reknit_protocol::RetryAfter;
use reknit_protocol::{CallTool, Delivery, ReplyBody, ToolReply, TransportFailure, TransportKind};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};

use crate::client::Tools;
use crate::read::{BodyError, body, elsewhere};

/// What a call that is not a read says who it is by.
const KEY_HEADER: &str = "Idempotency-Key";

/// What tells a tool which span calls it.
const TRACE_HEADER: &str = "traceparent";

impl Tools {
    /// Makes one call and says what came of it. Dropping the future ends the call.
    pub async fn call(&self, call: &CallTool) -> Result<ToolReply, TransportFailure> {
        self.call_within(call, None).await
    }

    /// The same within a span of a trace, which the tool is told, as W3C Trace Context writes it.
    pub async fn call_within(&self, call: &CallTool, traceparent: Option<&str>) -> Result<ToolReply, TransportFailure> {
        let Some(url) = self.route(call) else {
            return Err(TransportFailure {
                kind: TransportKind::NotCallable,
                delivery: Delivery::NotSent,
                message: format!("it is not known where `{}` of `{}` is", call.capability, call.agent),
            });
        };
        let limit = Duration::from_millis(call.timeout_ms);
        match tokio::time::timeout(limit, self.send(call, url, traceparent)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(TransportFailure {
                kind: TransportKind::TimedOut,
                delivery: Delivery::Possible,
                message: format!("`{}` did not answer within {limit:?}", call.agent),
            }),
        }
    }

    async fn send(
        &self,
        call: &CallTool,
        url: &reqwest::Url,
        traceparent: Option<&str>,
    ) -> Result<ToolReply, TransportFailure> {
        let client = if call.needs_claim() { &self.client.unpooled } else { &self.client.http };
        let mut request = client
            .post(url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .body(call.parameters.to_string());
        if let Some(key) = &call.idempotency_key {
            request = request.header(KEY_HEADER, key);
        }
        if let Some(traceparent) = traceparent {
            request = request.header(TRACE_HEADER, traceparent);
        }
        let response = request.send().await.map_err(|error| unanswered(call, &error))?;
        let status = response.status().as_u16();
        let retry_after_ms = retry_after_ms(response.headers());
        let elsewhere = elsewhere(&response);
        let body = body(response).await.map_err(|error| broken(call, status, &error))?;
        let body = elsewhere.filter(|_| body == ReplyBody::Empty).map_or(body, ReplyBody::Text);
        Ok(ToolReply { status, retry_after_ms, body })
    }
}

/// Only a connection that was never made proves that nothing was sent.
fn unanswered(call: &CallTool, error: &reqwest::Error) -> TransportFailure {
    let (kind, delivery) = match error {
        error if error.is_builder() => (TransportKind::NotCallable, Delivery::NotSent),
        error if error.is_connect() => (TransportKind::Refused, Delivery::NotSent),
        error if error.is_timeout() => (TransportKind::TimedOut, Delivery::Possible),
        _ => (TransportKind::Reset, Delivery::Possible),
    };
    let mut message = match kind {
        TransportKind::Refused => format!("`{}` cannot be reached", call.agent),
        _ => format!("`{}` broke the connection", call.agent),
    };
    if let Some(cause) = last_cause(error) {
        message = format!("{message}: {cause}");
    }
    TransportFailure { kind, delivery, message }
}

/// What is at the bottom of an error, which says most: `Connection refused (os error 111)`.
pub(crate) fn last_cause(error: &reqwest::Error) -> Option<String> {
    std::iter::successors(error.source(), |cause| (*cause).source()).last().map(ToString::to_string)
}

/// An answer began to come: the call was made, whatever the rest would have said.
fn broken(call: &CallTool, status: u16, error: &BodyError) -> TransportFailure {
    let kind = match error {
        BodyError::Broken(_) => TransportKind::Reset,
        BodyError::TooLarge => TransportKind::TooLarge,
        BodyError::Packed(_) | BodyError::NotJson(_) => TransportKind::Unreadable,
    };
    TransportFailure {
        kind,
        delivery: Delivery::Possible,
        message: format!("`{}` answered {status}, but {error}", call.agent),
    }
}

/// In whichever form it is written. Headers that only tell when a limit starts anew do not ask for a wait.
fn retry_after_ms(headers: &HeaderMap) -> Option<u64> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let asked = |name: &str| header(name).filter(|_| name.starts_with("retry-after") || name == "date");
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let now_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    RetryAfter::from_headers(asked, now_ms).map(|asked| asked.ms)
}
