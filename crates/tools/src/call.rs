//! One call over HTTP. Retries are decided elsewhere.

use std::error::Error;
use std::time::{Duration, SystemTime};

use reknit_protocol::{CallTool, Delivery, Object, ReplyBody, RetryAfter, ToolReply, TransportFailure, TransportKind};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};

use crate::address::ComponentType;
use crate::body::{BodyError, read_body, redirect_note};
use crate::client::{Route, Tools};

const IDEMPOTENCY_HEADER: &str = "Idempotency-Key";

const TRACE_HEADER: &str = "traceparent";

impl Tools {
    /// Makes one call. Dropping the future aborts it.
    pub async fn call(&self, call: &CallTool) -> Result<ToolReply, TransportFailure> {
        self.call_within(call, None).await
    }

    /// Makes one call within a trace span, sent to the tool as a `traceparent` header of W3C Trace Context.
    pub async fn call_within(&self, call: &CallTool, traceparent: Option<&str>) -> Result<ToolReply, TransportFailure> {
        let Some(route) = self.route(call) else {
            return Err(TransportFailure {
                kind: TransportKind::NotCallable,
                delivery: Delivery::NotSent,
                message: format!("no address is known for `{}` of `{}`", call.capability, call.agent),
            });
        };
        let limit = Duration::from_millis(call.timeout_ms);
        match tokio::time::timeout(limit, self.send(call, route, traceparent)).await {
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
        route: &Route,
        traceparent: Option<&str>,
    ) -> Result<ToolReply, TransportFailure> {
        let client = if call.needs_claim() { &self.client.unpooled } else { &self.client.http };
        let mut request = client
            .post(route.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .body(call_body(call, route.component));
        if let Some(key) = &call.idempotency_key {
            request = request.header(IDEMPOTENCY_HEADER, key);
        }
        if let Some(traceparent) = traceparent {
            request = request.header(TRACE_HEADER, traceparent);
        }
        let response = request.send().await.map_err(|error| send_failure(call, &error))?;
        let status = response.status().as_u16();
        let retry_after_ms = retry_after_ms(response.headers());
        let redirect_note = redirect_note(&response);
        let body = read_body(response).await.map_err(|error| body_failure(call, status, &error))?;
        let body = redirect_note.filter(|_| body == ReplyBody::Empty).map_or(body, ReplyBody::Text);
        Ok(ToolReply { status, retry_after_ms, body })
    }
}

/// The body of a call: an agent gets the parameters inside `data`.
fn call_body(call: &CallTool, component: ComponentType) -> String {
    match component {
        ComponentType::Tool => call.parameters.to_string(),
        ComponentType::Agent => Object::from([("data", call.parameters.clone().into())]).to_string(),
    }
}

/// A call without a response. Only a connection that was never established proves that nothing was sent.
fn send_failure(call: &CallTool, error: &reqwest::Error) -> TransportFailure {
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

/// The last error of the chain, the most specific one: `Connection refused (os error 111)`.
pub(crate) fn last_cause(error: &reqwest::Error) -> Option<String> {
    std::iter::successors(error.source(), |cause| (*cause).source()).last().map(ToString::to_string)
}

/// A response whose body cannot be used. The tool has received the call.
fn body_failure(call: &CallTool, status: u16, error: &BodyError) -> TransportFailure {
    let kind = match error {
        BodyError::Broken(_) => TransportKind::Reset,
        BodyError::TooLarge => TransportKind::TooLarge,
        BodyError::Compressed(_) | BodyError::InvalidJson(_) => TransportKind::Unreadable,
    };
    TransportFailure {
        kind,
        delivery: Delivery::Possible,
        message: format!("`{}` answered {status}, but {error}", call.agent),
    }
}

/// The wait that the headers request, in any format. A header that only announces when a rate limit resets requests none.
fn retry_after_ms(headers: &HeaderMap) -> Option<u64> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let requested = |name: &str| header(name).filter(|_| name.starts_with("retry-after") || name == "date");
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let now_ms = u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX);
    RetryAfter::from_headers(requested, now_ms).map(|wait| wait.ms)
}
