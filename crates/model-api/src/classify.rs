//! Classification of failures.

mod names;
mod status;

use serde::{Deserialize, Serialize};

use crate::ErrorClass;
use status::StatusVerdict;

/// What is known about a failed attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureEvidence {
    /// The error code in the body, such as `context_length_exceeded` or `429`.
    pub code: Option<String>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The error type in the body, such as `invalid_request_error`.
    pub kind: Option<String>,
    /// The provider's message.
    pub message: String,
}

/// The class of a failure: by its code, else by the HTTP status, else by the error type, else by the message.
///
/// Generic codes and types (`invalid_request_error`) and statuses (400, 422) decide nothing, and leave it to the next
/// source. A message counts only by whole phrases; for a fatal class it must begin with one, because error messages quote
/// user input. A server error that names a missing flag or an unsupported input is an [`ErrorClass::ModelError`], like
/// everything else.
///
/// ```
/// use reknit_model_api::{ErrorClass, FailureEvidence, classify};
///
/// let evidence = FailureEvidence { code: Some("insufficient_quota".into()), status: Some(429), ..FailureEvidence::default() };
/// assert_eq!(classify(&evidence), ErrorClass::QuotaExceeded);
/// ```
pub fn classify(evidence: &FailureEvidence) -> ErrorClass {
    classify_with_provider_names(evidence, &[])
}

/// Like [`classify`], with a provider's own codes and types, in snake case. They take precedence over the common ones.
pub fn classify_with_provider_names(evidence: &FailureEvidence, provider_names: &[(&str, ErrorClass)]) -> ErrorClass {
    let by_name = |name: &str| names::by_name(name, provider_names);
    let code = evidence.code.as_deref();
    if let Some(class) = code.and_then(by_name) {
        return class;
    }
    // Some providers send the HTTP status as the code, and in a stream that began with 200 only there.
    let status =
        code.and_then(|code| code.trim().parse().ok()).filter(|code| (300..600).contains(code)).or(evidence.status);
    if status.is_some_and(|status| status >= 500) && names::misses_feature(&evidence.message) {
        return ErrorClass::ModelError;
    }
    let kind = || evidence.kind.as_deref().and_then(by_name);
    match status.map(status::verdict) {
        Some(StatusVerdict::Decided(class)) => class,
        Some(StatusVerdict::UnlessKind(class)) => kind().unwrap_or(class),
        Some(StatusVerdict::Undecided) | None => {
            kind().or_else(|| names::by_message(&evidence.message)).unwrap_or(ErrorClass::ModelError)
        }
    }
}

#[cfg(test)]
mod tests;
