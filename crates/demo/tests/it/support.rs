//! A client of the tools.

use reknit_demo::DemoTools;
use reknit_protocol::{ToolResponse, Value};

/// A client. It needs a cryptography provider even for plain HTTP.
pub(crate) fn client() -> reqwest::Client {
    // This fails when another test has installed the provider already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

/// Calls a tool; returns the status and the response.
pub(crate) async fn call(tools: &DemoTools, tool: &str, capability: &str, body: &str) -> (u16, ToolResponse) {
    call_with_key(tools, "key", tool, capability, body).await
}

pub(crate) async fn call_with_key(
    tools: &DemoTools,
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

/// The data of a successful call.
pub(crate) async fn call_ok(tools: &DemoTools, tool: &str, capability: &str, body: &str) -> String {
    let (status, response) = call(tools, tool, capability, body).await;
    assert_eq!(status, 200, "{response:?}");
    response.data().unwrap().to_string()
}

/// The status, code and message of a refused call.
pub(crate) async fn call_err(tools: &DemoTools, tool: &str, capability: &str, body: &str) -> String {
    let (status, response) = call(tools, tool, capability, body).await;
    let error = response.error().unwrap_or_else(|| panic!("{response:?}"));
    format!("{status} {} retryable={:?}: {}", error.code, error.retryable, error.message)
}
