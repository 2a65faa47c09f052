//! The arguments of `reknit worker`, and of commands whose runs an engine elsewhere may drive.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::SetupArguments;

pub(super) const DETAILS: &str = "\
A worker advances runs and performs their effects when a Restate server asks it to. It needs the same configuration (tools, models,
keys) as the other workers and as `reknit serve --engine restate=URL`, which starts runs. It keeps nothing: it can be killed and
replaced at any moment. Several workers share an address through a load balancer, and a folder for large values: docs/scale.md.

Examples:
  reknit worker --restate http://127.0.0.1:9070 --blobs /var/lib/reknit/blobs
  reknit worker --restate http://127.0.0.1:9070 --blobs /mnt/blobs --listen 10.0.0.5:9080 --advertise http://balancer:9080
  reknit serve --engine restate=http://127.0.0.1:8080

Exit status: 0 the worker was told to stop, 1 it failed, 2 not started.";

#[derive(Debug, Args)]
pub(crate) struct WorkerArguments {
    /// The admin API of the Restate server, where the worker registers itself
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) restate: String,
    /// The folder for large values, which all workers share
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) blobs: PathBuf,
    /// The address to listen at
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9080")]
    pub(crate) listen: SocketAddr,
    /// Where Restate reaches the workers, if not at `--listen`: the address of their load balancer
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) advertise: Option<String>,
    /// Serve only the server with this public key, which signs its requests; may be repeated
    #[arg(long = "identity-key", value_name = "KEY")]
    pub(crate) identity_keys: Vec<String>,

    #[command(flatten)]
    pub(crate) setup: SetupArguments,
}

#[derive(Debug, Args)]
pub(crate) struct EngineArgument {
    /// What drives the runs: `restate=URL` with the ingress of a Restate server, whose workers drive them [default: this process]
    #[arg(long = "engine", value_name = "ENGINE", value_parser = restate_address)]
    pub(crate) restate: Option<String>,
}

fn restate_address(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some(("restate", address)) if !address.is_empty() => Ok(address.to_owned()),
        _ => Err("write it like `restate=http://127.0.0.1:8080`".to_owned()),
    }
}
