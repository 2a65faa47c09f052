//! One event of a response.

use reknit_protocol::{Object, Value};

/// Outcome of reading one event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EventOutcome {
    /// The event was read, and may have added to the answer.
    Progress,
    /// The mark after the last event.
    EndMark,
    /// The event is not readable, and was counted as skipped.
    Unreadable,
}

/// Result of reading one event.
pub(crate) type EventResult = Result<EventOutcome, ErrorBody>;

/// Body of a response or event that reports an error instead of an answer.
#[derive(Debug, PartialEq)]
pub(crate) struct ErrorBody(pub(crate) Value);

impl ErrorBody {
    /// An error that we found, in the form in which servers report theirs.
    pub(crate) fn of_message(message: &str) -> Self {
        let error = Object::from([("message", Value::from(message)), ("type", Value::from("server_error"))]);
        Self(Value::Object(Object::from([("error", Value::Object(error))])))
    }
}
