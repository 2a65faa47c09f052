//! MCP servers of others are listed and called. `./check third-party` installs and runs them; the variable
//! `REKNIT_THIRD_PARTY` names their folder.
#![cfg(test)]

#[path = "servers/support.rs"]
#[expect(dead_code, reason = "not every test needs all of it")]
mod support;

use std::path::PathBuf;
use std::process::Stdio;

use reknit_mcp::{McpConnection, McpOptions, McpProgram, McpSource};
use reknit_protocol::{ReplyBody, SideEffect, Value};
use reknit_tools::{Listing, ToolSource as _};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use support::{call, endpoint, json, list, route, value};

/// A file of the installed programs.
fn installed(path: &str) -> PathBuf {
    let folder = std::env::var("REKNIT_THIRD_PARTY").expect("REKNIT_THIRD_PARTY is set: run `./check third-party`");
    let path = PathBuf::from(folder).join(path);
    assert!(path.exists(), "{} is missing: run `./check third-party`", path.display());
    path
}

fn everything(transport: &str) -> McpProgram {
    let script = installed("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    McpProgram {
        program: installed("node_modules/.bin/node"),
        arguments: vec![script.to_str().expect("a path").to_owned(), transport.to_owned()],
        ..McpProgram::default()
    }
}

/// Calls the tools of `server-everything`, with each kind of content.
async fn call_everything(source: &McpSource) {
    let listing = list(source).await;
    let answer = async |tool: &str, parameters: &str| {
        route(&listing, tool).call(&call(tool, parameters), None).await.expect("it is answered")
    };
    assert_eq!(answer("echo", r#"{"message":"hi"}"#).await.body, ReplyBody::Text("Echo: hi".to_owned()));
    let sum = answer("get-sum", r#"{"a":2,"b":3}"#).await;
    assert_eq!(sum.body, ReplyBody::Text("The sum of 2 and 3 is 5.".to_owned()));
    let weather = json(answer("get-structured-content", r#"{"location":"Chicago"}"#).await);
    assert!(weather.get("temperature").is_some(), "{weather}");
    let image = json(answer("get-tiny-image", "{}").await);
    let blocks = image.get("content").and_then(Value::as_array).expect("there is content");
    assert!(blocks.iter().any(|block| block.get("mimeType") == Some(&Value::from("image/png"))), "{image}");
    let links = json(answer("get-resource-links", r#"{"count":2}"#).await).to_string();
    assert!(links.contains(r#""type":"resource_link""#), "{links}");
    // Progress is reported while it runs.
    let long = answer("trigger-long-running-operation", r#"{"duration":0.2,"steps":2}"#).await;
    assert_eq!(long.status, 200, "{long:?}");
    let refused = answer("get-sum", r#"{"a":"two","b":3}"#).await;
    assert_eq!(refused.status, 400, "{refused:?}");
    assert_task_tools_are_reported(&listing);
}

/// A tool that runs only as a task cannot be called, and is said so.
fn assert_task_tools_are_reported(listing: &Listing) {
    let is_reported = |problem: &String| problem.contains("simulate-research-query") && problem.contains("task");
    assert!(listing.problems.iter().any(is_reported), "{:?}", listing.problems);
}

#[tokio::test]
#[ignore = "needs programs of others: ./check third-party"]
async fn server_everything_is_listed_and_called_as_a_program() {
    let options = McpOptions::new("everything", McpConnection::Stdio(everything("stdio")));
    let source = McpSource::new(McpOptions { trusted: true, ..options });
    let listing = list(&source).await;
    let effect = |tool: &str| {
        let listed = listing.capabilities.iter().find(|listed| listed.entry.capability.name.as_str() == tool);
        listed.expect("it is listed").entry.capability.effect
    };
    assert_eq!(effect("echo"), SideEffect::Read);
    assert_eq!(effect("toggle-simulated-logging"), SideEffect::Undeclared);
    call_everything(&source).await;
    source.close().await;
}

#[tokio::test]
#[ignore = "needs programs of others: ./check third-party"]
async fn server_everything_is_listed_and_called_over_http() {
    let port =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
    let program = everything("streamableHttp");
    let mut service = tokio::process::Command::new(&program.program)
        .args(&program.arguments)
        .env("PORT", port.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(service.stderr.take().expect("it is piped")).lines();
    while let Some(line) = lines.next_line().await.expect("its output is text") {
        if line.contains("listening") {
            break;
        }
    }
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    let source = McpSource::new(endpoint(&format!("http://127.0.0.1:{port}/mcp")));
    call_everything(&source).await;
    source.close().await;
}

#[tokio::test]
#[ignore = "needs programs of others: ./check third-party"]
async fn mcp_server_time_is_listed_and_called() {
    let program = McpProgram { program: installed("python/bin/mcp-server-time"), ..McpProgram::default() };
    let source = McpSource::new(McpOptions::new("time", McpConnection::Stdio(program)));
    assert_eq!(source.name().as_str(), "time");
    let listing = list(&source).await;
    let convert = route(&listing, "convert_time");
    let parameters = r#"{"source_timezone":"Asia/Tokyo","time":"09:00","target_timezone":"UTC"}"#;
    let converted = json(convert.call(&call("convert_time", parameters), None).await.expect("it is answered"));
    let difference = converted.get("time_difference");
    assert_eq!(difference, Some(&Value::from("-9.0h")), "{converted}");
    let wrong = r#"{"source_timezone":"Nowhere","time":"09:00","target_timezone":"UTC"}"#;
    let refused = convert.call(&call("convert_time", wrong), None).await.expect("it is answered");
    assert_eq!(refused.status, 400, "{refused:?}");
    assert_eq!(refused.body.to_value().get("success"), Some(&value("false")));
    source.close().await;
}
