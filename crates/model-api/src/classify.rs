//! Classification of failures.

mod names;

use serde::{Deserialize, Serialize};

use crate::ErrorClass;
pub use names::ErrorNames;

/// What is known about a failed attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureEvidence {
    /// The error code in the body, such as `context_length_exceeded` or `429`.
    pub code: Option<String>,
    pub status: Option<u16>,
    /// The error type in the body, such as `invalid_request_error`.
    pub kind: Option<String>,
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

/// Like [`classify`], with a provider's own codes and types. They take precedence over the common ones.
pub fn classify_with_provider_names(evidence: &FailureEvidence, provider_names: &[(ErrorClass, &str)]) -> ErrorClass {
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
    match status.map(verdict) {
        Some(StatusVerdict::Decided(class)) => class,
        Some(StatusVerdict::UnlessKind(class)) => kind().unwrap_or(class),
        Some(StatusVerdict::Undecided) | None => {
            kind().or_else(|| names::by_message(&evidence.message)).unwrap_or(ErrorClass::ModelError)
        }
    }
}

enum StatusVerdict {
    /// This class, whatever the type and the message say.
    Decided(ErrorClass),
    /// This class, unless the error type names another. The message does not count.
    UnlessKind(ErrorClass),
    Undecided,
}

fn verdict(status: u16) -> StatusVerdict {
    use ErrorClass as Class;
    match status {
        // Redirects are not followed, so the address is not that of the API.
        300..400 => StatusVerdict::Decided(Class::InvalidResponse),
        401 | 403 => StatusVerdict::Decided(Class::AuthError),
        402 => StatusVerdict::Decided(Class::QuotaExceeded),
        404 => StatusVerdict::Decided(Class::ModelError),
        // 504, 522 and 524: a gateway timed out waiting for the model.
        408 | 504 | 522 | 524 => StatusVerdict::Decided(Class::Timeout),
        413 => StatusVerdict::Decided(Class::ContextLength),
        // An exceeded quota may be a 429 too, with its own error type. The message does not tell: "quota" in it often means
        // the requests of this minute.
        429 => StatusVerdict::UnlessKind(Class::RateLimit),
        // 498 and 529: the provider is out of capacity.
        498 | 529 => StatusVerdict::Decided(Class::RateLimit),
        // 409 and 425: a conflict with another request, or sent too early. A retry may succeed.
        409 | 425 | 500.. => StatusVerdict::UnlessKind(Class::NetworkError),
        // Below 300 the failure is in the body; other 4xx have many causes.
        0..300 | 400..500 => StatusVerdict::Undecided,
    }
}

#[cfg(test)]
mod tests;
