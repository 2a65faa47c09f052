//! What a call of an MCP tool costs beside bare `rmcp`, over stdio and HTTP. Both clients call the same server.

use std::error::Error;
use std::io::{BufRead as _, Write as _};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use reknit_mcp::{McpConnection, McpEndpoint, McpOptions, McpProgram, McpSource, ProtocolEra};
use reknit_protocol::{CallTool, Object, SideEffect};
use reknit_tools::{Tools, discover};
use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Value, json};

use crate::{CALLS, TURNS};

/// The argument that makes this program the server.
pub(crate) const SERVE: &str = "serve-mcp";

/// The answer to a message; `None` for a notification.
fn answer(message: &str) -> Option<String> {
    let message: Value = serde_json::from_str(message).ok()?;
    let id = message.get("id")?;
    let result = match message["method"].as_str()? {
        "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "bench", "version": "1"}}),
        "tools/list" => json!({"tools": [{"name": "get_item", "inputSchema": {"type": "object"}}]}),
        "tools/call" => {
            json!({"content": [{"type": "text", "text": "12.5"}], "structuredContent": {"id": "7", "price": 12.5}})
        }
        _ => {
            return Some(
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "unknown"}}).to_string(),
            );
        }
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
}

/// Speaks the protocol on standard input and output.
pub(crate) fn serve_stdio() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        if let Some(answer) = answer(&line?) {
            writeln!(out, "{answer}")?;
            out.flush()?;
        }
    }
    Ok(())
}

async fn serve_http(body: String) -> Response {
    match answer(&body) {
        Some(answer) => ([("content-type", "application/json")], answer).into_response(),
        None => StatusCode::ACCEPTED.into_response(),
    }
}

pub(crate) async fn calls() -> Result<(), Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let own = McpProgram { program: program.clone(), arguments: vec![SERVE.to_owned()], ..McpProgram::default() };
    let ours = tools(McpConnection::Stdio(own)).await;
    let mut child = tokio::process::Command::new(&program)
        .arg(SERVE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let input = child.stdin.take().ok_or("no input")?;
    let output = child.stdout.take().ok_or("no output")?;
    let bare = ().serve((output, input)).await?;
    compare("a call of an MCP tool over stdio", &ours, &bare).await?;
    bare.cancel().await?;

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let app = Router::new().route("/mcp", post(serve_http));
    tokio::spawn(async move { axum::serve(listener, app).await });
    let ours = tools(McpConnection::Http(McpEndpoint { url: url.clone(), ..McpEndpoint::default() })).await;
    let bare = ().serve(StreamableHttpClientTransport::from_uri(url)).await?;
    compare("a call of an MCP tool over HTTP", &ours, &bare).await?;
    bare.cancel().await?;
    Ok(())
}

async fn tools(connection: McpConnection) -> Tools {
    let options = McpOptions { era: ProtocolEra::Handshake, ..McpOptions::new("bench", connection) };
    let found = discover(&[Arc::new(McpSource::new(options))]).await;
    assert_eq!(found.problems, []);
    found.tools
}

async fn compare(name: &str, ours: &Tools, bare: &RunningService<RoleClient, ()>) -> Result<(), Box<dyn Error>> {
    let call = CallTool {
        id: "s/call/1".parse()?,
        step: "s".into(),
        tool: "bench".into(),
        capability: "get_item".into(),
        parameters: Object::from([("id", "7".into()), ("limit", 3.into())]),
        side_effect: SideEffect::Read,
        idempotency_key: None,
        timeout_ms: 10_000,
        business_key: None,
        job: None,
        callback: None,
    };
    let arguments = json!({"id": "7", "limit": 3});
    let mut parameters = CallToolRequestParams::new("get_item");
    parameters.arguments = arguments.as_object().cloned();
    let reply = ours.call(&call).await?;
    assert_eq!((reply.status, reply.body.to_value().to_string().as_str()), (200, r#"{"id":"7","price":12.5}"#));
    let bare_result = bare.call_tool(parameters.clone()).await?;
    assert_eq!(bare_result.structured_content, Some(json!({"id": "7", "price": 12.5})));
    let (mut fastest, mut bare_fastest) = (Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        let start = Instant::now();
        for _ in 0..CALLS {
            ours.call(&call).await?;
        }
        fastest = fastest.min(start.elapsed());
        let start = Instant::now();
        for _ in 0..CALLS {
            bare.call_tool(parameters.clone()).await?;
        }
        bare_fastest = bare_fastest.min(start.elapsed());
    }
    let per_call = |time: Duration| time.as_secs_f64() * 1e6 / CALLS as f64;
    let (ours, theirs) = (per_call(fastest), per_call(bare_fastest));
    let figure =
        format!("{ours:.1}µs, bare rmcp {theirs:.1}µs, {:.1}µs more, ratio {:.2}", ours - theirs, ours / theirs);
    println!("{name:45} {figure}");
    Ok(())
}
