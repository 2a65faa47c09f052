//! The arguments of `reknit doctor`.

use clap::Args;

use super::SetupArguments;

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Ask neither models nor tools
    #[arg(long)]
    pub(crate) offline: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) setup: SetupArguments,
}

pub(crate) const DETAILS: &str = "\
Each model is sent a short question, and each tool is asked for its capabilities. Nothing is changed.

JSON (--json):
  {\"ok\", \"findings\": [{\"area\", \"level\", \"message\", \"command\"?}]}
    area   configuration, keys, models, tools, journal, disk or clock
    level  ok, note or problem

Exit status: 0 nothing has to be done, 1 there are problems, 2 bad usage.";
