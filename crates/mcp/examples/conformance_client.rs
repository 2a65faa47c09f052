//! Lists the tools of a server with streamable HTTP and calls each of them once: what `@modelcontextprotocol/conformance` tests.
//! `bench/mcp-conformance/run` starts it.

use std::error::Error;
use std::time::Duration;

use reknit_mcp::{McpConnection, McpEndpoint, McpOptions, McpSource};
use reknit_protocol::{CallTool, Object, SideEffect, Value};
use reknit_tools::{Listing, Route, ToolSource as _};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("usage: conformance_client URL")?;
    let endpoint = McpEndpoint { url, ..McpEndpoint::default() };
    let source = McpSource::new(McpOptions::new("conformance", McpConnection::Http(endpoint)));
    let listing = source.list().await?;
    for (tool, parameters) in calls(&listing)? {
        let listed = listing.capabilities.iter().find(|listed| listed.entry.capability.name.as_str() == tool);
        let Some(listed) = listed else { continue };
        // What a call answers is not tested, only how it is made.
        let _ = listed.route.call(&call(&tool, parameters)?, None).await;
    }
    // A stream of notifications may follow.
    tokio::time::sleep(Duration::from_millis(200)).await;
    source.close().await;
    Ok(())
}

/// The calls that the scenario asks for, or else one of each tool.
fn calls(listing: &Listing) -> Result<Vec<(String, Object)>, Box<dyn Error>> {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").ok().map(|text| Value::parse(&text)).transpose()?;
    if let Some(calls) = context.as_ref().and_then(|context| context.get("toolCalls")).and_then(Value::as_array) {
        let read = |call: &Value| {
            let name = call.get("name")?.as_str()?.to_owned();
            Some((name, call.get("arguments").and_then(Value::as_object).cloned().unwrap_or_default()))
        };
        return Ok(calls.iter().filter_map(read).collect());
    }
    let example = |listed: &reknit_tools::ListedCapability| {
        let schema = listed.entry.json_schema().unwrap_or_default();
        let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
        let value = |schema: &Value| match schema.get("type").and_then(Value::as_str) {
            Some("number" | "integer") => Value::from(3),
            Some("boolean") => Value::from(true),
            Some("array") => Value::Array(Vec::new()),
            Some("object") => Object::new().into(),
            _ => Value::from("example"),
        };
        let parameters = properties.iter().map(|(name, schema)| (name.to_owned(), value(schema))).collect();
        (listed.entry.capability.name.as_str().to_owned(), parameters)
    };
    Ok(listing.capabilities.iter().map(example).collect())
}

fn call(tool: &str, parameters: Object) -> Result<CallTool, Box<dyn Error>> {
    Ok(CallTool {
        id: "step-1/call/1".parse()?,
        step: "step-1".into(),
        agent: "conformance".into(),
        capability: tool.into(),
        parameters,
        side_effect: SideEffect::Undeclared,
        idempotency_key: Some("key-1".to_owned()),
        timeout_ms: 20_000,
    })
}
