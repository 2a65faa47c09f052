//! The arguments of `reknit init`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::ModelArguments;

pub(super) const EXAMPLES: &str = "\
It writes reknit.toml, plan.yaml and agent.md into the current folder, and never overwrites a file.

The model is the first API key in your environment or a server on this machine (see `reknit models --help`); at a terminal
you choose if there are several. The tools are those of an MCP client's configuration (.mcp.json, .cursor/mcp.json,
.vscode/mcp.json) or of an OpenAPI document (openapi.yaml, swagger.json, ...) in this folder, else those of the demo.

Examples:
  reknit init                                            in an empty folder: the tools of the demo
  reknit init --tools-from ~/.cursor/mcp.json            the MCP servers of another program
  reknit init --yes --model-url http://127.0.0.1:8080/v1 in a script";

#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// Answer every question with yes or its default, also whether the programs of an MCP client's configuration may be started
    #[arg(long)]
    pub(crate) yes: bool,

    /// Use the tools of this file: the configuration of an MCP client, or an OpenAPI document; may be repeated
    #[arg(long = "tools-from", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tools_from: Vec<PathBuf>,

    /// Use the tools of the demo, whatever is in the folder
    #[arg(long, conflicts_with = "tools_from")]
    pub(crate) demo: bool,

    #[command(flatten)]
    pub(crate) model: ModelArguments,
}
