//! `reknit mcp`: offers the configured tools to an MCP client over standard input and output.

use std::process::ExitCode;

use reknit::Reknit;
use reknit_mcp_server::{McpServer, Offering};

use crate::cli::McpArguments;
use crate::failure::Failure;
use crate::setup::Setup;

pub(crate) async fn run(arguments: &McpArguments) -> Result<ExitCode, Failure> {
    let setup = Setup::for_server(&arguments.setup).await?;
    let offering = if arguments.plans_only { Offering::Plans } else { Offering::EveryTool };
    let served = McpServer::new(Reknit::from(setup.reknit.clone()), offering).serve_stdio().await;
    setup.telemetry.end().await;
    served.map(|()| ExitCode::SUCCESS).map_err(Failure::start("the MCP server"))
}
