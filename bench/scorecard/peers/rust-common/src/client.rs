//! Calls of the tool service: with an idempotency key, and sent again after failures that pass, as long as the service
//! asks for.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::arguments::checked;
use crate::{Cell, Tool};

/// Why a call failed, in words for the model.
#[derive(Debug)]
pub enum ToolError {
    /// The arguments do not fit, or the service refused the call (4xx): other arguments may help.
    Refused(String),
    /// The service failed, or did not answer.
    Failed { message: String, may_be_sent_again: bool, retry_after: Option<Duration> },
}

impl std::fmt::Display for ToolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Self::Refused(message) | Self::Failed { message, .. }) = self;
        f.write_str(message)
    }
}

impl std::error::Error for ToolError {}

/// `Retry-After`, as seconds or as a date.
fn wait_of(response: &reqwest::Response) -> Option<Duration> {
    let text = response.headers().get(reqwest::header::RETRY_AFTER)?.to_str().ok()?;
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or_default())
}

impl Cell {
    /// Makes a call with typed arguments, and sends it again after failures that pass, under the same `key`.
    pub async fn call(&self, name: &str, arguments: Value, key: &str) -> Result<Value, ToolError> {
        let Some(tool) = self.tool(name) else {
            return Err(ToolError::Refused(format!("there is no tool {name}")));
        };
        let arguments = checked(name, arguments).map_err(|error| ToolError::Refused(format!("{name}: {error}")))?;
        for attempt in 0.. {
            match self.call_once(tool, &arguments, key).await {
                Err(ToolError::Failed { may_be_sent_again: true, retry_after, .. }) if attempt < self.spec.retries => {
                    tokio::time::sleep(retry_after.unwrap_or(Duration::from_secs(1 << attempt))).await;
                }
                ended => return ended,
            }
        }
        unreachable!("the last attempt returns")
    }

    async fn call_once(&self, tool: &Tool, arguments: &Value, key: &str) -> Result<Value, ToolError> {
        let name = &tool.name;
        let failed = |message, is_unprocessed, retry_after| ToolError::Failed {
            message,
            may_be_sent_again: is_unprocessed || tool.is_repeatable(),
            retry_after,
        };
        let url = format!("{}/api/capabilities/{name}", self.spec.service);
        let mut request = self.http.post(url).header("Content-Type", "application/json").body(arguments.to_string());
        if !tool.is_read() {
            request = request.header("Idempotency-Key", key);
        }
        let no_answer = |error| failed(format!("{name} did not answer: {error}"), false, None);
        let response = request.send().await.map_err(no_answer)?;
        let (status, wait) = (response.status(), wait_of(&response));
        let text = response.text().await.map_err(no_answer)?;
        if status == 429 || status.is_server_error() {
            let is_unprocessed = status == 429 || status == 503;
            return Err(failed(format!("{name}: HTTP {status}: {text}"), is_unprocessed, wait));
        }
        if !status.is_success() {
            return Err(ToolError::Refused(format!("{name}: HTTP {status}: {text}")));
        }
        serde_json::from_str(&text)
            .map_err(|_| failed(format!("{name} answered with something that is not JSON: {text}"), false, None))
    }
}
