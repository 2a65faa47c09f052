//! Recommended error codes, so that different tools report the same failure under the same code.
//!
//! A code is free text in JSON: a tool may define its own.

pub const LOCATION_NOT_FOUND: &str = "LOCATION_NOT_FOUND";
pub const SYMBOL_NOT_FOUND: &str = "SYMBOL_NOT_FOUND";
pub const RESOURCE_NOT_FOUND: &str = "RESOURCE_NOT_FOUND";

pub const INVALID_REQUEST: &str = "INVALID_REQUEST";
pub const MISSING_REQUIRED_FIELD: &str = "MISSING_REQUIRED_FIELD";
pub const INVALID_FORMAT: &str = "INVALID_FORMAT";

/// The tool has no API key for its upstream service.
pub const API_KEY_MISSING: &str = "API_KEY_MISSING";
pub const API_KEY_INVALID: &str = "API_KEY_INVALID";
pub const UNAUTHORIZED: &str = "UNAUTHORIZED";

pub const RATE_LIMIT_EXCEEDED: &str = "RATE_LIMIT_EXCEEDED";
pub const SERVICE_UNAVAILABLE: &str = "SERVICE_UNAVAILABLE";
pub const REQUEST_TIMEOUT: &str = "REQUEST_TIMEOUT";
