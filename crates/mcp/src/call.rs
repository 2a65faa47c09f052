//! One call of a tool, and tasks: calls that a server answers at once and works on for longer. The id of a task is the handle of
//! the job.

use std::sync::Arc;
use std::time::Duration;

use reknit_protocol::{
    CallTool, Delivery, JobRequest, Object, ReplyBody, ToolJob, ToolReply, TransportFailure, TransportKind, Value,
};
use reknit_tools::{BoxFuture, Route};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelTaskParams, CancelTaskRequest, ClientRequest, ErrorCode, ErrorData,
    GetTaskParams, GetTaskRequest, JsonObject, RequestMetaObject, ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use tokio::time::{Instant, timeout};

use crate::connection::{Connection, Unavailable};
use crate::failure::{failure, lost, not_sent, status_reply, unauthorized, unreadable};
use crate::options::McpConnection;
use crate::reply::{reply_of_error, reply_of_result};
use crate::server::Server;
use crate::wire::{ExactCall, UNREADABLE, read_result};

/// The member of `_meta` with the idempotency key.
const KEY: &str = "reknit/idempotency-key";

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
        let started = Instant::now();
        let connection = match timeout(limit, self.server.connection()).await {
            Err(_) => return Err(not_sent(call, "it is still starting")),
            Ok(Ok(connection)) => connection,
            Ok(Err(Unavailable::Down(reason))) => return Err(not_sent(call, &reason)),
            Ok(Err(Unavailable::Status { status, retry_after_ms, body })) => {
                return on_status(status_reply(status, retry_after_ms, body));
            }
            Ok(Err(Unavailable::NeedsSignIn(text))) => return Ok(unauthorized(&text)),
        };
        timeout(limit.saturating_sub(started.elapsed()), act(connection)).await.unwrap_or_else(|_| {
            let problem = format!("did not answer within {limit:?}");
            Err(failure(TransportKind::TimedOut, Delivery::Possible, call, &problem))
        })
    }

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
        connection.request(ClientRequest::CallToolRequest(request), options).await
    }
}

/// The reply to a call for which the server has created a task, or that of the task if it has ended already.
fn created_task(created: &Value, call: &CallTool) -> Result<ToolReply, TransportFailure> {
    let id = created.get("taskId").and_then(Value::as_str).ok_or_else(|| unreadable(call, "its task has no id"))?;
    Ok(state_of_task(created, id))
}

async fn ask_about_task(connection: &Connection, id: &str, call: &CallTool) -> Result<ToolReply, TransportFailure> {
    let request = ClientRequest::GetTaskRequest(GetTaskRequest::new(GetTaskParams::new(id)));
    match connection.request(request, PeerRequestOptions::no_options()).await {
        Ok(result) => {
            let state = read_result(&result).map_err(|problem| unreadable(call, &problem))?;
            Ok(state_of_task(&state, id))
        }
        Err(ServiceError::McpError(error)) if is_unknown_task(error.code) => {
            let reason = format!("the server does not know its task any more: {}", error.message);
            Ok(ToolReply { job: Some(ToolJob::Lost { reason }), ..reply_of_error(&error) })
        }
        Err(ServiceError::McpError(error)) => Err(in_doubt(call, &error.message)),
        Err(error) => match lost(&error, connection, call).await {
            Ok(reply) => Err(in_doubt(call, &format!("status {}", reply.status))),
            Err(lost) => Err(TransportFailure { kind: TransportKind::Reset, delivery: Delivery::Possible, ..lost }),
        },
    }
}

async fn cancel_task(connection: &Connection, id: &str, call: &CallTool) -> Result<ToolReply, TransportFailure> {
    let request = ClientRequest::CancelTaskRequest(CancelTaskRequest::new(CancelTaskParams::new(id)));
    match connection.request(request, PeerRequestOptions::no_options()).await {
        Ok(_) => Ok(ToolReply { status: 200, retry_after_ms: None, body: ReplyBody::Empty, job: None }),
        Err(ServiceError::McpError(error)) => Ok(reply_of_error(&error)),
        Err(error) => lost(&error, connection, call).await,
    }
}

fn in_doubt(call: &CallTool, problem: &str) -> TransportFailure {
    let problem = format!("does not tell the state of its task: {problem}");
    failure(TransportKind::Reset, Delivery::Possible, call, &problem)
}

/// Whether an error says that there is no such task. A server that was started again may not have any.
fn is_unknown_task(code: ErrorCode) -> bool {
    [ErrorCode::INVALID_PARAMS, ErrorCode::RESOURCE_NOT_FOUND, ErrorCode::METHOD_NOT_FOUND].contains(&code)
}

fn state_of_task(task: &Value, id: &str) -> ToolReply {
    reply_of_task(task).unwrap_or_else(|| ToolReply {
        status: 202,
        retry_after_ms: task.get("pollIntervalMs").and_then(|wait| wait.to_string().parse().ok()),
        body: ReplyBody::Empty,
        job: Some(ToolJob::Ask { handle: id.to_owned() }),
    })
}

/// The reply that an ended task is; `None` while it is worked on.
fn reply_of_task(task: &Value) -> Option<ToolReply> {
    let status_message =
        || task.get("statusMessage").and_then(Value::as_str).unwrap_or("no reason is given").to_owned();
    let internal = |message: String| reply_of_error(&ErrorData::new(ErrorCode::INTERNAL_ERROR, message, None));
    match task.get("status").and_then(Value::as_str) {
        Some("completed") => Some(match task.get("result") {
            Some(result) => reply_of_result(result),
            None => internal("the task has ended without a result".to_owned()),
        }),
        Some("failed") => Some(match task.get("error").map(|error| serde_json::from_str(&error.to_string())) {
            Some(Ok(error)) => reply_of_error(&error),
            _ => internal(format!("the task failed: {}", status_message())),
        }),
        Some("cancelled") => Some(internal(format!("the task was cancelled: {}", status_message()))),
        Some("input_required") => {
            let mut asked = task.clone();
            if let Some(asked) = asked.as_object_mut() {
                asked.insert("resultType", "input_required");
            }
            Some(reply_of_result(&asked))
        }
        _ => None,
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
