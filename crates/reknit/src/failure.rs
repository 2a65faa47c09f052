//! Why the command ends early.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use reknit_journal::{OpenError, SendError};
use reknit_protocol::ParseError;
use reknit_runtime::DriveError;
use reknit_runtime::config::ConfigError;
use reknit_salvage::{Place, ReadError, SchemaError};

use crate::excerpt::Excerpt;
use crate::input::Input;

/// Why the command ends early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("cannot read {input}")]
    Input { input: Input, source: io::Error },
    #[error("{input} has more than {} MiB, the most that is read at once", .limit >> 20)]
    TooLong { input: Input, limit: usize },
    #[error("{input} is not UTF-8 text")]
    NotText { input: Input, source: NotText },
    #[error("{}", headline(.input, .source))]
    Read { input: Input, excerpt: Option<Excerpt>, source: Box<ReadError> },
    #[error("cannot use `{}` as a schema", .path.display())]
    Schema { path: PathBuf, excerpt: Option<Excerpt>, source: Box<BadSchema> },
    #[error("{input} is not JSON")]
    Document { input: Input, excerpt: Excerpt, source: Box<ParseError> },
    #[error("{what}")]
    Expression {
        what: &'static str,
        excerpt: Option<Excerpt>,
        hint: Option<String>,
        source: Box<dyn Error + Send + Sync>,
    },
    #[error("cannot write the answer")]
    Write(#[source] io::Error),
    #[error("cannot use the configuration")]
    Config(#[source] Box<ConfigError>),
    #[error("{what}")]
    Usage { what: String, hint: Option<String> },
    #[error("the plan cannot run")]
    Plan { problems: Vec<String>, hint: Option<String> },
    #[error("there is something wrong with the plan in {input}")]
    BadPlan { input: Input, problems: Vec<String>, hint: String },
    #[error("cannot use `{}` as an agent", .path.display())]
    Agent { path: PathBuf, problems: Vec<String> },
    #[error("cannot open the journal")]
    Open(#[source] Box<OpenError>),
    #[error("cannot read the journal")]
    Journal(#[source] Box<dyn Error + Send + Sync>),
    #[error("the run cannot be told")]
    Send(#[source] Box<SendError>),
    #[error("the run cannot be driven on")]
    Drive(#[source] Box<DriveError>),
    #[error("cannot start {what}")]
    Start { what: &'static str, source: Box<dyn Error + Send + Sync> },
}

impl From<DriveError> for Failure {
    fn from(error: DriveError) -> Self {
        Self::Drive(Box::new(error))
    }
}

impl From<SendError> for Failure {
    fn from(error: SendError) -> Self {
        Self::Send(Box::new(error))
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Config(Box::new(error))
    }
}

/// Where bytes stop being UTF-8.
#[derive(Debug, thiserror::Error)]
#[error("the byte 0x{byte:02x} at {place} (offset {}) is not part of a character", .place.offset)]
pub(crate) struct NotText {
    pub(crate) byte: u8,
    pub(crate) place: Place,
}

impl NotText {
    /// Finds the place; `bytes` are known not to be UTF-8.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let good = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        Self { byte: bytes.get(good.len()).copied().unwrap_or_default(), place: Place::of(good, good.len()) }
    }
}

/// Why a file is no schema.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadSchema {
    #[error("it has more than {} MiB", .limit >> 20)]
    TooLong { limit: usize },
    #[error("it is not UTF-8 text: {0}")]
    NotText(NotText),
    #[error("it is not JSON: {0}")]
    NotJson(ParseError),
    #[error(transparent)]
    NotASchema(SchemaError),
}

impl Failure {
    /// What is wrong with the text is 1, everything else 2.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::NotText { .. }
            | Self::TooLong { .. }
            | Self::Read { .. }
            | Self::Document { .. }
            | Self::Expression { .. }
            | Self::Plan { .. }
            | Self::BadPlan { .. }
            | Self::Open(_)
            | Self::Journal(_)
            | Self::Send(_)
            | Self::Drive(_)
            | Self::Start { .. } => ExitCode::from(1),
            Self::Input { .. }
            | Self::Agent { .. }
            | Self::Schema { .. }
            | Self::Write(_)
            | Self::Config(_)
            | Self::Usage { .. } => ExitCode::from(2),
        }
    }

    /// Whether the answer has nobody left to read it.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

fn headline(input: &Input, error: &ReadError) -> String {
    match error {
        ReadError::Misfit(_) => format!("the value in {input} does not fit the schema"),
        ReadError::Ambiguous { .. } => format!("{input} can be read in two ways"),
        ReadError::Empty { .. }
        | ReadError::Unreadable { .. }
        | ReadError::TooDeep { .. }
        | ReadError::TooLarge { .. } => format!("cannot read {input}"),
    }
}
