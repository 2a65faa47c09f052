//! From what a provider has said to the class of its failure.

mod status;
mod words;

use serde::{Deserialize, Serialize};

use crate::ErrorClass;
use status::Verdict;

/// What is known about a failed attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The code in the body: `context_length_exceeded`, `429`.
    pub code: Option<String>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The type of error in the body: `invalid_request_error`.
    pub kind: Option<String>,
    /// What the provider says about it.
    pub message: String,
}

/// The class of a failure: by the code, else by the HTTP status, else by the type of error, else by the text.
///
/// A code or type that providers use for everything (`invalid_request_error`) decides nothing, and neither does a status
/// that only says that the request was refused (400, 422); then the next in line is heard. The text comes last and only
/// as whole phrases; for a class that ends a run it must begin with them, because errors quote what people wrote. What
/// nothing tells apart is a [`ErrorClass::ModelError`].
///
/// ```
/// use reknit_dialogue::{ErrorClass, Evidence, classify};
///
/// let evidence = Evidence { code: Some("insufficient_quota".into()), status: Some(429), ..Evidence::default() };
/// assert_eq!(classify(&evidence), ErrorClass::QuotaExceeded);
/// ```
pub fn classify(evidence: &Evidence) -> ErrorClass {
    classify_with(evidence, &[])
}

/// The same with names of codes and types that one provider has of its own, in lower case with `_` between words. They are
/// heard before those that everybody has.
pub fn classify_with(evidence: &Evidence, own: &[(&str, ErrorClass)]) -> ErrorClass {
    let by_name = |name: &str| words::by_name(name, own);
    let code = evidence.code.as_deref();
    if let Some(class) = code.and_then(by_name) {
        return class;
    }
    // Some providers repeat the HTTP status as the code, and some send it only there, in a stream that began with 200.
    let status =
        code.and_then(|code| code.trim().parse().ok()).filter(|code| (300..600).contains(code)).or(evidence.status);
    let kind = || evidence.kind.as_deref().and_then(by_name);
    match status.map(status::verdict) {
        Some(Verdict::Clear(class)) => class,
        Some(Verdict::UnlessKind(class)) => kind().unwrap_or(class),
        Some(Verdict::Unclear) | None => {
            kind().or_else(|| words::by_text(&evidence.message)).unwrap_or(ErrorClass::ModelError)
        }
    }
}

#[cfg(test)]
mod tests;
