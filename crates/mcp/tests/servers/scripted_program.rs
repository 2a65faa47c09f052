//! An MCP server in few lines, without a library: what it receives and sends is exactly what is written here.

use std::io::{BufRead as _, Write as _};

use serde_json::{Value, json};

/// Speaks the protocol on standard input and output as the variable `REKNIT_TEST_SCRIPT` says.
pub(crate) fn serve() {
    let Ok(script) = std::env::var("REKNIT_TEST_SCRIPT") else { return };
    if script == "broken" {
        eprintln!("cannot open the \u{1b}[31mdatabase");
        std::process::exit(4);
    }
    let mut polls = 0;
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("the input is text");
        let message = without_arguments(&line);
        let (method, id) = (message["method"].as_str().unwrap_or_default(), message["id"].clone());
        if method == "server/discover" && script == "exits-on-discover" {
            std::process::exit(5);
        }
        match method {
            "initialize" => answer(
                &id,
                &json!({
                    "protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": true}},
                    "serverInfo": {"name": "scripted", "version": "1"}, "instructions": "Echoes."
                }),
            ),
            "server/discover" if script == "modern" => answer(
                &id,
                &json!({
                    "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                    "serverInfo": {"name": "scripted", "version": "1"}, "ttlMs": 0, "cacheScope": "private"
                }),
            ),
            "tools/list" => list(&id, &message, &script),
            "tools/call" => call(&id, &message, &line),
            "tasks/get" if message["params"]["taskId"] == "busy" => {
                send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": "ask later"}}));
            }
            "tasks/get" if ended_task(&message["params"]["taskId"]).is_some() => {
                answer(&id, &ended_task(&message["params"]["taskId"]).expect("it has ended"));
            }
            "tasks/get" | "tasks/cancel" if message["params"]["taskId"] != "t1" => {
                let text = format!("no task {}", message["params"]["taskId"].as_str().unwrap_or_default());
                send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": text}}));
            }
            "tasks/cancel" => answer(&id, &json!({"resultType": "complete"})),
            "tasks/get" => {
                polls += 1;
                let task = json!({"resultType": "complete", "taskId": "t1", "status": "working",
                    "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": null, "pollIntervalMs": 1});
                let mut ended = task.clone();
                ended["status"] = "completed".into();
                ended["result"] = json!({"content": [{"type": "text", "text": "done"}]});
                answer(&id, if polls < 3 { &task } else { &ended });
            }
            "notifications/cancelled" => {
                if let Ok(file) = std::env::var("REKNIT_TEST_FILE") {
                    std::fs::write(file, &line).expect("the file can be written");
                }
            }
            _ if id.is_null() => {}
            _ => send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}})),
        }
    }
    std::process::exit(0);
}

/// The state of a task that has ended without a result.
fn ended_task(id: &Value) -> Option<Value> {
    let mut task = json!({"resultType": "complete", "taskId": id, "status": id,
        "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": null});
    match id.as_str()? {
        "failed" => task["error"] = json!({"code": -32602, "message": "no paper"}),
        "cancelled" => task["statusMessage"] = "by its owner".into(),
        "input_required" => task["inputRequests"] = json!({}),
        _ => return None,
    }
    Some(task)
}

/// A message without the arguments of a call, which may have numbers that `serde_json` cannot hold.
fn without_arguments(line: &str) -> Value {
    let mut message = reknit_protocol::Value::parse(line).expect("the input is JSON");
    if let Some(params) = message.get_mut("params").and_then(reknit_protocol::Value::as_object_mut) {
        params.remove("arguments");
    }
    serde_json::from_str(&message.to_string()).expect("the message is JSON")
}

fn send(message: &Value) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{message}").and_then(|()| out.flush()).expect("the output is open");
}

fn answer(id: &Value, result: &Value) {
    send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
}

fn text(id: &Value, text: &str) {
    answer(id, &json!({"content": [{"type": "text", "text": text}]}));
}

fn list(id: &Value, message: &Value, script: &str) {
    let tool = |name: &str| json!({"name": name, "description": name, "inputSchema": {"type": "object"}});
    match (message["params"]["cursor"].as_str(), script) {
        (None, "endless-list") => answer(id, &json!({"tools": [tool("echo")], "nextCursor": "same"})),
        (Some("same"), _) => answer(id, &json!({"tools": [], "nextCursor": "same"})),
        (None, "large-list") => {
            let tools: Vec<Value> = (0..10_050).map(|number| tool(&format!("tool_{number}"))).collect();
            answer(id, &json!({"tools": tools}));
        }
        (None, _) => {
            let mut echo = tool("echo");
            echo["annotations"] = json!({"readOnlyHint": true});
            answer(
                id,
                &json!({"tools": [echo, {"name": "no_schema"}, {"name": "bad\nname", "inputSchema": {}}], "nextCursor": "2"}),
            );
        }
        _ => {
            let names =
                ["environment", "fail", "exit", "hang", "change", "start_child", "large", "digits", "odd", "task"];
            let tools: Vec<Value> = names.into_iter().map(tool).chain([json!(7)]).collect();
            answer(id, &json!({"tools": tools}));
        }
    }
}

#[expect(clippy::zombie_processes, reason = "a test sees to it that the child ends with the server")]
fn call(id: &Value, message: &Value, line: &str) {
    match message["params"]["name"].as_str().unwrap_or_default() {
        "echo" => text(id, line),
        "environment" => {
            let variables: serde_json::Map<String, Value> =
                std::env::vars().map(|(name, value)| (name, value.into())).collect();
            answer(id, &json!({"content": [], "structuredContent": variables}));
        }
        "fail" => answer(id, &json!({"isError": true, "content": [{"type": "text", "text": "no such city"}]})),
        "exit" => {
            eprintln!("the disk is full");
            std::process::exit(3);
        }
        "hang" => {}
        "change" => {
            let token = &message["params"]["_meta"]["progressToken"];
            send(&json!({"jsonrpc": "2.0", "method": "notifications/progress",
                "params": {"progressToken": token, "progress": 0.5}}));
            send(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
            text(id, "changed");
        }
        "start_child" => {
            let child = std::process::Command::new("sleep").arg("1000").spawn().expect("sleep starts");
            text(id, &child.id().to_string());
        }
        "large" => text(id, &"x".repeat(100_000)),
        "digits" => {
            println!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"structuredContent":{{"id":12345678901234567890123,"price":1.10}}}}}}"#
            );
        }
        "task" => answer(
            id,
            &json!({"resultType": "task", "taskId": "t1", "status": "working", "createdAt": "2026-01-01T00:00:00Z",
                "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": null, "pollIntervalMs": 1}),
        ),
        "odd" => answer(id, &json!({"unexpected": true})),
        other => send(
            &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": format!("Unknown tool: {other}")}}),
        ),
    }
}
