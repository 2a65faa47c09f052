//! `reknit mcp`: offers the configured tools to an MCP client over standard input and output.

#[cfg(feature = "mcp")]
mod wrap;

use std::path::PathBuf;
use std::process::ExitCode;

#[cfg(feature = "mcp")]
use clap::Subcommand;
use clap::{Args, ValueHint};
use reknit::Reknit;
use reknit_mcp_server::{McpServer, Offering};
use tracing::level_filters::LevelFilter;

use crate::output::Failure;
use crate::setup::{Setup, SetupArguments, named_agents};

const DETAILS: &str = "\
The client starts this command. In the configuration of most clients:
  {\"mcpServers\": {\"reknit\": {\"command\": \"reknit\", \"args\": [\"mcp\", \"--config\", \"/path/to/reknit.toml\"]}}}

Every call becomes a run: it is fitted to its schema, mended, sent again where that is safe, and kept in the journal
(`reknit runs list`). The result says what was changed. A call that needs approval is shown to the user by a client that can
ask (elicitation); otherwise approve it with `reknit runs approve`. Warnings go to standard error.

Exit status: 0 the client closed the connection, 1 the connection failed, 2 not started.";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = DETAILS)]
pub(crate) struct McpArguments {
    #[cfg(feature = "mcp")]
    #[command(subcommand)]
    command: Option<McpCommand>,
    /// Offer only tools that find other tools and run plans: for many capabilities, whose list would fill a prompt
    #[arg(long)]
    plans_only: bool,
    /// An agent file to offer as a tool; repeat it for several
    #[arg(long = "agent", value_name = "FILE", value_hint = ValueHint::FilePath)]
    agents: Vec<PathBuf>,
    #[command(flatten)]
    setup: SetupArguments,
}

#[cfg(feature = "mcp")]
#[derive(Debug, Subcommand)]
enum McpCommand {
    /// Stand in front of one MCP server, without a configuration file
    Wrap(Box<wrap::WrapArguments>),
}

pub(crate) async fn run(arguments: &McpArguments) -> Result<ExitCode, Failure> {
    #[cfg(feature = "mcp")]
    if let Some(McpCommand::Wrap(arguments)) = &arguments.command {
        return Box::pin(wrap::run(arguments)).await;
    }
    let setup = Setup::for_server(&arguments.setup, LevelFilter::OFF).await?;
    let offering = if arguments.plans_only { Offering::Plans } else { Offering::EveryTool };
    let agents = named_agents(&arguments.agents, &setup)?;
    let tools = McpServer::new(Reknit::from(setup.reknit.clone()), offering).with_agents(agents);
    Box::pin(serve(setup, tools)).await
}

/// Serves one client over standard input and output.
async fn serve(setup: Setup, tools: McpServer) -> Result<ExitCode, Failure> {
    let served = tools.serve_stdio().await;
    setup.telemetry.end().await;
    served.map(|()| ExitCode::SUCCESS).map_err(Failure::start("the MCP server"))
}
