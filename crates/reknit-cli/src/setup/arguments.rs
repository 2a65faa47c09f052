//! The arguments that several commands share.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use reknit_engine::Metadata;
use reknit_model_api::Attachment;
use reknit_protocol::RunId;
use reknit_runtime::operations::StartOptions;

use crate::output::{Failure, ResultFormat};

#[derive(Debug, Clone, Args)]
pub(crate) struct FileArguments {
    /// The journal file [default: reknit/journal.db in your data folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) journal: Option<PathBuf>,
    /// The configuration file [default: reknit.toml in the current folder]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SetupArguments {
    #[command(flatten)]
    pub(crate) files: FileArguments,
    /// A tool, in addition to those in the configuration
    #[arg(long = "tool", id = "tool", value_name = "NAME=URL")]
    pub(crate) tools: Vec<String>,
    #[command(flatten)]
    pub(crate) model: ModelArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ModelArguments {
    #[arg(long = "model-url", value_name = "URL", value_hint = ValueHint::Url)]
    #[arg(help = "The base URL of an OpenAI-compatible server, used instead of the configured models")]
    pub(crate) url: Option<String>,
    /// The name of the model on that server
    #[arg(long = "model", value_name = "NAME", requires = "url", default_value = "default")]
    pub(crate) name: String,
    /// The environment variable that holds its API key
    #[arg(long = "model-key-env", value_name = "VARIABLE", requires = "url")]
    pub(crate) key_env: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct MetadataArguments {
    /// Metadata of the request, such as `tenant=acme`: stored with the run, and part of its trace
    #[arg(long = "meta", value_name = "KEY=VALUE")]
    pub(crate) meta: Vec<String>,
}

impl MetadataArguments {
    pub(crate) fn parse(&self) -> Result<Metadata, Failure> {
        Metadata::from_texts(&self.meta)
            .map_err(|error| Failure::usage(error.to_string(), "write `--meta tenant=acme --meta user=ann`"))
    }
}

#[derive(Debug, Args)]
pub(crate) struct AttachArguments {
    /// An image, a document or sound that the model is to look at; may be repeated
    #[arg(long = "attach", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RunIdArgument {
    /// The id of the run, so that the same command does nothing twice: if there is a run with this id and the same request, it is
    /// continued or its outcome is printed again
    #[arg(long = "run-id", value_name = "ID", value_parser = RunId::parse)]
    pub(crate) run_id: Option<RunId>,
}

impl RunIdArgument {
    /// What is chosen about a start. `--answer` and `--ask` are settings, which the configuration has by then.
    pub(crate) fn options(&self, metadata: Metadata, attachments: Vec<Attachment>) -> StartOptions {
        StartOptions { id: self.run_id.clone(), metadata, attachments, ..StartOptions::default() }
    }
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OutputArguments {
    /// Print only the answer, warnings and errors: no progress, no notes, no summary
    #[arg(long)]
    pub(crate) quiet: bool,
    /// Print every event as a line of JSON on standard output while it happens; the last line is the answer
    #[arg(long = "events", id = "live_events", conflicts_with = "json")]
    pub(crate) events: bool,
}

impl OutputArguments {
    pub(crate) fn format(&self, json: bool) -> ResultFormat {
        match (self.events, json) {
            (true, _) => ResultFormat::Event,
            (false, true) => ResultFormat::Json,
            (false, false) => ResultFormat::Text,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct DriveArguments {
    /// How the answer is written
    #[arg(long, value_name = "AUTHOR")]
    pub(crate) answer: Option<AnswerBy>,
    #[command(flatten)]
    pub(crate) approval: ApprovalArguments,
    /// Print the whole answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    /// The step whose result alone is printed, if results are printed as JSON.
    #[arg(skip)]
    pub(crate) only_step: Option<&'static str>,
}

impl DriveArguments {
    /// How a session is driven, whose report has no author to choose.
    pub(crate) fn of_session(approval: &ApprovalArguments, json: bool, output: &OutputArguments) -> Self {
        let (approval, output) = (approval.clone(), output.clone());
        Self { answer: None, approval, json, output, only_step: None }
    }

    pub(crate) fn format(&self) -> ResultFormat {
        self.output.format(self.json)
    }
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ApprovalArguments {
    /// Which calls you approve before they are sent
    #[arg(long, value_name = "CALLS")]
    pub(crate) ask: Option<AskWord>,
    /// Approve the calls that approval rules ask about; a call that may have taken effect is still not sent again
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AskWord {
    /// Those that match `[[approve]]` in the configuration
    Rules,
    /// All that do not only read
    All,
    /// The whole plan once, from a preview; then calls that it does not have, such as corrections
    Plan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnswerBy {
    /// A model writes it from the results
    Model,
    /// Code lists what was done, what was repaired and what is missing
    Template,
    /// The results as JSON
    Raw,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgument {
    /// The id of the run, its short form in `runs list`, or `last`
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
}
