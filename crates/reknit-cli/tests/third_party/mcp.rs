//! MCP servers, connected and called with the command.

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
    let client = Command::new(installed.join("python/bin/python"))
        .arg(sources().join("mcp_client.py"))
        .arg(env!("CARGO_BIN_EXE_reknit"))
        .args(["mcp", "--config", &config, "--journal", &journal])
        // The client passes on little of its environment: `HOME` is where the server keeps what it knows of tools.
        .env("HOME", folder.path())
        .env("REKNIT_FIND_MODEL", "false")
        .output()
        .expect("the client runs");
    let said = printed(&client);
    let said: serde_json::Value = serde_json::from_str(&said).expect("the client prints JSON");
    let tools: Vec<&str> = said["tools"].as_array().expect("a list").iter().filter_map(|tool| tool.as_str()).collect();
    assert!(tools.contains(&"everything__get-sum") && tools.contains(&"run_plan"), "{tools:?}");
    assert_eq!(said["mended"][0], "The sum of 2 and 40 is 42.");
    assert!(said["mended"][1].as_str().is_some_and(|note| note.contains("changed before it was sent")), "{said}");
    assert_eq!(said["failed"][0], true, "{said}");
    let listed = printed(&reknit(folder.path(), &[], &["runs", "list", "--journal", &journal]));
    assert!(listed.contains("everything/get-sum"), "{listed}");
}
