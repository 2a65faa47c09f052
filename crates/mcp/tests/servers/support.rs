//! Servers, calls and answers for tests.

use std::sync::Arc;

use reknit_mcp::{McpConnection, McpEndpoint, McpOptions, McpProgram, McpSource};
use reknit_protocol::{
    CallTool, CapabilityName, EffectId, Object, ReplyBody, SideEffect, StepId, ToolName, ToolReply, Value,
};
use reknit_tools::{Listing, Route, ToolSource as _};

/// The options of the program in `scripted_program.rs`, which behaves as a script says.
pub(crate) fn scripted(script: &str) -> McpOptions {
    let program = McpProgram {
        program: std::env::current_exe().expect("the test is a program"),
        arguments: ["--exact", "scripted_server", "--ignored", "--nocapture"].map(str::to_owned).to_vec(),
        environment: vec![("REKNIT_TEST_SCRIPT".to_owned(), script.into())],
        ..McpProgram::default()
    };
    McpOptions::new("scripted", McpConnection::Stdio(program))
}

pub(crate) fn endpoint(url: &str) -> McpOptions {
    McpOptions::new("service", McpConnection::Http(McpEndpoint { url: url.to_owned(), ..McpEndpoint::default() }))
}

pub(crate) fn value(json: &str) -> Value {
    Value::parse(json).expect("it is JSON")
}

pub(crate) fn call(tool: &str, parameters: &str) -> CallTool {
    let Value::Object(parameters) = value(parameters) else { panic!("parameters are an object") };
    call_with(tool, parameters)
}

pub(crate) fn call_with(tool: &str, parameters: Object) -> CallTool {
    CallTool {
        id: "step-1/call/1".parse::<EffectId>().expect("an id"),
        step: StepId::from("step-1"),
        tool: ToolName::from("scripted"),
        capability: CapabilityName::from(tool),
        parameters,
        side_effect: SideEffect::Undeclared,
        idempotency_key: Some("key-1".to_owned()),
        business_key: None,
        timeout_ms: 60_000,
        job: None,
        callback: None,
    }
}

/// The route of a tool.
pub(crate) fn route(listing: &Listing, tool: &str) -> Arc<dyn Route> {
    let listed = listing.capabilities.iter().find(|listed| listed.entry.capability.name.as_str() == tool);
    Arc::clone(&listed.unwrap_or_else(|| panic!("`{tool}` is not listed")).route)
}

pub(crate) async fn list(source: &McpSource) -> Listing {
    source.list().await.expect("the tools are listed")
}

/// The JSON body of a successful reply.
pub(crate) fn json(reply: ToolReply) -> Value {
    assert_eq!(reply.status, 200, "{reply:?}");
    match reply.body {
        ReplyBody::Json(value) => value,
        other => panic!("not JSON: {other:?}"),
    }
}
