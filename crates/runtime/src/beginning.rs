//! What a driver can begin.

use reknit_engine::telemetry::TraceParent;
use reknit_engine::{SessionStarted, Started, What};
use reknit_protocol::RunId;

/// How something begins that is driven.
#[derive(Debug, Clone, PartialEq)]
pub enum Beginning {
    /// A run.
    Run(Box<Started>),
    /// A session.
    Session(Box<SessionStarted>),
}

impl Beginning {
    /// Its name.
    pub fn run(&self) -> &RunId {
        match self {
            Self::Run(started) => &started.run,
            Self::Session(started) => &started.run,
        }
    }

    /// What a list of runs says about it.
    pub fn title(&self) -> &str {
        match self {
            Self::Run(started) => &started.request,
            Self::Session(started) => &started.input,
        }
    }

    /// Notes the span that it is a part of, unless it knows one.
    pub(crate) fn set_trace_parent(&mut self, parent: Option<TraceParent>) {
        let known = match self {
            Self::Run(started) => &mut started.trace_parent,
            Self::Session(started) => &mut started.trace_parent,
        };
        *known = known.or(parent);
    }

    pub(crate) fn into_event(self) -> What {
        match self {
            Self::Run(started) => What::Started(started),
            Self::Session(started) => What::SessionStarted(started),
        }
    }
}

impl From<Started> for Beginning {
    fn from(started: Started) -> Self {
        Self::Run(Box::new(started))
    }
}

impl From<SessionStarted> for Beginning {
    fn from(started: SessionStarted) -> Self {
        Self::Session(Box::new(started))
    }
}
