//! Wire format of `chat/completions`, which most servers support. No I/O.

mod family;
mod reasoning_details;
mod request;
mod response;
mod strict;
mod text_pattern;

use reknit_model_api::{ErrorClass, ErrorNames};

pub(crate) use family::{Reasoning, family};
pub(crate) use reasoning_details::ReasoningDetails;
pub(crate) use request::{render, tool_choice};
pub(crate) use response::read;
pub(crate) use strict::is_strict;
pub(crate) use text_pattern::TextPattern;

/// Codes and types of this provider and of compatible servers, besides the common ones.
pub(crate) const ERROR_CLASSES: ErrorNames = &[
    (ErrorClass::AuthError, "account_terminated invalid_organization mismatched_project"),
    (ErrorClass::RateLimit, "capacity_exceeded engine_overloaded server_is_overloaded"),
    (ErrorClass::ContentFilter, "cyber_policy invalid_prompt"),
    (ErrorClass::QuotaExceeded, "token_quota_exceeded"),
];
