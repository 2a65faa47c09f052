//! One call of a tool.

use std::sync::Arc;
use std::time::Duration;

use reknit_protocol::{CallTool, Delivery, JobRequest, Object, ToolReply, TransportFailure, TransportKind, Value};
use reknit_tools::{BoxFuture, Route};
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, JsonObject, RequestMetaObject, ServerResult};
use rmcp::service::{PeerRequestOptions, ServiceError};
use tokio::time::Instant;

use crate::connection::{Connection, Unavailable};
use crate::failure::{failure, lost, not_sent, status_reply, unauthorized, unreadable};
use crate::options::McpConnection;
use crate::reply::{reply_of_error, reply_of_result};
use crate::server::Server;
use crate::task::{ask_about_task, cancel_task, created_task};
use crate::wire::{ExactCall, UNREADABLE, read_result};

/// The member of `_meta` with the idempotency key.
const KEY: &str = "reknit/idempotency-key";

/// Makes the calls of one tool.
#[derive(Debug)]
pub(crate) struct McpRoute {
    pub(crate) server: Arc<Server>,
    pub(crate) tool: String,
}

impl Route for McpRoute {
    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        traceparent: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        Box::pin(async move { self.server.secrets.redact_outcome(self.make(call, traceparent).await) })
    }

    fn job<'a>(
        &'a self,
        call: &'a CallTool,
        request: &'a JobRequest,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        Box::pin(async move { self.server.secrets.redact_outcome(self.ask(call, request).await) })
    }
}

impl McpRoute {
    async fn make(&self, call: &CallTool, traceparent: Option<&str>) -> Result<ToolReply, TransportFailure> {
        self.connected(call, Ok, async |connection| self.run(&connection, call, traceparent).await).await
    }

    async fn ask(&self, call: &CallTool, request: &JobRequest) -> Result<ToolReply, TransportFailure> {
        // The status of a server that cannot be used says nothing about its task.
        let no_state = |reply: ToolReply| Err(not_sent(call, &format!("it answers with status {}", reply.status)));
        self.connected(call, no_state, async |connection| match request {
            JobRequest::Ask(task) => ask_about_task(&connection, task, call).await,
            JobRequest::Cancel(task) => cancel_task(&connection, task, call).await,
        })
        .await
    }

    /// Does something with the connection, within the time limit of the call. A server may refuse the connection with a status.
    async fn connected(
        &self,
        call: &CallTool,
        on_status: impl FnOnce(ToolReply) -> Result<ToolReply, TransportFailure>,
        act: impl AsyncFnOnce(Arc<Connection>) -> Result<ToolReply, TransportFailure>,
    ) -> Result<ToolReply, TransportFailure> {
        let options = &self.server.options;
        let limit = options.call_limit.unwrap_or(Duration::MAX).min(Duration::from_millis(call.timeout_ms));
        let until = Instant::now().checked_add(limit);
        let connection = match within(until, self.server.connection()).await {
            None => return Err(not_sent(call, "it is still starting")),
            Some(Ok(connection)) => connection,
            Some(Err(Unavailable::Down(reason))) => return Err(not_sent(call, &reason)),
            Some(Err(Unavailable::Status { status, retry_after_ms, body })) => {
                return on_status(status_reply(status, retry_after_ms, body));
            }
            Some(Err(Unavailable::NeedsSignIn(text))) => return Ok(unauthorized(&text)),
        };
        let Some(outcome) = within(until, act(connection)).await else {
            let problem = format!("did not answer within {limit:?}");
            return Err(failure(TransportKind::TimedOut, Delivery::Possible, call, &problem));
        };
        outcome
    }

    /// Sends the call and waits for its result.
    async fn run(
        &self,
        connection: &Arc<Connection>,
        call: &CallTool,
        traceparent: Option<&str>,
    ) -> Result<ToolReply, TransportFailure> {
        let result = match self.send(connection, call, traceparent).await {
            Ok(result) => result,
            Err(ServiceError::McpError(error)) if error.code.0 == UNREADABLE => {
                return Err(unreadable(call, &error.message));
            }
            Err(ServiceError::McpError(error)) => {
                connection.note_answer();
                return Ok(reply_of_error(&error));
            }
            Err(error) => return lost(&error, connection, call).await,
        };
        connection.note_answer();
        let result = read_result(&result).map_err(|problem| unreadable(call, &problem))?;
        if result.get("resultType").and_then(Value::as_str) == Some("task") {
            return created_task(&result, call);
        }
        Ok(reply_of_result(&result))
    }

    async fn send(
        &self,
        connection: &Connection,
        call: &CallTool,
        traceparent: Option<&str>,
    ) -> Result<ServerResult, ServiceError> {
        let mut parameters = CallToolRequestParams::new(self.tool.clone());
        if let McpConnection::Http(_) = self.server.options.connection {
            // From these rmcp derives headers; what is sent are the exact arguments.
            parameters.arguments = Some(to_json(&call.parameters));
        }
        let mut request = CallToolRequest::new(parameters);
        let arguments = call.parameters.to_string().into();
        request.extensions.insert(ExactCall { arguments, is_claimed: call.needs_claim() });
        let mut meta = RequestMetaObject::default();
        if let Some(key) = &call.idempotency_key {
            meta.0.insert(KEY.to_owned(), key.as_str().into());
        }
        if let Some(traceparent) = traceparent {
            meta.0.set_traceparent(traceparent);
        }
        let options = PeerRequestOptions::no_options().with_meta(meta);
        connection.send(ClientRequest::CallToolRequest(request), options).await?.answer().await
    }
}

/// Waits for a future until a point in time; `None` if it is reached before.
async fn within<T>(until: Option<Instant>, future: impl Future<Output = T>) -> Option<T> {
    match until {
        Some(until) => tokio::time::timeout_at(until, future).await.ok(),
        None => Some(future.await),
    }
}

/// The parameters for rmcp. A number that it cannot hold is left out.
fn to_json(parameters: &Object) -> JsonObject {
    fn convert(value: &Value) -> serde_json::Value {
        match value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(flag) => (*flag).into(),
            Value::Number(number) => serde_json::from_str(&number.to_string()).unwrap_or_default(),
            Value::String(text) => text.as_str().into(),
            Value::Array(items) => items.iter().map(convert).collect(),
            Value::Object(members) => to_json(members).into(),
        }
    }
    parameters.iter().map(|(name, value)| (name.to_owned(), convert(value))).collect()
}
