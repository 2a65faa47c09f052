//! The tools for MCP clients, over HTTP.

use axum::Router;
use reknit_mcp_server::{McpServer, Offering};

use crate::state::ServerState;

/// Where MCP clients connect.
pub(crate) const PATH: &str = "/mcp";

/// Offers the configured tools to MCP clients. Calls are journalled runs like all others.
pub(crate) fn router(server: &ServerState, offering: Offering) -> Router {
    let service = McpServer::new(server.reknit.clone(), offering).http_service();
    Router::new().route_service(PATH, service)
}
