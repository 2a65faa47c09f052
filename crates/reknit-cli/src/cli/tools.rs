//! The arguments of `reknit tools`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::{DriveArguments, RunIdArgument, SetupArguments};

pub(super) const EXAMPLES: &str = "\
Examples:
  reknit tools add http://127.0.0.1:8000                   connect a service, and write its entry into reknit.toml
  reknit tools list                                        list all capabilities
  reknit tools search refund an order                      find capabilities by words
  reknit tools show shop/create_order                      show what a capability needs
  reknit tools call shop/get_item item_id=7                call it once; the call is journalled and mended like any other";

const CALL_DETAILS: &str = "\
A value that is JSON is sent as such: `quantity=2` is a number, `tags='[\"a\"]'` a list. What does not fit the parameters of the
capability is fitted to them, as in every run: `name=7` becomes a text if the capability wants one.

Examples:
  reknit tools call shop/get_item item_id=7
  reknit tools call shop/create_order '{\"item\": \"tea\", \"quantity\": 2}'

Exit status: 0 complete, 1 failed, 2 not started, 3 partial, 4 impossible, 5 a limit was reached,
6 waiting for approval, 130 cancelled.";

const ACCEPT_DETAILS: &str = "\
What a service says about a capability (description, parameters, result, side effect class) is pinned when it is first seen. If it
changes later and the capability does not only read, the capability is withheld. This command shows the difference and asks.

Examples:
  reknit tools accept shop/create_order
  reknit tools accept shop --yes";

const ADD_DETAILS: &str = "\
TARGET is the address of a service, or an OpenAPI or Swagger document (a file or an address). At an address, Reknit looks for the
tool protocol (`/api/capabilities`), for an API description (`/openapi.json`, `/swagger.json` and other usual places), and for an
MCP server. Behind `--` stands the command line of an MCP server that Reknit starts.

Examples:
  reknit tools add http://127.0.0.1:8000
  reknit tools add https://api.example.com/openapi.yaml --name shop --key-env SHOP_TOKEN
  reknit tools add petstore.yaml --url https://petstore.example.com/v3 --dry-run
  reknit tools add --name time -- uvx mcp-server-time --local-timezone Asia/Seoul";

#[cfg(feature = "mcp")]
const SIGN_IN_DETAILS: &str = "\
Prints the address of a page. When a person has signed in there, the browser is sent back to a port of 127.0.0.1, where Reknit
waits. The tokens are stored encrypted, and renewed when they expire. The command says where the file and its key are.

Example:
  reknit tools sign-in docs";

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
    #[command(after_help = CALL_DETAILS)]
    Call(CallArguments),
    /// Connect a service: find out what it is, and write its entry into the configuration
    #[command(after_help = ADD_DETAILS)]
    Add(AddArguments),
    /// Accept the changed definition of a capability, which is withheld until then
    #[command(after_help = ACCEPT_DETAILS)]
    Accept(AcceptArguments),
    /// Sign in at an MCP server with `auth = "oauth"`, in a browser
    #[cfg(feature = "mcp")]
    #[command(after_help = SIGN_IN_DETAILS)]
    SignIn(SignInArguments),
    /// Sign out: remove the stored tokens of an MCP server
    #[cfg(feature = "mcp")]
    SignOut(SignInArguments),
    /// List the capabilities of each tool, with every problem, and those that declare no side effect class
    Check {
        /// Print the capabilities as JSON, for `reknit plan check --tools`
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        setup: SetupArguments,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CallArguments {
    /// The capability, like `shop/create_order`; a name that only one tool has is enough
    #[arg(value_name = "TOOL/CAPABILITY")]
    pub(crate) capability: String,
    /// The parameters: `name=value` each, or one JSON object
    #[arg(value_name = "PARAMETER")]
    pub(crate) parameters: Vec<String>,
    #[command(flatten)]
    pub(crate) id: RunIdArgument,
    #[command(flatten)]
    pub(crate) setup: SetupArguments,
    #[command(flatten)]
    pub(crate) drive: DriveArguments,
}

#[derive(Debug, Args)]
pub(crate) struct AcceptArguments {
    /// The capability, or a tool for all of its capabilities
    #[arg(value_name = "TOOL[/CAPABILITY]")]
    pub(crate) subject: String,
    /// Accept without a question
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) setup: SetupArguments,
}

#[derive(Debug, Args)]
pub(crate) struct AddArguments {
    /// The address of a service, or an API description
    #[arg(value_name = "TARGET", value_hint = ValueHint::AnyPath, required_unless_present = "command")]
    pub(crate) target: Option<String>,
    /// The command line of an MCP server
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["target", "url", "key_env"])]
    pub(crate) command: Vec<String>,
    /// The name of the tool in plans [default: made from the title or the address]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The address of the service, instead of the one that the document names
    #[arg(long, value_hint = ValueHint::Url)]
    pub(crate) url: Option<String>,
    /// The environment variable that holds its key
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) key_env: Option<String>,
    /// Print the entry, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The configuration file [default: reknit.toml in the current folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
}

#[cfg(feature = "mcp")]
#[derive(Debug, Args)]
pub(crate) struct SignInArguments {
    /// The tool, as it is named in the configuration
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// The configuration file [default: reknit.toml in the current folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
}
