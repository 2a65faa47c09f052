//! Real MCP servers: a program that this test starts from itself, and a service on loopback.
#![cfg(test)]

#[path = "servers/connections.rs"]
mod connections;
#[path = "servers/faults.rs"]
mod faults;
#[path = "servers/http.rs"]
mod http;
#[path = "servers/oauth.rs"]
mod oauth;
// The same folder as for the sandbox of commands.
#[path = "../../tools/tests/defined/outside_folder.rs"]
mod outside_folder;
#[path = "servers/program.rs"]
mod program;
#[path = "servers/restarts.rs"]
mod restarts;
#[path = "servers/scripted_program.rs"]
mod scripted_program;
#[path = "servers/scripted_service.rs"]
mod scripted_service;
#[path = "servers/support.rs"]
mod support;
#[path = "servers/tls_front.rs"]
mod tls_front;

/// The server that other tests start. It does nothing unless it is started as such.
#[test]
#[ignore = "it is started by other tests"]
fn scripted_server() {
    scripted_program::serve();
}
