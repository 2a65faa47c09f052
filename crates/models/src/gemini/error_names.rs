//! Error names of this provider.

use reknit_model_api::ErrorClass;
use reknit_protocol::{RetryAfter, Value};

use crate::json::{list, text};

/// Statuses, and the more specific reasons in their details. `INVALID_ARGUMENT` is generic and left out.
pub(crate) const ERROR_CLASSES: &[(&str, ErrorClass)] = &[
    ("aborted", ErrorClass::NetworkError),
    ("api_key_invalid", ErrorClass::AuthError),
    ("api_key_service_blocked", ErrorClass::AuthError),
    ("cancelled", ErrorClass::NetworkError),
    ("deadline_exceeded", ErrorClass::Timeout),
    // The account has no billing, or the country is not supported.
    ("failed_precondition", ErrorClass::AuthError),
    ("internal", ErrorClass::NetworkError),
    ("not_found", ErrorClass::ModelError),
    ("permission_denied", ErrorClass::AuthError),
    (DAILY_QUOTA, ErrorClass::QuotaExceeded),
    ("resource_exhausted", ErrorClass::RateLimit),
    ("service_disabled", ErrorClass::AuthError),
    ("unauthenticated", ErrorClass::AuthError),
    ("unavailable", ErrorClass::NetworkError),
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
    let known = |reason: &str| ERROR_CLASSES.iter().any(|(name, _)| name.eq_ignore_ascii_case(reason));
    reasons.find(|reason| known(reason)).map(str::to_owned)
}

/// The longest retry delay in the details.
pub(crate) fn retry_after(body: &Value, now_ms: u64) -> Option<RetryAfter> {
    let details = list(body, &["error", "details"]).iter();
    let delays = details.filter_map(|detail| text(detail, &["retryDelay"]));
    RetryAfter::longest(delays.filter_map(|delay| RetryAfter::from_text(delay, "RetryInfo", now_ms)))
}
