//! `reknit mcp`: offers the configured tools to an MCP client over standard input and output.

use std::process::ExitCode;

use reknit::Reknit;
use reknit_mcp_server::{McpServer, Offering};
use tracing::level_filters::LevelFilter;

use crate::cli::McpArguments;
use crate::failure::Failure;
use crate::server_setup::named_agents;
use crate::setup::Setup;

pub(crate) async fn run(arguments: &McpArguments) -> Result<ExitCode, Failure> {
    let setup = Setup::for_server(&arguments.setup, LevelFilter::OFF).await?;
    let offering = if arguments.plans_only { Offering::Plans } else { Offering::EveryTool };
    let agents = named_agents(&arguments.agents, &setup)?;
    let tools = McpServer::new(Reknit::from(setup.reknit.clone()), offering).with_agents(agents);
    let served = tools.serve_stdio().await;
    setup.telemetry.end().await;
    served.map(|()| ExitCode::SUCCESS).map_err(Failure::start("the MCP server"))
}
