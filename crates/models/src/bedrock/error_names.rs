//! Error names of this provider.

use reknit_model_api::ErrorClass;

/// Exceptions, in lower case. `ValidationException` is generic and left out.
pub(crate) const ERROR_CLASSES: &[(&str, ErrorClass)] = &[
    ("accessdeniedexception", ErrorClass::AuthError),
    ("internalserverexception", ErrorClass::NetworkError),
    ("invalidframe", ErrorClass::NetworkError),
    ("modelerrorexception", ErrorClass::NetworkError),
    ("modelnotreadyexception", ErrorClass::RateLimit),
    ("modelstreamerrorexception", ErrorClass::NetworkError),
    ("modeltimeoutexception", ErrorClass::Timeout),
    ("resourcenotfoundexception", ErrorClass::ModelError),
    ("servicequotaexceededexception", ErrorClass::QuotaExceeded),
    ("serviceunavailableexception", ErrorClass::NetworkError),
    ("throttlingexception", ErrorClass::RateLimit),
];
