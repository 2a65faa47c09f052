//! The error codes that tools are advised to use, so that callers meet the same word for the same trouble.
//!
//! Codes are free text on the wire: a tool may have its own.

/// A place by that name is not known.
pub const LOCATION_NOT_FOUND: &str = "LOCATION_NOT_FOUND";
/// A ticker symbol by that name is not known.
pub const SYMBOL_NOT_FOUND: &str = "SYMBOL_NOT_FOUND";
/// Some other thing by that name is not known.
pub const RESOURCE_NOT_FOUND: &str = "RESOURCE_NOT_FOUND";

/// The request could not be read.
pub const INVALID_REQUEST: &str = "INVALID_REQUEST";
/// A field that must be there is not.
pub const MISSING_REQUIRED_FIELD: &str = "MISSING_REQUIRED_FIELD";
/// A field is there, in a form the tool cannot use.
pub const INVALID_FORMAT: &str = "INVALID_FORMAT";

/// The tool has no key for the service behind it.
pub const API_KEY_MISSING: &str = "API_KEY_MISSING";
/// The service behind the tool refused its key.
pub const API_KEY_INVALID: &str = "API_KEY_INVALID";
/// The caller may not do this.
pub const UNAUTHORIZED: &str = "UNAUTHORIZED";

/// Too many requests.
pub const RATE_LIMIT_EXCEEDED: &str = "RATE_LIMIT_EXCEEDED";
/// The service behind the tool is down.
pub const SERVICE_UNAVAILABLE: &str = "SERVICE_UNAVAILABLE";
/// The service behind the tool did not answer in time.
pub const REQUEST_TIMEOUT: &str = "REQUEST_TIMEOUT";
