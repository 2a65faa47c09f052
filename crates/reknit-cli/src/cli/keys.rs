//! The arguments of `reknit keys`.

use clap::{Args, Subcommand};

use super::FileArguments;

pub(super) const DETAILS: &str = "\
A capability may name the parameters that identify a deed (`[[keys]]` in the configuration). A call whose deed another call has
done is not sent: it returns the receipt of that call. While the outcome of the other call is unknown, the key is pending, and
an equal call waits. A pending key becomes free when its window is over, when its call turns out to have had no effect, or when
you say so: `keys forget` frees a key, so that the deed may be done again; `keys settle` says that the deed is done.

Examples:
  reknit keys list
  reknit keys settle 3f9a20c1d4 --result '{\"refund\": 12}'
  reknit keys forget 3f9a20c1d4";

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// List the business keys whose windows are not over, the newest first
    List {
        /// Print JSON, one key per line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        journal: FileArguments,
    },
    /// Say that the deed of a pending key is done: equal calls return the receipt
    Settle {
        /// The key, or its first characters
        #[arg(value_name = "KEY")]
        key: String,
        /// The receipt: the result of the call, as JSON
        #[arg(long, value_name = "JSON")]
        result: String,
        /// Print the key as JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        journal: FileArguments,
    },
    /// Free keys: their deeds may be done again
    Forget(KeyArguments),
}

#[derive(Debug, Args)]
pub(crate) struct KeyArguments {
    /// The keys, or their first characters
    #[arg(value_name = "KEY", required = true)]
    pub(crate) keys: Vec<String>,
    /// Print the keys as JSON, one per line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) journal: FileArguments,
}
