//! `reknit tools`: lists, shows, finds, calls and connects tools.

mod accept;
mod add;
mod call;
mod found_service;
mod list;
mod probe;
#[cfg(feature = "mcp")]
mod probe_mcp;
#[cfg(not(feature = "mcp"))]
#[path = "tools/probe_no_mcp.rs"]
mod probe_mcp;
mod show;
#[cfg(feature = "mcp")]
mod sign_in;

use std::process::ExitCode;

pub(crate) use add::document_entry;
use clap::Subcommand;
use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool};
use reknit_protocol::spelling::nearest;
use reknit_runtime::config::Config;
use reknit_tools::DiscoveryProblem;

use crate::output::Failure;
use crate::setup::{SetupArguments, discover_tools, entries, read_config, warn_about_tools, with_tools};

pub(super) const EXAMPLES: &str = "\
Examples:
  reknit tools add http://127.0.0.1:8000                   connect a service, and write its entry into reknit.toml
  reknit tools list                                        list all capabilities
  reknit tools search refund an order                      find capabilities by words
  reknit tools show shop/create_order                      show what a capability needs
  reknit tools call shop/get_item item_id=7                call it once; the call is journalled and mended like any other";

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List all capabilities, with their side effect classes
    List {
        /// Print JSON, one capability per line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        setup: SetupArguments,
    },
    /// Show a capability: what it does, what it needs and what it returns
    Show {
        /// The capability, like `shop/create_order`; a name that only one tool has is enough
        #[arg(value_name = "TOOL/CAPABILITY")]
        capability: String,
        /// Print JSON, with the whole schema
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        setup: SetupArguments,
    },
    /// Find capabilities by words, the best match first
    Search {
        /// What the capability should do
        #[arg(required = true, value_name = "WORD")]
        words: Vec<String>,
        /// How many to print
        #[arg(long, default_value = "10", value_name = "COUNT")]
        limit: usize,
        /// Print JSON, one capability per line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        setup: SetupArguments,
    },
    /// Call a capability once, and print its result
    Call(call::CallArguments),
    /// Connect a service: find out what it is, and write its entry into the configuration
    Add(add::AddArguments),
    /// Accept a changed definition or a new capability, which is withheld until then
    Accept(accept::AcceptArguments),
    /// Sign in at an MCP server with `auth = "oauth"`, in a browser
    #[cfg(feature = "mcp")]
    #[command(after_help = sign_in::SIGN_IN_DETAILS)]
    SignIn(sign_in::SignInArguments),
    /// Sign out: remove the stored tokens of an MCP server
    #[cfg(feature = "mcp")]
    SignOut(sign_in::SignInArguments),
    /// List the capabilities of each tool, with every problem, and those that declare no side effect class
    Check {
        /// Print the capabilities as JSON, for `reknit plan check --tools`
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        setup: SetupArguments,
    },
}

pub(crate) async fn run(command: ToolsCommand) -> Result<ExitCode, Failure> {
    match command {
        ToolsCommand::List { json, setup } => list::list(&setup, json).await,
        ToolsCommand::Show { capability, json, setup } => show::run(&capability, &setup, json).await,
        ToolsCommand::Search { words, limit, json, setup } => list::search(&words.join(" "), limit, &setup, json).await,
        ToolsCommand::Call(arguments) => Box::pin(call::run(arguments)).await,
        ToolsCommand::Accept(arguments) => accept::run(&arguments).await,
        ToolsCommand::Add(arguments) => add::run(&arguments).await,
        #[cfg(feature = "mcp")]
        ToolsCommand::SignIn(arguments) => sign_in::sign_in(&arguments).await,
        #[cfg(feature = "mcp")]
        ToolsCommand::SignOut(arguments) => sign_in::sign_out(&arguments).await,
        ToolsCommand::Check { json, setup } => list::check(&setup, json).await,
    }
}

/// The configuration, with at least one tool.
fn config_with_tools(arguments: &SetupArguments) -> Result<Config, Failure> {
    let config = with_tools(read_config(arguments.files.config.as_deref())?, arguments)?;
    if config.tools.is_empty() && config.discovery.registry().is_none() {
        return Err(Failure::usage(
            "no tool is configured",
            "connect one with `reknit tools add URL`, or name one with `--tool NAME=URL`",
        ));
    }
    config.check_effect_tools()?;
    Ok(config)
}

/// The configuration and the capabilities of its tools. Prints a warning for each tool that cannot be used.
async fn known_tools(arguments: &SetupArguments) -> Result<(Config, Catalogue), Failure> {
    let config = config_with_tools(arguments)?;
    let found = discover_tools(&config, arguments.files.config.as_deref()).await?;
    let is_change = |note: &DiscoveryProblem| found.changes.iter().any(|change| change.to_string() == note.message);
    let changes: Vec<DiscoveryProblem> = found.notes.iter().filter(|note| is_change(note)).cloned().collect();
    warn_about_tools(&found.problems, &changes);
    config.check_effect_names(&found.catalogue)?;
    Ok((config, found.catalogue))
}

/// The capability that a person names: `tool/capability`, or a name that only one tool has.
fn find<'a>(catalogue: &'a Catalogue, name: &str) -> Result<(&'a CatalogueTool, &'a CatalogueEntry), Failure> {
    let matches: Vec<(&CatalogueTool, &CatalogueEntry)> = entries(catalogue)
        .filter(|(tool, entry)| tool.key(entry) == name || entry.capability.name.as_str() == name)
        .collect();
    match matches.as_slice() {
        [one] => Ok(*one),
        [] => {
            let keys: Vec<String> = entries(catalogue).map(|(tool, entry)| tool.key(entry)).collect();
            let similar = catalogue.matches(name);
            let close = nearest(name, &keys).or_else(|| similar.first());
            let hint = match close {
                Some(key) => format!("did you mean `{key}`?"),
                None => "list them with `reknit tools list`".to_owned(),
            };
            Err(Failure::usage(format!("there is no capability `{name}`"), hint))
        }
        several => {
            let keys: Vec<String> = several.iter().map(|(tool, entry)| format!("`{}`", tool.key(entry))).collect();
            let message = format!("`{name}` is a capability of several tools");
            Err(Failure::usage(message, format!("write one of {}", keys.join(", "))))
        }
    }
}
