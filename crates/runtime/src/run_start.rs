//! The start of a run or a session.

use reknit_engine::{EventKind, SessionStarted, Started, TraceParent};
use reknit_protocol::RunId;

/// The start of a run or a session, as a driver takes it.
#[derive(Debug, Clone, PartialEq)]
pub enum RunStart {
    /// A run.
    Run(Box<Started>),
    /// A session.
    Session(Box<SessionStarted>),
}

impl RunStart {
    /// The id of the run or session.
    pub fn run(&self) -> &RunId {
        match self {
            Self::Run(started) => &started.run,
            Self::Session(started) => &started.run,
        }
    }

    /// The title in lists of runs: the request of a run, the input of a session.
    pub fn title(&self) -> &str {
        match self {
            Self::Run(started) => &started.request,
            Self::Session(started) => &started.input,
        }
    }

    /// Sets the parent span, unless one is set.
    pub(crate) fn set_trace_parent(&mut self, parent: Option<TraceParent>) {
        let trace_parent = match self {
            Self::Run(started) => &mut started.trace_parent,
            Self::Session(started) => &mut started.trace_parent,
        };
        *trace_parent = trace_parent.or(parent);
    }

    pub(crate) fn into_event(self) -> EventKind {
        match self {
            Self::Run(started) => EventKind::Started(started),
            Self::Session(started) => EventKind::SessionStarted(started),
        }
    }
}

impl From<Started> for RunStart {
    fn from(started: Started) -> Self {
        Self::Run(Box::new(started))
    }
}

impl From<SessionStarted> for RunStart {
    fn from(started: SessionStarted) -> Self {
        Self::Session(Box::new(started))
    }
}
