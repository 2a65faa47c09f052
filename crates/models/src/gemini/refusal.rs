//! What this provider's errors mean, where that is not the same everywhere.

use reknit_dialogue::ErrorClass;
use reknit_protocol::{RetryAfter, Value};

use crate::json::{list, text};

/// Names of states and, more telling, the reasons in their details. `INVALID_ARGUMENT` stands for everything and decides
/// nothing.
pub(crate) const CLASSES: &[(&str, ErrorClass)] = &[
    ("aborted", ErrorClass::NetworkError),
    ("api_key_invalid", ErrorClass::AuthError),
    ("api_key_service_blocked", ErrorClass::AuthError),
    ("cancelled", ErrorClass::NetworkError),
    ("deadline_exceeded", ErrorClass::Timeout),
    // The account may not use the service as it is: no billing, or not from this country.
    ("failed_precondition", ErrorClass::AuthError),
    ("internal", ErrorClass::NetworkError),
    ("not_found", ErrorClass::ModelError),
    ("permission_denied", ErrorClass::AuthError),
    (DAILY, ErrorClass::QuotaExceeded),
    ("resource_exhausted", ErrorClass::RateLimit),
    ("service_disabled", ErrorClass::AuthError),
    ("unauthenticated", ErrorClass::AuthError),
    ("unavailable", ErrorClass::NetworkError),
];

/// Our word for a limit that comes back with the next day, which no run waits for.
const DAILY: &str = "quota_of_the_day";

/// A code that says more than the one that is sent: the reason, or that the day's share is used up.
pub(crate) fn code(body: &Value) -> Option<String> {
    let details = list(body, &["error", "details"]);
    let violations = details.iter().flat_map(|detail| list(detail, &["violations"]));
    if violations.filter_map(|violation| text(violation, &["quotaId"])).any(|quota| quota.contains("PerDay")) {
        return Some(DAILY.to_owned());
    }
    let mut reasons = details.iter().filter_map(|detail| text(detail, &["reason"]));
    let known = |reason: &str| CLASSES.iter().any(|(name, _)| name.eq_ignore_ascii_case(reason));
    reasons.find(|reason| known(reason)).map(str::to_owned)
}

/// The wait that the details ask for.
pub(crate) fn retry_after(body: &Value, now_ms: u64) -> Option<RetryAfter> {
    let details = list(body, &["error", "details"]).iter();
    let delays = details.filter_map(|detail| text(detail, &["retryDelay"]));
    RetryAfter::longest(delays.filter_map(|delay| RetryAfter::from_text(delay, "RetryInfo", now_ms)))
}
