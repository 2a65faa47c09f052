//! What a program says about MCP servers that was built without the feature `mcp`.

use super::found_service::{FoundService, Wanted};
use crate::output::Failure;

const WITHOUT_MCP: &str = "this program was built without the feature `mcp`";

pub(super) async fn probe_command(_command: &[String]) -> Result<FoundService, Failure> {
    Err(Failure::usage(WITHOUT_MCP, "build it with `cargo build --features mcp`, or with its default features"))
}

pub(super) async fn mcp_server(_wanted: &Wanted<'_>) -> Result<FoundService, String> {
    Err(WITHOUT_MCP.to_owned())
}
