//! What this provider's errors mean, where that is not the same everywhere.

use reknit_dialogue::ErrorClass;

/// Codes and types that only this provider and its followers have; the usual ones are known to everybody.
pub(crate) const CLASSES: &[(&str, ErrorClass)] = &[
    ("account_terminated", ErrorClass::AuthError),
    ("capacity_exceeded", ErrorClass::RateLimit),
    ("cyber_policy", ErrorClass::ContentFilter),
    ("engine_overloaded", ErrorClass::RateLimit),
    ("invalid_prompt", ErrorClass::ContentFilter),
    ("invalid_organization", ErrorClass::AuthError),
    ("mismatched_project", ErrorClass::AuthError),
    ("server_is_overloaded", ErrorClass::RateLimit),
    ("token_quota_exceeded", ErrorClass::QuotaExceeded),
];
