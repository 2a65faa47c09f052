//! Recommended error codes, so that different tools report the same failure under the same code.
//!
//! A code is free text in JSON: a tool may define its own.

/// There is no place with this name.
pub const LOCATION_NOT_FOUND: &str = "LOCATION_NOT_FOUND";
/// There is no such ticker symbol.
pub const SYMBOL_NOT_FOUND: &str = "SYMBOL_NOT_FOUND";
/// There is no such resource of any other kind.
pub const RESOURCE_NOT_FOUND: &str = "RESOURCE_NOT_FOUND";

/// The request could not be parsed.
pub const INVALID_REQUEST: &str = "INVALID_REQUEST";
/// A required field is missing.
pub const MISSING_REQUIRED_FIELD: &str = "MISSING_REQUIRED_FIELD";
/// A field is present in a format that the tool does not accept.
pub const INVALID_FORMAT: &str = "INVALID_FORMAT";

/// The tool has no API key for its upstream service.
pub const API_KEY_MISSING: &str = "API_KEY_MISSING";
/// The upstream service rejected the API key of the tool.
pub const API_KEY_INVALID: &str = "API_KEY_INVALID";
/// The caller is not allowed to do this.
pub const UNAUTHORIZED: &str = "UNAUTHORIZED";

/// Too many requests.
pub const RATE_LIMIT_EXCEEDED: &str = "RATE_LIMIT_EXCEEDED";
/// The upstream service is down.
pub const SERVICE_UNAVAILABLE: &str = "SERVICE_UNAVAILABLE";
/// The upstream service did not answer in time.
pub const REQUEST_TIMEOUT: &str = "REQUEST_TIMEOUT";
