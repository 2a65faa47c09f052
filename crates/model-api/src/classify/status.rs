//! Classification by HTTP status.

use crate::ErrorClass;

/// How far an HTTP status decides the class.
pub(super) enum StatusVerdict {
    /// This class, whatever the type and the message say.
    Decided(ErrorClass),
    /// This class, unless the error type names another. The message does not count.
    UnlessKind(ErrorClass),
    /// Not at all.
    Undecided,
}

/// The verdict of the HTTP status of a failed attempt.
pub(super) fn verdict(status: u16) -> StatusVerdict {
    use ErrorClass as Class;
    match status {
        // Redirects are not followed, so the address is not that of the API.
        300..400 => StatusVerdict::Decided(Class::InvalidResponse),
        401 | 403 => StatusVerdict::Decided(Class::AuthError),
        402 => StatusVerdict::Decided(Class::QuotaExceeded),
        404 => StatusVerdict::Decided(Class::ModelError),
        // 504, 522 and 524: a gateway timed out waiting for the model.
        408 | 504 | 522 | 524 => StatusVerdict::Decided(Class::Timeout),
        413 => StatusVerdict::Decided(Class::ContextLength),
        // An exceeded quota may be a 429 too, with its own error type. The message does not tell: "quota" in it often means
        // the requests of this minute.
        429 => StatusVerdict::UnlessKind(Class::RateLimit),
        // 498 and 529: the provider is out of capacity.
        498 | 529 => StatusVerdict::Decided(Class::RateLimit),
        // 409 and 425: a conflict with another request, or sent too early. A retry may succeed.
        409 | 425 | 500.. => StatusVerdict::UnlessKind(Class::NetworkError),
        // Below 300 the failure is in the body; other 4xx have many causes.
        0..300 | 400..500 => StatusVerdict::Undecided,
    }
}
