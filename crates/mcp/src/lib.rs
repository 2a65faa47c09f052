//! Tools of MCP servers, over stdio and streamable HTTP.
//!
//! ```text
//! McpOptions -> McpSource -> list: tools/list, page by page -> capabilities with routes
//!                            call: tools/call -> ToolReply | TransportFailure     one call, no retry
//! ```
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use reknit_mcp::{McpConnection, McpOptions, McpProgram, McpSource};
//!
//! # async fn example() {
//! let program = McpProgram { program: "mcp-server-time".into(), ..McpProgram::default() };
//! let source = McpSource::new(McpOptions::new("time", McpConnection::Stdio(program)));
//! let discovery = reknit_tools::discover(&[Arc::new(source)]).await;
//! println!("{} tools", discovery.catalogue.tools.len());
//! # }
//! ```
//!
//! A program is started when it is first needed, with a clean environment, and shared by all calls. One that ended is started again
//! by the next call, at first at once and then after growing waits. Everything that it started is killed with it.

mod call;
mod connection;
mod event_size;
mod failure;
mod http;
mod listing;
mod oauth;
mod options;
mod process;
mod redirect;
mod reply;
mod server;
mod source;
mod stdio;
mod token_file;
mod wire;

pub use oauth::SignIn;
pub use options::{McpConnection, McpEndpoint, McpOAuth, McpOptions, McpProgram, ProtocolEra, TokenKey, ToolFilter};
pub use redirect::RedirectListener;
pub use source::McpSource;
pub use token_file::token_file_name;
