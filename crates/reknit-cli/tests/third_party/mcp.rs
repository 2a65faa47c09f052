//! MCP servers, connected and called with the command.

use std::path::Path;
use std::process::Command;

use crate::server::{installed, printed, reknit, sources};

#[test]
#[ignore = "needs mcp-server-time and server-everything"]
fn mcp_servers_are_added_listed_and_called() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |arguments: &[&str]| printed(&reknit(folder.path(), &[("REKNIT_CONFIG", "servers.toml")], arguments));
    let installed = installed();
    let time = installed.join("python/bin/mcp-server-time").display().to_string();
    let node = installed.join("node_modules/.bin/node").display().to_string();
    let everything = installed.join("node_modules/.bin/mcp-server-everything").display().to_string();
    let added = run(&["tools", "add", "--", &time]);
    assert_eq!(added, "added `time` to servers.toml: 2 capabilities (2 unknown)\n");
    run(&["tools", "add", "--name", "everything", "--", &node, &everything]);
    let listed = run(&["tools", "list"]);
    assert!(listed.contains("time/convert_time") && listed.contains("everything/get-sum"), "{listed}");
    let sum = run(&["tools", "call", "everything/get-sum", "a=2", "b=40"]);
    assert!(sum.contains("42"), "{sum}");
    let berlin = ["source_timezone=Europe/Berlin", "time=16:30", "target_timezone=Asia/Seoul"];
    let converted = run(&[&["tools", "call", "convert_time"], berlin.as_slice()].concat());
    assert!(converted.contains(r#""time_difference":"+8.0h""#), "{converted}");
}

#[test]
#[ignore = "needs server-everything and the Python client of MCP"]
fn a_client_of_others_gets_a_server_of_others_with_its_calls_mended() {
    let folder = tempfile::tempdir().expect("a folder");
    let installed = installed();
    let node = installed.join("node_modules/.bin/node").display().to_string();
    let everything = installed.join("node_modules/.bin/mcp-server-everything").display().to_string();
    let add = ["tools", "add", "--name", "everything", "--", &node, &everything];
    printed(&reknit(folder.path(), &[("REKNIT_CONFIG", "servers.toml")], &add));
    let config = folder.path().join("servers.toml").display().to_string();
    let journal = folder.path().join("journal.db").display().to_string();
    let (tools, said) = said_by_client(folder.path(), &["mcp", "--config", &config, "--journal", &journal]);
    assert!(
        tools.iter().any(|name| name == "everything__get-sum") && tools.contains(&"run_plan".to_owned()),
        "{tools:?}"
    );
    assert_mended(&said);
    let listed = printed(&reknit(folder.path(), &[], &["runs", "list", "--journal", &journal]));
    assert!(listed.contains("everything/get-sum"), "{listed}");
}

#[test]
#[ignore = "needs server-everything and the Python client of MCP"]
fn a_server_of_others_is_wrapped_in_one_command_in_an_empty_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let installed = installed();
    let node = installed.join("node_modules/.bin/node").display().to_string();
    let everything = installed.join("node_modules/.bin/mcp-server-everything").display().to_string();
    let mut direct = direct_names(&installed, &[&node, &everything]);
    direct.retain(|name| name != "simulate-research-query"); // It runs only as a task, and a warning says so.
    let (tools, said) = said_by_client(folder.path(), &["mcp", "wrap", "--", &node, &everything]);
    assert_eq!(tools, [direct, vec!["continue_run".to_owned()]].concat());
    assert_mended(&said);
}

/// What the client prints that starts the command with these arguments: the names of the tools, and everything.
fn said_by_client(folder: &Path, arguments: &[&str]) -> (Vec<String>, serde_json::Value) {
    let client = client()
        .arg(env!("CARGO_BIN_EXE_reknit"))
        .args(arguments)
        .current_dir(folder)
        // The client passes on little of its environment: `HOME` is where the server keeps what it knows of tools.
        .env("HOME", folder)
        .env("REKNIT_FIND_MODEL", "false")
        .output()
        .expect("the client runs");
    let said: serde_json::Value = serde_json::from_str(&printed(&client)).expect("the client prints JSON");
    (names(&said), said)
}

fn client() -> Command {
    let mut client = Command::new(installed().join("python/bin/python"));
    client.arg(sources().join("mcp_client.py"));
    client
}

fn names(said: &serde_json::Value) -> Vec<String> {
    let names = said["tools"].as_array().expect("a list").iter();
    names.map(|name| name.as_str().expect("a name").to_owned()).collect()
}

/// The names that the client sees without anything in between.
fn direct_names(installed: &Path, server: &[&str]) -> Vec<String> {
    let output = client().args(server).current_dir(installed).output().expect("the client runs");
    names(&serde_json::from_str(&printed(&output)).expect("the client prints JSON"))
}

fn assert_mended(said: &serde_json::Value) {
    assert_eq!(said["mended"][0], "The sum of 2 and 40 is 42.");
    assert!(said["mended"][1].as_str().is_some_and(|note| note.contains("changed before it was sent")), "{said}");
    assert_eq!(said["failed"][0], true, "{said}");
}
