//! Error names of this provider.

use reknit_model_api::ErrorClass;

/// Error types. `invalid_request_error` is generic and left out.
pub(crate) const ERROR_CLASSES: &[(&str, ErrorClass)] = &[
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
