//! `reknit mcp wrap`: an MCP client in front of a server, in a folder without a configuration.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command};

use serde_json::{Value, json};

use crate::mcp::server_command;
use crate::world::{World, assert_contains, assert_refused};

/// A client that has shaken hands with the command.
struct Client {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn start(mut command: Command) -> Self {
        let mut process = command.stdin(std::process::Stdio::piped()).spawn().expect("the command can be run");
        let input = process.stdin.take().expect("it is piped");
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut client = Self { process, input, output };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        client.ask("initialize", &hello);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("the command reads");
    }

    /// The result, or the error, of a request.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("text") > 0, "the command ended");
            let mut answer: Value = serde_json::from_str(&line).expect("JSON");
            if answer["id"] == 1 {
                return if answer["error"].is_null() { answer["result"].take() } else { answer["error"].take() };
            }
        }
    }

    fn call(&mut self, name: &str, arguments: &Value) -> Value {
        self.ask("tools/call", &json!({"name": name, "arguments": arguments}))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A folder whose configuration nobody has named, and a client of the wrapped server.
fn wrapped(options: &[&str]) -> (World, Client) {
    let world = World::new().file("reknit.toml", "this is no configuration\n").file("empty.toml", "");
    let server = server_command();
    let words = [&["mcp", "wrap"][..], options, &["--"]].concat();
    let words: Vec<&str> = words.into_iter().chain(server.iter().map(String::as_str)).collect();
    let mut command = world.command(&words);
    command.env("SHOP_REGION", "north");
    let client = Client::start(command);
    (world, client)
}

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().expect("a list").iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
fn a_client_sees_the_tools_of_a_wrapped_server_under_their_own_names_and_its_calls_are_mended() {
    let (world, mut client) = wrapped(&["--name", "shop"]);
    let listed = client.ask("tools/list", &json!({}));
    assert_eq!(names(&listed), ["now", "charge", "add", "continue_run"]);
    assert_eq!(listed["tools"][2]["annotations"]["readOnlyHint"], true, "its own words are believed");
    let sum = client.call("add", &json!({"a": "2", "b": 40}));
    assert_eq!(sum["structuredContent"], json!({"sum": 42, "region": "north"}), "it has the environment: {sum}");
    assert_contains(&sum.to_string(), r#"changed before it was sent: $.a: \"2\" -> 2"#);
    let prompts = client.ask("prompts/list", &json!({}));
    assert_eq!(prompts["code"], -32601, "{prompts}");
    drop(client);
    assert_contains(&world.reknit(&["runs", "list", "--config", "empty.toml"]), "shop/add");
}

#[test]
fn a_read_of_a_wrapped_server_is_made_each_time_unless_its_words_are_not_believed() {
    let repeated = |options: &[&str]| {
        let (_world, mut client) = wrapped(options);
        client.call("add", &json!({"a": 1, "b": 1}));
        client.call("add", &json!({"a": 1, "b": 1})).to_string().contains("not called again")
    };
    assert!(!repeated(&[]));
    assert!(repeated(&["--untrusted"]));
}

#[test]
fn a_call_of_a_wrapped_server_that_may_have_worked_is_not_made_again() {
    let (world, mut client) = wrapped(&[]);
    let waiting = client.call("charge", &json!({})).to_string();
    assert!(waiting.contains("reknit runs approve") && waiting.contains("call `continue_run`"), "{waiting}");
    client.call("charge", &json!({}));
    assert_eq!(std::fs::read_to_string(world.path().join("charged")).expect("the server ran here"), "charge\n");
}

#[test]
fn what_cannot_be_wrapped_is_refused_with_what_to_type() {
    let world = World::new();
    assert_refused(
        &world.reknit(&["mcp", "wrap", "mcp-server-time"]),
        "`mcp-server-time` is not an http or https address",
        "to wrap a command, write it behind `--`: `reknit mcp wrap -- mcp-server-time`",
    );
    assert_refused(
        &world.reknit(&["mcp", "wrap", "--key-env", "NO_SUCH_TOKEN", "http://127.0.0.1:1/mcp"]),
        "the environment variable `NO_SUCH_TOKEN` is not set",
        "set it: `export NO_SUCH_TOKEN=...`",
    );
    let ended = world.reknit(&["mcp", "wrap", "--", "sh", "-c", "echo no such setting >&2; exit 7"]);
    assert!(ended.starts_with("exit status 2 --- stderr\nwarning: tool `sh`"), "{ended}");
    assert_contains(&ended, "no such setting");
    assert_contains(&ended, "error: `sh` offers no tool, so there is nothing to wrap");
    let nowhere = world.reknit(&["mcp", "wrap", "http://127.0.0.1:1/mcp"]);
    assert_contains(&nowhere, "error: `server` offers no tool, so there is nothing to wrap");
}

#[test]
fn a_configuration_that_is_named_decides_about_a_wrapped_server() {
    let world = World::new().file("rules.toml", "[[approve]]\ncapability = \"shop/add\"\n");
    let server = server_command();
    let words = ["mcp", "wrap", "--name", "shop", "--config", "rules.toml", "--"];
    let words: Vec<&str> = words.into_iter().chain(server.iter().map(String::as_str)).collect();
    let mut client = Client::start(world.command(&words));
    let waiting = client.call("add", &json!({"a": 1, "b": 1})).to_string();
    assert_contains(&waiting, "a person must approve it");
}
