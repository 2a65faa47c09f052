//! Errors of the API.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use reknit::RunError;
use reknit_journal::{CreateError, LeaseError, OverBudget, RunReadError, StorageError};
use reknit_model_api::Money;
use reknit_protocol::RunId;
use reknit_runtime::{DriveError, Refusal, RefusalCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The body of every response that is not a success.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ErrorBody {
    pub(crate) error: ErrorDetails,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ErrorDetails {
    /// A word for programs.
    #[schema(example = "not_found")]
    pub(crate) code: String,
    /// What is wrong, and what to do about it.
    pub(crate) message: String,
    /// Independent problems, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) problems: Vec<String>,
}

/// Why a request has no result.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) problems: Vec<String>,
    retry_after_s: Option<u32>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), problems: Vec::new(), retry_after_s: None }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    pub(crate) fn with_problems(self, problems: Vec<String>) -> Self {
        Self { problems, ..self }
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub(crate) fn no_such_run(run: &RunId) -> Self {
        Self::not_found(format!("there is no run `{run}`"))
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", message)
    }

    pub(crate) fn busy(message: impl Into<String>) -> Self {
        let error = Self::new(StatusCode::TOO_MANY_REQUESTS, "busy", message);
        Self { retry_after_s: Some(1), ..error }
    }

    fn over_budget(error: &OverBudget) -> Self {
        let left = Money::from_nanos(error.left);
        let message = format!("{error}: {left} of {} is left", Money::from_nanos(error.limit));
        Self::new(StatusCode::PAYMENT_REQUIRED, "budget_exhausted", message)
    }

    pub(crate) fn with_retry_after(self, seconds: u32) -> Self {
        Self { retry_after_s: Some(seconds), ..self }
    }

    pub(crate) fn retry_after_ms(&self) -> Option<u64> {
        self.retry_after_s.map(|seconds| u64::from(seconds).saturating_mul(1_000))
    }

    fn refused(code: RefusalCode, message: String) -> Self {
        // The codes have statuses of HTTP.
        let status = StatusCode::from_u16(code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self::new(status, code.as_str(), message)
    }

    /// A value cannot be written as JSON.
    #[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
    pub(crate) fn unwritable(error: serde_json::Error) -> Self {
        Self::internal(&error)
    }

    fn internal(error: &dyn std::error::Error) -> Self {
        // The log has the causes, too. They may name files of this machine, which callers need not know.
        tracing::error!("a request failed: {}", with_causes(error));
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", error.to_string())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let details = ErrorDetails { code: self.code.to_owned(), message: self.message, problems: self.problems };
        let mut response = (self.status, Json(ErrorBody { error: details })).into_response();
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        Self::internal(&error)
    }
}

impl From<RunReadError> for ApiError {
    fn from(error: RunReadError) -> Self {
        match error {
            RunReadError::NoSuchRun(run) => Self::no_such_run(&run),
            RunReadError::Storage(error) => Self::internal(&error),
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        match &refusal {
            Refusal::Failed(error) => Self::from(&**error),
            refusal => Self::refused(refusal.code(), refusal.to_string()),
        }
    }
}

impl From<&DriveError> for ApiError {
    fn from(error: &DriveError) -> Self {
        match error {
            DriveError::Create(CreateError::OverBudget(error)) | DriveError::Lease(LeaseError::OverBudget(error)) => {
                Self::over_budget(error)
            }
            error => match RefusalCode::of(error) {
                RefusalCode::InternalError => Self::internal(error),
                code => Self::refused(code, with_causes(error)),
            },
        }
    }
}

/// An error with its causes on one line, without a cause that its error repeats.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source()).map(ToString::to_string);
    causes.fold(error.to_string(), |text, cause| if text.ends_with(&cause) { text } else { format!("{text}: {cause}") })
}

impl From<DriveError> for ApiError {
    fn from(error: DriveError) -> Self {
        Self::from(&error)
    }
}

impl From<RunError> for ApiError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::NotDriven(error) => Self::from(&*error),
            error => Self::internal(&error),
        }
    }
}
