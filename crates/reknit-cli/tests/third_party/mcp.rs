//! MCP servers, connected and called with the command.

use crate::server::{installed, printed, reknit};

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
    assert_eq!(added, "added `time` to servers.toml: 2 capabilities (2 undeclared)\n");
    run(&["tools", "add", "--name", "everything", "--", &node, &everything]);
    let listed = run(&["tools", "list"]);
    assert!(listed.contains("time/convert_time") && listed.contains("everything/get-sum"), "{listed}");
    let sum = run(&["tools", "call", "everything/get-sum", "a=2", "b=40"]);
    assert!(sum.contains("42"), "{sum}");
    let berlin = ["source_timezone=Europe/Berlin", "time=16:30", "target_timezone=Asia/Seoul"];
    let converted = run(&[&["tools", "call", "convert_time"], berlin.as_slice()].concat());
    assert!(converted.contains(r#""time_difference":"+8.0h""#), "{converted}");
}
