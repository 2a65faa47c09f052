//! Error names of this provider.

use reknit_model_api::ErrorClass;

/// Codes and types of this provider and of compatible servers, besides the common ones.
pub(crate) const ERROR_CLASSES: &[(&str, ErrorClass)] = &[
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
