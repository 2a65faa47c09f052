//! The arguments of `reknit mcp`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::SetupArguments;

pub(super) const DETAILS: &str = "\
The client starts this command. In the configuration of most clients:
  {\"mcpServers\": {\"reknit\": {\"command\": \"reknit\", \"args\": [\"mcp\", \"--config\", \"/path/to/reknit.toml\"]}}}

Every call becomes a run: it is fitted to its schema, mended, sent again where that is safe, and kept in the journal
(`reknit runs list`). The result says what was changed. A call that needs approval is shown to the user by a client that can
ask (elicitation); otherwise approve it with `reknit runs approve`. Warnings go to standard error.

Exit status: 0 the client closed the connection, 1 the connection failed, 2 not started.";

#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    /// Offer only tools that find other tools and run plans: for many capabilities, whose list would fill a prompt
    #[arg(long)]
    pub(crate) plans_only: bool,

    /// An agent file to offer as a tool; repeat it for several
    #[arg(long = "agent", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) agents: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) setup: SetupArguments,
}
