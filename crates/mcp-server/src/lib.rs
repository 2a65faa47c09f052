//! Offers the tools of a Reknit to MCP clients. An editor or agent that speaks MCP gets every configured tool with its calls
//! fitted to their schemas, mended, sent again where that is safe, approved and journalled, without a line of code.
//!
//! ```text
//! client --tools/call--> McpServer --plan with one step--> run --call, mend, call--> tool
//!    ^                                                       |
//!    '--- result, what was changed, or why there is none ----'
//! ```
//!
//! ```no_run
//! use reknit::Reknit;
//! use reknit_mcp_server::{McpServer, Offering};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let reknit = Reknit::builder().tool_service("shop", "http://127.0.0.1:8085").start().await?;
//! McpServer::new(reknit, Offering::EveryTool).serve_stdio().await?;
//! # Ok(())
//! # }
//! ```

mod approval;
mod call;
mod conversations;
mod known_calls;
mod offer;
mod own_calls;
mod own_tools;
mod result;
mod server;
mod sessions;

pub use known_calls::RunLimit;
pub use offer::Offering;
pub use server::{CALLER_HEADER, McpServeError, McpServer};
pub use sessions::{SessionError, SessionLimit, Sessions, TooManySessions, unless_refused};
