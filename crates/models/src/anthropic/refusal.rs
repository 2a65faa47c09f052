//! What this provider's errors mean, where that is not the same everywhere.

use reknit_dialogue::ErrorClass;

/// Types of errors. `invalid_request_error` stands for everything and decides nothing.
pub(crate) const CLASSES: &[(&str, ErrorClass)] = &[
    ("api_error", ErrorClass::NetworkError),
    ("authentication_error", ErrorClass::AuthError),
    ("billing_error", ErrorClass::QuotaExceeded),
    ("not_found_error", ErrorClass::ModelError),
    ("overloaded_error", ErrorClass::RateLimit),
    ("permission_error", ErrorClass::AuthError),
    ("rate_limit_error", ErrorClass::RateLimit),
    ("request_too_large", ErrorClass::ContextLength),
    ("timeout_error", ErrorClass::Timeout),
];
