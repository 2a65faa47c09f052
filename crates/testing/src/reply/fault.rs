//! Faults of a connection and of a body.

use std::time::Duration;

/// What goes wrong with the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionFault {
    None,
    Reset,
    /// The request is never answered.
    Silence,
    /// The connection is closed within the body.
    Cut {
        after: Position,
    },
    /// The connection stays open, and the rest of the body never comes.
    Stall {
        after: Position,
    },
}

/// A position in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    Bytes(usize),
    /// The chunks that the server sends: the events of a stream.
    Events(usize),
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
