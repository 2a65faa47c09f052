//! Tasks: calls that a server answers at once and works on for longer. The id of a task is the handle of the job.

use reknit_protocol::{CallTool, Delivery, ReplyBody, ToolJob, ToolReply, TransportFailure, TransportKind, Value};
use rmcp::model::{
    CancelTaskParams, CancelTaskRequest, ClientRequest, ErrorCode, ErrorData, GetTaskParams, GetTaskRequest,
    ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};

use crate::connection::Connection;
use crate::failure::{failure, lost, unreadable};
use crate::reply::{reply_of_error, reply_of_result};
use crate::wire::read_result;

/// The reply to a call for which the server has created a task, or that of the task if it has ended already.
pub(crate) fn created_task(created: &Value, call: &CallTool) -> Result<ToolReply, TransportFailure> {
    let id = created.get("taskId").and_then(Value::as_str).ok_or_else(|| unreadable(call, "its task has no id"))?;
    Ok(state_of_task(created, id))
}

/// Asks for the state of a task.
pub(crate) async fn ask_about_task(
    connection: &Connection,
    id: &str,
    call: &CallTool,
) -> Result<ToolReply, TransportFailure> {
    let request = ClientRequest::GetTaskRequest(GetTaskRequest::new(GetTaskParams::new(id)));
    match send(connection, request).await {
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

/// Tells the server to stop working on a task.
pub(crate) async fn cancel_task(
    connection: &Connection,
    id: &str,
    call: &CallTool,
) -> Result<ToolReply, TransportFailure> {
    let request = ClientRequest::CancelTaskRequest(CancelTaskRequest::new(CancelTaskParams::new(id)));
    match send(connection, request).await {
        Ok(_) => Ok(ToolReply { status: 200, retry_after_ms: None, body: ReplyBody::Empty, job: None }),
        Err(ServiceError::McpError(error)) => Ok(reply_of_error(&error)),
        Err(error) => lost(&error, connection, call).await,
    }
}

async fn send(connection: &Connection, request: ClientRequest) -> Result<ServerResult, ServiceError> {
    connection.send(request, PeerRequestOptions::no_options()).await?.answer().await
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
        Some("completed") => Some(
            task.get("result")
                .map_or_else(|| internal("the task has ended without a result".to_owned()), reply_of_result),
        ),
        Some("failed") => {
            let error = task.get("error").and_then(|error| serde_json::from_str(&error.to_string()).ok());
            Some(error.map_or_else(
                || internal(format!("the task failed: {}", status_message())),
                |error| reply_of_error(&error),
            ))
        }
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
