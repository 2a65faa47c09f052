//! The tools in docs/tools.md, in every language that is installed.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::server::{Server, installed, printed, reknit};

/// The code block of the page that begins with this line.
fn code(first_line: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tools.md");
    let page = fs::read_to_string(page).expect("the page is there");
    let from = page.find(first_line).unwrap_or_else(|| panic!("no block begins with {first_line}"));
    page[from..].split("```").next().expect("a block").to_owned()
}

fn calls_area(first_line: &str, file: &str, command: impl FnOnce(&Path, u16) -> Command) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(file);
    fs::write(&path, code(first_line)).expect("it is written");
    let server = Server::start(|port| command(&path, port));
    let tool = format!("geometry={}", server.url);
    let called = printed(&reknit(folder.path(), &[], &["tools", "call", "area", "side=1.5", "--tool", &tool]));
    assert_eq!(called, "{\"area\":2.25}\n");
}

#[test]
#[ignore = "needs Python"]
fn the_tool_in_python_can_be_called() {
    calls_area("# tool.py", "tool.py", |file, port| {
        let mut command = Command::new(installed().join("python/bin/python"));
        command.arg(file).arg(port.to_string());
        command
    });
}

#[test]
#[ignore = "needs Node"]
fn the_tool_in_javascript_can_be_called() {
    calls_area("// tool.mjs", "tool.mjs", |file, port| {
        let mut command = Command::new(installed().join("node_modules/.bin/node"));
        command.arg(file).arg(port.to_string());
        command
    });
}

#[test]
#[ignore = "needs Go, which is tested where it is installed"]
fn the_tool_in_go_can_be_called() {
    if Command::new("go").arg("version").output().is_err() {
        return;
    }
    calls_area("// tool.go", "tool.go", |file, port| {
        let mut command = Command::new("go");
        command.arg("run").arg(file).arg(port.to_string());
        command
    });
}
