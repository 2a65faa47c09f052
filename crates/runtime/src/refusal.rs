//! Why an operation on a run is refused: the text, the code, and what the HTTP API and the command line make of it.

use reknit_engine::Decision;
use reknit_journal::{CreateError, LeaseError, RunReadError, SendError, StorageError};
use reknit_protocol::{EffectId, RunId, StepId, word_enum};

use crate::error::DriveError;

/// Why an operation on a run was not carried out. Every way to ask for the operation refuses it with the same text and code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    #[error("there is no run `{0}`")]
    NoSuchRun(RunId),
    /// No process would read what is sent to it.
    #[error("run `{run}` has ended ({status})")]
    Ended { run: RunId, status: String },
    #[error("run `{0}` is parked: this build cannot continue it")]
    Parked(RunId),
    /// It was never asked, or the run went on without a decision.
    #[error("run `{run}` does not ask `{question}`, or does not any more")]
    NotAsked { run: RunId, question: String },
    /// What is decided is not what the question shows by now.
    #[error("the question `{question}` of run `{run}` shows something else than what was decided; read it again")]
    QuestionChanged { run: RunId, question: EffectId },
    #[error("the time for a decision about `{step}` of run `{run}` is over, so the answer is no")]
    Expired { run: RunId, step: StepId },
    /// The first decision counts.
    #[error("the question `{question}` of run `{run}` is decided already: {}", .earlier.as_str())]
    AlreadyDecided { run: RunId, question: EffectId, earlier: Decision },
    /// The question has other answers.
    #[error("{0}")]
    WrongDecision(String),
    /// The call cannot be sent with the parameters that a person wrote.
    #[error("{0}")]
    InvalidEdit(String),
    /// A run cannot be started with these options.
    #[error("{0}")]
    InvalidStart(String),
    /// None of the models that may be asked takes an attachment.
    #[error("{0}")]
    UnreadableAttachment(String),
    /// It could not be carried out or looked at.
    #[error(transparent)]
    Failed(Box<DriveError>),
}

word_enum! {
    /// The words of refusals, for programs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RefusalCode {
        InvalidRequest = "invalid_request",
        NotFound = "not_found",
        Conflict = "conflict",
        BudgetExhausted = "budget_exhausted",
        RunEnded = "run_ended",
        RunUnfinished = "run_unfinished",
        RunDriven = "run_driven",
        NotRetriable = "not_retriable",
        NotASession = "not_a_session",
        MissingRequirements = "missing_requirements",
        RunParked = "run_parked",
        NotAsked = "not_asked",
        QuestionChanged = "question_changed",
        QuestionExpired = "question_expired",
        AlreadyDecided = "already_decided",
        WrongDecision = "wrong_decision",
        InvalidEdit = "invalid_edit",
        InternalError = "internal_error",
    }
}

impl Refusal {
    pub fn code(&self) -> RefusalCode {
        match self {
            Self::NoSuchRun(_) => RefusalCode::NotFound,
            Self::Ended { .. } => RefusalCode::RunEnded,
            Self::Parked(_) => RefusalCode::RunParked,
            Self::NotAsked { .. } => RefusalCode::NotAsked,
            Self::QuestionChanged { .. } => RefusalCode::QuestionChanged,
            Self::Expired { .. } => RefusalCode::QuestionExpired,
            Self::AlreadyDecided { .. } => RefusalCode::AlreadyDecided,
            Self::WrongDecision(_) => RefusalCode::WrongDecision,
            Self::InvalidEdit(_) => RefusalCode::InvalidEdit,
            Self::InvalidStart(_) | Self::UnreadableAttachment(_) => RefusalCode::InvalidRequest,
            Self::Failed(error) => RefusalCode::of(error),
        }
    }
}

impl RefusalCode {
    /// Why a driver did not drive a run, or not any further.
    pub fn of(error: &DriveError) -> Self {
        match error {
            DriveError::OtherRequest { .. }
            | DriveError::OtherOwner(_)
            | DriveError::Create(CreateError::Exists(_) | CreateError::Pruned(_)) => Self::Conflict,
            DriveError::Create(CreateError::OverBudget(_)) | DriveError::Lease(LeaseError::OverBudget(_)) => {
                Self::BudgetExhausted
            }
            DriveError::Read(RunReadError::NoSuchRun(_)) | DriveError::Lease(LeaseError::NoSuchRun(_)) => {
                Self::NotFound
            }
            DriveError::Lease(LeaseError::Held { .. }) => Self::RunDriven,
            DriveError::Lease(LeaseError::Ended { .. }) => Self::RunEnded,
            DriveError::Lease(LeaseError::NotEnded(_)) => Self::RunUnfinished,
            DriveError::NotRetriable { .. } => Self::NotRetriable,
            DriveError::NotASession(_) => Self::NotASession,
            DriveError::MissingRequirements { .. } | DriveError::OtherEngine { .. } => Self::MissingRequirements,
            DriveError::Restore(_) => Self::RunParked,
            _ => Self::InternalError,
        }
    }

    /// The status of the HTTP API.
    pub fn http_status(self) -> u16 {
        match self {
            Self::InvalidRequest | Self::WrongDecision | Self::InvalidEdit => 400,
            Self::BudgetExhausted => 402,
            Self::NotFound | Self::NotAsked => 404,
            Self::InternalError => 500,
            _ => 409,
        }
    }

    /// The exit status of the command line: 2 says that nothing was done, and typing something else helps.
    pub fn exit_status(self) -> u8 {
        match self {
            Self::InternalError | Self::RunDriven | Self::RunParked | Self::BudgetExhausted => 1,
            _ => 2,
        }
    }
}

impl From<DriveError> for Refusal {
    fn from(error: DriveError) -> Self {
        match error {
            DriveError::Read(error) => error.into(),
            error => Self::Failed(Box::new(error)),
        }
    }
}

impl From<RunReadError> for Refusal {
    fn from(error: RunReadError) -> Self {
        match error {
            RunReadError::NoSuchRun(run) => Self::NoSuchRun(run),
            RunReadError::Storage(error) => error.into(),
        }
    }
}

impl From<StorageError> for Refusal {
    fn from(error: StorageError) -> Self {
        Self::Failed(Box::new(error.into()))
    }
}

impl From<SendError> for Refusal {
    fn from(error: SendError) -> Self {
        match error {
            SendError::NoSuchRun(run) => Self::NoSuchRun(run),
            SendError::Ended { run, status } => Self::Ended { run, status },
            SendError::Storage(error) => error.into(),
            error => Self::Failed(Box::new(DriveError::Task(error.to_string()))),
        }
    }
}
