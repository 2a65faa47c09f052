//! The errors that end a command.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use reknit_journal::OpenError;
use reknit_protocol::{ParseError, RunId};
use reknit_runtime::config::ConfigError;
use reknit_runtime::{DriveError, Refusal, RefusalCode};
use reknit_salvage::{ReadTextError, SchemaError, TextPosition};

use crate::output::{Excerpt, Input};

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("cannot read {input}")]
    Input { input: Input, source: io::Error },
    #[error("{input} is larger than {} MiB, the limit for one input", .limit >> 20)]
    TooLong { input: Input, limit: usize },
    #[error("{input} is not UTF-8 text")]
    NotUtf8 { input: Input, source: NotUtf8 },
    #[error("{}", headline(.input, .source))]
    Read { input: Input, excerpt: Option<Excerpt>, source: Box<ReadTextError> },
    #[error("there is no JSON in {input}, only text")]
    NoJson { input: Input },
    #[error("cannot use `{}` as a schema", .path.display())]
    Schema { path: PathBuf, excerpt: Option<Excerpt>, source: Box<BadSchema> },
    #[error("{input} is not JSON")]
    Document { input: Input, excerpt: Excerpt, source: Box<ParseError> },
    #[error("{message}")]
    Expression {
        message: &'static str,
        excerpt: Option<Excerpt>,
        hint: Option<String>,
        source: Box<dyn Error + Send + Sync>,
    },
    #[error("cannot write the output")]
    Write(#[source] io::Error),
    #[error("cannot use the configuration")]
    Config(#[source] Box<ConfigError>),
    #[error("{message}")]
    Usage { message: String, hint: Option<String> },
    #[error("cannot run the plan")]
    Plan { problems: Vec<String>, hint: Option<String> },
    #[error("the plan in {input} is not valid")]
    BadPlan { input: Input, problems: Vec<String>, hint: String },
    #[error("cannot use `{}` as an agent", .path.display())]
    Agent { path: PathBuf, problems: Vec<String> },
    #[error("cannot open the journal")]
    Open(#[source] Box<OpenError>),
    #[error("cannot read the journal")]
    Journal(#[source] Box<dyn Error + Send + Sync>),
    #[error(transparent)]
    Refused(Box<Refusal>),
    #[error("cannot continue the run")]
    Drive(#[source] Box<DriveError>),
    #[error("run `{run}` is parked: this build cannot continue it")]
    Parked { run: RunId, source: Box<DriveError> },
    #[error("interrupted")]
    Interrupted,
    #[error("cannot start {what}")]
    Start { what: &'static str, source: Box<dyn Error + Send + Sync> },
    #[error("cannot stop {what}")]
    Stop { what: &'static str, source: Box<dyn Error + Send + Sync> },
}

impl From<DriveError> for Failure {
    fn from(error: DriveError) -> Self {
        Refusal::from(error).into()
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Failed(error) if RefusalCode::of(&error) == RefusalCode::InternalError => Self::Drive(error),
            refusal => Self::Refused(Box::new(refusal)),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Config(Box::new(error))
    }
}

/// The first byte that is not UTF-8.
#[derive(Debug, thiserror::Error)]
#[error("invalid byte 0x{byte:02x} at {position} (offset {})", .position.offset)]
pub(crate) struct NotUtf8 {
    pub(crate) byte: u8,
    pub(crate) position: TextPosition,
}

impl NotUtf8 {
    /// Finds the byte. `bytes` must not be valid UTF-8.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let valid = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        Self {
            byte: bytes.get(valid.len()).copied().unwrap_or_default(),
            position: TextPosition::at_offset(valid, valid.len()),
        }
    }
}

/// Why a file is not a usable schema.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadSchema {
    #[error("the file is larger than {} MiB", .limit >> 20)]
    TooLong { limit: usize },
    #[error("the file is not UTF-8 text: {0}")]
    NotUtf8(NotUtf8),
    #[error("the file is not JSON: {0}")]
    NotJson(ParseError),
    #[error(transparent)]
    NotASchema(SchemaError),
}

impl Failure {
    /// Bad usage, with a hint what to type instead.
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: Some(hint.into()) }
    }

    /// Bad usage that needs no hint, because the message says what to do.
    pub(crate) fn message(message: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: None }
    }

    /// `map_err(Failure::cannot_write(path))`.
    pub(crate) fn cannot_write(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::message(format!("cannot write `{}`: {source}", path.display()))
    }

    /// `map_err(Failure::start("the demo"))`.
    pub(crate) fn start<E: Error + Send + Sync + 'static>(what: &'static str) -> impl Fn(E) -> Self {
        move |source| Self::Start { what, source: Box::new(source) }
    }

    /// The journal cannot be read.
    pub(crate) fn journal(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Journal(Box::new(error))
    }

    /// 2 if nothing was done, 130 after a signal, 1 for everything else: docs/exit-status.md.
    pub(crate) fn exit_status(&self) -> u8 {
        match self {
            Self::Input { .. }
            | Self::Agent { .. }
            | Self::Plan { .. }
            | Self::Open(_)
            | Self::Schema { .. }
            | Self::Write(_)
            | Self::Config(_)
            | Self::Usage { .. } => 2,
            Self::Refused(refusal) => refusal.code().exit_status(),
            Self::Interrupted => 130,
            _ => 1,
        }
    }

    /// Whether the reader of the output closed it, as `head` does.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

fn headline(input: &Input, error: &ReadTextError) -> String {
    match error {
        ReadTextError::DoesNotFit(_) => format!("the value in {input} does not fit the schema"),
        ReadTextError::Ambiguous { .. } => format!("{input} can be read in two ways"),
        _ => format!("cannot read {input}"),
    }
}
