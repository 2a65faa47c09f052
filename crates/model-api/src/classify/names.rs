//! Classification by error names and by phrases in messages.

use crate::ErrorClass;

/// Error codes and types by their class, in snake case and separated by spaces.
pub type ErrorNames = &'static [(ErrorClass, &'static str)];

/// Common error codes and types. Generic ones (`invalid_request_error`, `bad_request`, `invalid_argument`) are left
/// out on purpose, because they decide nothing.
const NAMES: ErrorNames = &[
    (
        ErrorClass::AuthError,
        "access_denied account_deactivated auth_error authentication_error forbidden invalid_api_key \
         invalid_authentication permission_denied permission_error unauthenticated unauthorized \
         unsupported_country_region_territory",
    ),
    (
        ErrorClass::QuotaExceeded,
        "billing_error billing_hard_limit_reached billing_not_active insufficient_balance insufficient_credits \
         insufficient_quota payment_required quota_exceeded",
    ),
    (
        ErrorClass::RateLimit,
        "overloaded overloaded_error rate_limit rate_limit_error rate_limit_exceeded rate_limited \
         resource_exhausted slow_down too_many_requests",
    ),
    (
        ErrorClass::ContextLength,
        "context_length_exceeded context_window_exceeded exceed_context_size_error max_tokens_exceeded \
         request_too_large string_above_max_length",
    ),
    (
        ErrorClass::ContentFilter,
        "content_filter content_policy_violation data_inspection_failed moderation_blocked \
         responsible_ai_policy_violation safety_error",
    ),
    (
        ErrorClass::ModelError,
        "invalid_model model_not_available model_not_found not_found not_found_error unsupported_model \
         unsupported_parameter unsupported_value",
    ),
    (ErrorClass::Timeout, "deadline_exceeded etimedout request_timeout timed_out timeout timeout_error"),
    (
        ErrorClass::NetworkError,
        "api_error econnrefused econnreset internal internal_error internal_server_error server_error \
         service_unavailable unavailable unavailable_error",
    ),
];

/// Phrases at the start of a message. Only these decide for a fatal class.
const OPENINGS: &[(ErrorClass, &[&str])] = &[
    (
        ErrorClass::AuthError,
        &[
            "api key is invalid",
            "api key not valid",
            "authentication failed",
            "authentication required",
            "incorrect api key",
            "invalid api key",
            "invalid authentication",
            "invalid x api key",
            "missing api key",
            "no api key",
            "unauthorized",
        ],
    ),
    (
        ErrorClass::QuotaExceeded,
        &[
            "insufficient balance",
            "insufficient credits",
            "insufficient quota",
            "you exceeded your current quota",
            "your credit balance is too low",
        ],
    ),
    (ErrorClass::RateLimit, &["overloaded", "rate limit", "rate limited", "too many requests"]),
    (ErrorClass::Timeout, &["deadline exceeded", "request timed out", "timed out", "timeout"]),
];

const PHRASES: &[(ErrorClass, &[&str])] = &[
    (
        ErrorClass::ContextLength,
        &[
            "available context size",
            "context length exceeded",
            "context window",
            "exceeds the context",
            "input is too long",
            "maximum context length",
            "prompt is too long",
            "reduce the length of the messages",
        ],
    ),
    (
        ErrorClass::ContentFilter,
        &["content filter", "content management policy", "content policy", "flagged by our safety", "safety system"],
    ),
    (ErrorClass::RateLimit, &["rate limit exceeded", "rate limit reached"]),
];

/// The class of an error code or type, by the provider's own list first.
pub(super) fn by_name(name: &str, provider_names: &[(ErrorClass, &str)]) -> Option<ErrorClass> {
    let name = name.trim().to_lowercase().replace(['-', ' ', '.'], "_");
    let has_name = |(_, names): &&(ErrorClass, &str)| names.split(' ').any(|known| known == name);
    provider_names.iter().chain(NAMES).find(has_name).map(|(class, _)| *class)
}

pub(super) fn by_message(message: &str) -> Option<ErrorClass> {
    let text = normalize(message);
    let starts_with =
        |phrase: &&str| text.strip_prefix(*phrase).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let contains = |phrase: &&str| format!(" {text} ").contains(&format!(" {phrase} "));
    let find = |table: &[(ErrorClass, &[&str])], matches: &dyn Fn(&&str) -> bool| {
        table.iter().find(|(_, phrases)| phrases.iter().any(matches)).map(|(class, _)| *class)
    };
    find(OPENINGS, &starts_with).or_else(|| find(PHRASES, &contains))
}

/// Words before or after the name of a flag that a server needs.
const FLAG_WORDS: &[&str] = &["enable", "enabled", "need", "needs", "requires", "require", "start", "started", "with"];

/// Whether a server says that it was started without a flag that the request needs, or that it takes no such input. It will
/// say so again.
pub(super) fn misses_feature(message: &str) -> bool {
    let text = normalize(message);
    let names_flag = message.split(|letter: char| letter.is_whitespace() || "`'\"(".contains(letter)).any(|word| {
        word.strip_prefix("--").is_some_and(|flag| flag.starts_with(|letter: char| letter.is_ascii_lowercase()))
    });
    let asks_for_it = text.split(' ').any(|word| FLAG_WORDS.contains(&word));
    (names_flag && asks_for_it) || text.contains("input is not supported")
}

/// Lower case, one space between words, no punctuation: `Rate-limit: exceeded!` becomes `rate limit exceeded`.
fn normalize(message: &str) -> String {
    let words =
        message.split(|letter: char| !letter.is_alphanumeric() && letter != '\'').filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}
