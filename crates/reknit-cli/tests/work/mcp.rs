//! An MCP server, which the command starts.

use std::fs;
use std::io::{BufRead as _, Write as _};

use serde_json::{Value, json};

use crate::world::{World, assert_contains, text};

/// The server. It does nothing unless it is started as such.
#[test]
#[ignore = "it is started by other tests"]
fn mcp_server() {
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.expect("text")).expect("JSON");
        let result = match message["method"].as_str().unwrap_or_default() {
            "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "clock", "version": "1"}}),
            "tools/list" => json!({"tools": [{"name": "now", "inputSchema": {"type": "object"}},
                {"name": "charge", "inputSchema": {"type": "object"}},
                {"name": "add", "annotations": {"readOnlyHint": true}, "inputSchema": {"type": "object",
                    "required": ["a", "b"], "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}}]}),
            "tools/call" if message["params"]["name"] == "add" => {
                let number = |name: &str| message["params"]["arguments"][name].as_i64().expect("an integer");
                json!({"content": [], "structuredContent": {"sum": number("a") + number("b"),
                    "region": std::env::var("SHOP_REGION").ok()}})
            }
            "tools/call" if message["params"]["name"] == "charge" => {
                fs::write("charged", fs::read_to_string("charged").unwrap_or_default() + "charge\n").expect("a file");
                std::process::exit(3);
            }
            "tools/call" => json!({"content": [], "structuredContent": {"time": "noon"}}),
            _ if message["id"].is_null() => continue,
            _ => {
                println!(
                    "{}",
                    json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "?"}})
                );
                continue;
            }
        };
        println!("{}", json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
        std::io::stdout().flush().expect("it is open");
    }
}

/// The command line of the server.
pub(crate) fn server_command() -> Vec<String> {
    let program = std::env::current_exe().expect("the test is a program").display().to_string();
    [&program, "--exact", "mcp::mcp_server", "--ignored", "--nocapture"].map(str::to_owned).to_vec()
}

/// An entry of the configuration for the server, whose tool `charge` charges and ends the server.
pub(crate) fn server_that_charges() -> String {
    let command: Vec<String> = server_command().iter().map(|word| json!(word).to_string()).collect();
    format!("[[mcp]]\nname = \"shop\"\ncommand = [{}]\n", command.join(", "))
}

/// A folder with the server. It ends at once as often as the file `down` says.
fn world() -> World {
    let program = std::env::current_exe().expect("the test is a program").display().to_string();
    let script = r#"n=$(cat down); if [ "$n" -gt 0 ]; then echo $((n - 1)) > down; exit 4; fi; exec "$0" "$@""#;
    let words = ["sh", "-c", script, &program, "--exact", "mcp::mcp_server", "--ignored", "--nocapture"];
    let command: Vec<String> = words.iter().map(|word| json!(word).to_string()).collect();
    let entry = format!("[[mcp]]\nname = \"clock\"\ncommand = [{}]\n", command.join(", "));
    World::new().file("reknit.toml", &entry).file("down", "0")
}

#[test]
fn a_server_that_is_down_at_the_start_of_a_run_is_started_when_its_call_is_sent_again() {
    let world = world();
    assert_contains(&world.reknit(&["tools", "list", "--config", "reknit.toml"]), "clock/now");
    // Each attempt to connect starts it twice: in both eras of the protocol. Two attempts fail, that of the listing and that of
    // the first call.
    fs::write(world.path().join("down"), "4").expect("it is written");
    let called = world.reknit(&["tools", "call", "clock/now", "--config", "reknit.toml"]);
    assert!(called.starts_with("exit status 0"), "{called}");
    assert!(called.contains("its last known capabilities are used") && called.contains("noon"), "{called}");
    let shown = text(&world.output(&["runs", "show", "last"]).stdout);
    assert!(shown.contains("attempt 1") && shown.contains("`clock` cannot be reached"), "{shown}");
    assert!(shown.contains("attempt 2"), "{shown}");
}
