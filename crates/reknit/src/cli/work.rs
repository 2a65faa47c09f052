//! What every run needs: where things are, and how it is driven.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct JournalArguments {
    /// The journal; the default is reknit/journal.db in your data folder
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) journal: Option<PathBuf>,

    /// The configuration; the default is reknit.toml in this folder
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct WorkArguments {
    #[command(flatten)]
    pub(crate) files: JournalArguments,

    /// A tool, in addition to those of the configuration
    #[arg(long = "tool", id = "tool", value_name = "NAME=URL")]
    pub(crate) tools: Vec<String>,

    #[command(flatten)]
    pub(crate) model: ModelArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArguments {
    /// The configuration; the default is reknit.toml in this folder
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) model: ModelArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ModelArguments {
    #[arg(long = "model-url", value_name = "URL", value_hint = ValueHint::Url)]
    #[arg(help = "A server that speaks the OpenAI protocol, in place of the configured models")]
    pub(crate) url: Option<String>,

    /// The model to ask there
    #[arg(long = "model", value_name = "NAME", requires = "url", default_value = "default")]
    pub(crate) name: String,

    /// The variable of the environment that holds its key
    #[arg(long = "model-key-env", value_name = "VARIABLE", requires = "url")]
    pub(crate) key_env: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DriveArguments {
    /// Who writes the answer
    #[arg(long, value_name = "WHO")]
    pub(crate) answer: Option<AnswerBy>,

    /// Print the whole answer as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// How the run is driven: `segments` keeps nothing in memory between two events
    #[arg(long, value_name = "DRIVER", default_value = "steady", hide = true)]
    pub(crate) driver: DriverKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerBy {
    /// A model, from the results
    Model,
    /// Code: what was done, mended and left out, one line each
    Template,
    /// Nobody: the results as JSON
    Raw,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DriverKind {
    Steady,
    Segments,
}
