//! What a driver can begin.

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
