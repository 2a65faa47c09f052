//! What can be typed behind `reknit runs`.

use clap::{Args, Subcommand};

use super::{DriveArguments, JournalArguments, WorkArguments};

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// What has run, newest first
    List {
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// However many there are
        #[arg(long, conflicts_with = "limit")]
        all: bool,
        /// Print JSON, one run per line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        journal: JournalArguments,
    },
    /// What became of a run: each step, its parameters and where they come from, each attempt
    Show {
        #[command(flatten)]
        run: WhichRun,
        /// Only this step
        #[arg(long, value_name = "STEP", conflicts_with_all = ["events", "llm", "json"])]
        step: Option<String>,
        /// List the events of the journal
        #[arg(long)]
        events: bool,
        /// Print what models were asked and what they answered, word for word, if the run may show it
        #[arg(long, conflicts_with = "events")]
        llm: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        journal: JournalArguments,
    },
    /// Go on with a run that was stopped
    Resume {
        #[command(flatten)]
        run: WhichRun,
        #[command(flatten)]
        work: WorkArguments,
        #[command(flatten)]
        drive: DriveArguments,
    },
    /// End a run; what is under way may still answer
    Cancel {
        #[command(flatten)]
        run: WhichRun,
        #[command(flatten)]
        work: WorkArguments,
        #[command(flatten)]
        drive: DriveArguments,
    },
    /// Allow what a run waits for
    Approve {
        #[command(flatten)]
        run: WhichRun,
        /// Only this step
        #[arg(value_name = "STEP")]
        step: Option<String>,
        #[command(flatten)]
        journal: JournalArguments,
    },
    /// Refuse what a run waits for
    #[command(visible_alias = "reject")]
    Deny {
        #[command(flatten)]
        run: WhichRun,
        /// Only this step
        #[arg(value_name = "STEP")]
        step: Option<String>,
        #[command(flatten)]
        journal: JournalArguments,
    },
}

#[derive(Debug, Args)]
pub(crate) struct WhichRun {
    /// The id, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
}
