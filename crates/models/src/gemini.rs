//! Wire format of Google's `generateContent`. No I/O.

mod family;
mod parts;
mod request;
mod response;

use reknit_model_api::{ErrorClass, ErrorNames};
use reknit_protocol::Value;

use crate::json::{list, text};
pub(crate) use family::reasons_silently;
pub(crate) use parts::Parts;
pub(crate) use request::{path, render};
pub(crate) use response::{blocked, read};

/// Format of the provider state that must be sent back with a call.
const STATE_FORMAT: &str = "gemini";

/// Statuses, and the more specific reasons in their details. `INVALID_ARGUMENT` is generic and left out.
pub(crate) const ERROR_CLASSES: ErrorNames = &[
    (ErrorClass::NetworkError, "aborted cancelled internal unavailable"),
    // A failed precondition: the account has no billing, or the country is not supported.
    (
        ErrorClass::AuthError,
        "api_key_invalid api_key_service_blocked failed_precondition permission_denied service_disabled \
         unauthenticated",
    ),
    (ErrorClass::Timeout, "deadline_exceeded"),
    (ErrorClass::ModelError, "not_found"),
    (ErrorClass::QuotaExceeded, "daily_quota"),
    (ErrorClass::RateLimit, "resource_exhausted"),
];

/// Our name for a daily quota. No run waits until the next day.
const DAILY_QUOTA: &str = "daily_quota";

/// A more specific code than the status: a known reason, or the daily quota.
pub(crate) fn specific_code(body: &Value) -> Option<String> {
    let details = list(body, &["error", "details"]);
    let violations = details.iter().flat_map(|detail| list(detail, &["violations"]));
    if violations.filter_map(|violation| text(violation, &["quotaId"])).any(|quota| quota.contains("PerDay")) {
        return Some(DAILY_QUOTA.to_owned());
    }
    let mut reasons = details.iter().filter_map(|detail| text(detail, &["reason"]));
    let names = ERROR_CLASSES.iter().flat_map(|(_, names)| names.split(' '));
    let known = |reason: &str| names.clone().any(|name| name.eq_ignore_ascii_case(reason));
    reasons.find(|reason| known(reason)).map(str::to_owned)
}
