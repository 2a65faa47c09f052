//! A caller.

use reknit_demo::Tools;
use reknit_protocol::{ToolResponse, Value};

/// Clients are not built without a provider of cryptography, even if nothing is encrypted.
pub(crate) fn client() -> reqwest::Client {
    // The second test to come here finds it done.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

/// Calls a tool; returns the status and the envelope.
pub(crate) async fn call(tools: &Tools, tool: &str, capability: &str, body: &str) -> (u16, ToolResponse) {
    call_under(tools, "key", tool, capability, body).await
}

pub(crate) async fn call_under(
    tools: &Tools,
    key: &str,
    tool: &str,
    capability: &str,
    body: &str,
) -> (u16, ToolResponse) {
    let url = format!("{}/api/capabilities/{capability}", tools.base_url(tool).unwrap());
    let response = client().post(url).header("idempotency-key", key).body(body.to_owned()).send().await.unwrap();
    let status = response.status().as_u16();
    let body = Value::parse(&response.text().await.unwrap()).unwrap();
    (status, ToolResponse::from_value(&body).unwrap())
}

/// What a tool found or made.
pub(crate) async fn found(tools: &Tools, tool: &str, capability: &str, body: &str) -> String {
    let (status, response) = call(tools, tool, capability, body).await;
    assert_eq!(status, 200, "{response:?}");
    response.data().unwrap().to_string()
}

/// What a tool refused, as status, code and message.
pub(crate) async fn refused(tools: &Tools, tool: &str, capability: &str, body: &str) -> String {
    let (status, response) = call(tools, tool, capability, body).await;
    let error = response.error().unwrap_or_else(|| panic!("{response:?}"));
    format!("{status} {} retryable={:?}: {}", error.code, error.retryable, error.message)
}
