//! The arguments of `reknit serve` and `reknit tokens`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};
use reknit_model_api::Money;
use reknit_server::Scope;

#[cfg(feature = "restate")]
use super::EngineArgument;
use super::SetupArguments;

pub(super) const DETAILS: &str = "\
The API starts, follows and controls runs, and mends calls and texts of other programs: docs/serve.md, and `/openapi.json` of the
server. Runs that an earlier process left unfinished are continued. When the server is told to stop (SIGTERM, Ctrl-C), it takes no
new requests and waits for the runs in progress.

Examples:
  reknit serve
  curl -d '{\"request\": \"What is the weather in Seoul?\"}' http://127.0.0.1:8320/v1/runs
  reknit tokens new ann --scopes read,run --file tokens.toml
  reknit serve --listen 0.0.0.0:8320 --tokens tokens.toml

Exit status: 0 the server was told to stop, 1 it failed, 2 not started.";

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// The address to listen at; one that other machines can reach needs `--tokens`
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8320")]
    pub(crate) listen: SocketAddr,
    /// The file with the tokens that are accepted; `reknit tokens new` makes one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) tokens: Option<PathBuf>,
    /// The certificate for HTTPS, in PEM; it is read again when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key", value_hint = ValueHint::FilePath)]
    pub(crate) tls_certificate: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate", value_hint = ValueHint::FilePath)]
    pub(crate) tls_key: Option<PathBuf>,
    /// An agent file that clients can ask as the model `agent/NAME`, or call over MCP; repeat it for several
    #[arg(long = "agent", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) agents: Vec<PathBuf>,
    /// How many runs go on at the same time; more are answered with 429
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_runs: u32,

    #[cfg(feature = "restate")]
    #[command(flatten)]
    pub(crate) engine: EngineArgument,

    #[command(flatten)]
    pub(crate) setup: SetupArguments,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokensCommand {
    /// Make a token, print it once, and store its hash
    New {
        /// Whose token it is; the log names it
        name: String,
        /// What it allows: read, run, approve, admin
        #[arg(long, value_name = "SCOPES", value_delimiter = ',', required = true)]
        scopes: Vec<Scope>,
        /// How many requests it may send in a minute; more are answered with 429
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        requests_per_minute: Option<u32>,
        /// The tools (`shop`) and capabilities (`shop/price`) that it may use; all without this
        #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
        tools: Option<Vec<String>>,
        /// What it may spend on models in a month, in the currency of their prices
        #[arg(long, value_name = "AMOUNT", value_parser = money)]
        monthly_budget: Option<Money>,
        /// Let it see the runs of all tokens, not only its own
        #[arg(long)]
        all_runs: bool,
        #[command(flatten)]
        file: TokenFileArgument,
    },
    /// List the tokens and what they allow
    List {
        #[command(flatten)]
        file: TokenFileArgument,
    },
    /// Remove a token; a running server accepts it until it is started again
    Remove {
        /// Whose token
        name: String,
        #[command(flatten)]
        file: TokenFileArgument,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TokenFileArgument {
    /// The file with the tokens
    #[arg(long = "file", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) path: PathBuf,
}

/// Reads an amount of money.
pub(crate) fn money(text: &str) -> Result<Money, String> {
    let amount: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    Money::try_from(amount).map_err(|error| error.to_string())
}
