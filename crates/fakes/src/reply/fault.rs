//! Faults of a connection and of a body.

use std::time::Duration;

use serde::Deserialize;

/// What goes wrong with the connection. Events are the chunks that the server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ConnectionFault {
    Reset,
    /// The request is never answered.
    Silence,
    /// The connection is closed after this many bytes of the body.
    CutAfter(usize),
    CutAfterEvents(usize),
    /// The connection stays open, and the rest of the body never comes.
    StallAfter(usize),
    StallAfterEvents(usize),
}

/// What goes wrong with the body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BodyFaults {
    /// The wait between the head and the body.
    pub(crate) first_token_after: Option<Duration>,
    /// The wait between two events.
    pub(crate) event_interval: Option<Duration>,
    /// The number, from 1, of an inserted event that is not valid JSON.
    pub(crate) malformed_event: Option<usize>,
    pub(crate) ending: Ending,
    pub(crate) content_type: Option<String>,
    /// How many blanks follow the body.
    pub(crate) padding: Option<usize>,
}

/// Whether a stream ends with its terminator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Ending {
    #[default]
    Terminated,
    /// The last event is left out.
    Unterminated,
}
