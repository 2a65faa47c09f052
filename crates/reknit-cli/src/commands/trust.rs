//! `reknit trust`: trusts configuration files that were only found, and lists them.

use std::path::PathBuf;

use crate::output::{Failure, escape_controls, print_data, print_message};
use crate::setup::{DEFAULT_CONFIG, TrustStore, canonical, trust_file, use_lines, uses_of};
use clap::{Args, ValueHint};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  reknit trust
  reknit trust ../other/reknit.toml
  reknit trust --list

A `reknit.toml` that is only found in the current folder must be trusted once if it runs a command, decides where requests,
results or keys go, or names the prompts, rules or journal of runs. Models at their provider's own host with the key in its usual
variable, and services on this machine without a key, need no trust. After a change the file must be trusted again. A file that
you name with `--config` or REKNIT_CONFIG needs no trust.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TrustArguments {
    /// The file; the default is `reknit.toml`
    #[arg(value_hint = ValueHint::FilePath)]
    path: Option<PathBuf>,
    /// List the trusted files
    #[arg(long, conflicts_with_all = ["path", "forget"])]
    list: bool,
    /// Trust the file no longer
    #[arg(long)]
    forget: bool,
}

pub(crate) fn run(arguments: &TrustArguments) -> Result<ExitCode, Failure> {
    let store = TrustStore::of_user()?;
    if arguments.list {
        let entries = store.read()?;
        if entries.is_empty() {
            print_message("no configuration file is trusted\n");
        }
        for entry in entries {
            print_data(&format!("{}\n", escape_controls(&entry.path)))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let path = arguments.path.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_CONFIG));
    if arguments.forget {
        // A file that is gone can still be forgotten.
        let name = canonical(&path).unwrap_or_else(|_| path.display().to_string());
        let was_trusted = store.forget(&name)?;
        let result = if was_trusted { "no longer trusted" } else { "was not trusted" };
        return print_data(&format!("{result}: {}\n", escape_controls(&name))).map(|()| ExitCode::SUCCESS);
    }
    let (name, config) = trust_file(&path)?;
    print_data(&escape_controls(&format!("trusted: {name}\n{}", use_lines(&uses_of(&config, |_| true)))))
        .map(|()| ExitCode::SUCCESS)
}
