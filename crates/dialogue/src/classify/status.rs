//! What an HTTP status says.

use crate::ErrorClass;

/// How much a status says.
pub(super) enum Verdict {
    /// This, whatever else is said.
    Clear(ErrorClass),
    /// This, unless the type of error knows better. The text does not.
    UnlessKind(ErrorClass),
    /// Nothing by itself.
    Unclear,
}

/// What this status says about a failed attempt.
pub(super) fn verdict(status: u16) -> Verdict {
    use ErrorClass as Class;
    match status {
        // Redirects are not followed: something else answers at this address.
        300..400 => Verdict::Clear(Class::InvalidResponse),
        401 | 403 => Verdict::Clear(Class::AuthError),
        402 => Verdict::Clear(Class::QuotaExceeded),
        404 => Verdict::Clear(Class::ModelError),
        // 504, 522 and 524: a gateway has waited for the model in vain.
        408 | 504 | 522 | 524 => Verdict::Clear(Class::Timeout),
        413 => Verdict::Clear(Class::ContextLength),
        // An empty account comes as 429 too, told apart by the type. Not by the text: "quota" in it often means the
        // requests of this minute.
        429 => Verdict::UnlessKind(Class::RateLimit),
        // 498 and 529: no capacity just now.
        498 | 529 => Verdict::Clear(Class::RateLimit),
        // 409 and 425: in the way of another request, or too early. The same again may well succeed.
        409 | 425 | 500.. => Verdict::UnlessKind(Class::NetworkError),
        // Below 300 the failure is not in the status; other refusals have many reasons.
        0..300 | 400..500 => Verdict::Unclear,
    }
}
