//! Tasks: calls that a server answers at once and works on for longer. Their state is asked for until they end.

use std::sync::Arc;
use std::time::Duration;

use reknit_protocol::{CallTool, Delivery, ToolReply, TransportFailure, TransportKind, Value};
use rmcp::model::{
    CancelTaskParams, CancelTaskRequest, ClientRequest, ErrorCode, ErrorData, GetTaskParams, GetTaskRequest,
};
use rmcp::service::{PeerRequestOptions, ServiceError};

use crate::connection::Connection;
use crate::failure::{failure, lost, unreadable};
use crate::reply::{reply_of_error, reply_of_result};
use crate::wire::read_result;

/// The wait between two questions for the state, if the server names none, and its limits.
const INTERVAL: Duration = Duration::from_secs(1);
const MIN_INTERVAL: Duration = Duration::from_millis(50);
const MAX_INTERVAL: Duration = Duration::from_secs(30);

/// Waits for the end of a task. Dropping the future cancels the task.
pub(crate) async fn follow_task(
    connection: &Arc<Connection>,
    created: &Value,
    call: &CallTool,
) -> Result<ToolReply, TransportFailure> {
    let id = created.get("taskId").and_then(Value::as_str).ok_or_else(|| unreadable(call, "its task has no id"))?;
    let mut task = RunningTask { connection: Arc::clone(connection), id: Some(id.to_owned()) };
    let mut state = created.clone();
    loop {
        if let Some(reply) = reply_of_task(&state) {
            task.id = None;
            return Ok(reply);
        }
        tokio::time::sleep(interval(&state)).await;
        state = ask(connection, id, call).await?;
    }
}

async fn ask(connection: &Connection, id: &str, call: &CallTool) -> Result<Value, TransportFailure> {
    let request = ClientRequest::GetTaskRequest(GetTaskRequest::new(GetTaskParams::new(id)));
    let answer = match connection.send(request, PeerRequestOptions::no_options()).await {
        Ok(pending) => pending.answer().await,
        Err(error) => Err(error),
    };
    // Whatever goes wrong now: the server has the call.
    let in_doubt = |problem: &str| {
        let problem = format!("does not tell the state of its task: {problem}");
        failure(TransportKind::Reset, Delivery::Possible, call, &problem)
    };
    match answer {
        Ok(result) => read_result(&result).map_err(|problem| unreadable(call, &problem)),
        Err(ServiceError::McpError(error)) => Err(in_doubt(&error.message)),
        Err(error) => match lost(&error, connection, call).await {
            Ok(reply) => Err(in_doubt(&format!("status {}", reply.status))),
            Err(lost) => Err(TransportFailure { kind: TransportKind::Reset, delivery: Delivery::Possible, ..lost }),
        },
    }
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

fn interval(task: &Value) -> Duration {
    let asked = task.get("pollIntervalMs").and_then(|wait| wait.to_string().parse().ok());
    asked.map_or(INTERVAL, Duration::from_millis).clamp(MIN_INTERVAL, MAX_INTERVAL)
}

/// A task that is cancelled when this is dropped, unless it has ended.
struct RunningTask {
    connection: Arc<Connection>,
    id: Option<String>,
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let connection = Arc::clone(&self.connection);
        runtime.spawn(async move {
            let request = ClientRequest::CancelTaskRequest(CancelTaskRequest::new(CancelTaskParams::new(id)));
            if let Ok(pending) = connection.send(request, PeerRequestOptions::no_options()).await {
                // Nobody is left to hear that it failed.
                drop(pending.answer().await);
            }
        });
    }
}
