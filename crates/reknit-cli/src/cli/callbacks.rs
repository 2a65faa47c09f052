//! The arguments of `reknit callbacks`.

use std::net::SocketAddr;

use clap::Subcommand;

use super::FileArguments;

pub(super) const DETAILS: &str = "\
Examples:
  reknit callbacks serve
  reknit callbacks serve --listen 0.0.0.0:8099

Calls carry a signed URL in the header `x-reknit-callback` if `url` in `[callbacks]` is set. A tool that works on a job calls
it when the job has ended. docs/tools.md describes it.";

#[derive(Debug, Subcommand)]
pub(crate) enum CallbacksCommand {
    /// Receive the calls with which tools report the end of a job
    Serve {
        /// The address to listen at
        #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8099")]
        listen: SocketAddr,
        #[command(flatten)]
        files: FileArguments,
    },
}
