//! The arguments of `reknit trust`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

pub(super) const EXAMPLES: &str = "\
Examples:
  reknit trust
  reknit trust ../other/reknit.toml
  reknit trust --list

A `reknit.toml` that is only found in the current folder must be trusted once if it sends the key of a model to another host
than the provider's own, or takes it from a file or an unusual variable. After a change it must be trusted again. A file
that you name with `--config` or REKNIT_CONFIG needs no trust.";

#[derive(Debug, Args)]
pub(crate) struct TrustArguments {
    /// The file; the default is `reknit.toml`
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) path: Option<PathBuf>,
    /// List the trusted files
    #[arg(long, conflicts_with_all = ["path", "forget"])]
    pub(crate) list: bool,
    /// Trust the file no longer
    #[arg(long)]
    pub(crate) forget: bool,
}
