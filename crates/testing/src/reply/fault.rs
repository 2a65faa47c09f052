//! What goes wrong on the way.

use std::time::Duration;

/// How the connection fares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    Reset,
    Silence,
    Cut { after: Place },
    Stall { after: Place },
}

/// A place in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Bytes(usize),
    /// Pieces, as the server sends them: the events of a stream.
    Events(usize),
}

/// What is odd about the body itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Oddities {
    /// How long nothing comes behind the head.
    pub(crate) first_token_after: Option<Duration>,
    /// How long nothing comes between two events.
    pub(crate) event_every: Option<Duration>,
    /// Which event, from 1, is one that nobody can read, before all that come.
    pub(crate) malformed_event: Option<usize>,
    pub(crate) ending: Ending,
    pub(crate) content_type: Option<String>,
    /// How many bytes of nothing follow.
    pub(crate) giant: Option<usize>,
}

/// Whether a stream says that it is over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Ending {
    #[default]
    Terminated,
    /// Its last event does not come.
    Unterminated,
}
