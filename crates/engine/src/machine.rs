//! Either machine, for whoever drives and does not care which.

use reknit_protocol::RunId;

use crate::answer::{Answer, Status};
use crate::budget::Spent;
use crate::effect::Effect;
use crate::event::{Event, What};
use crate::policy::Policy;
use crate::run::{ApplyError, Run};
use crate::session::{Doubtful, Exit, Report, Session};
use crate::telemetry::TraceParent;

/// What stands before the snapshot of a session; that of a run has nothing before it.
const SESSION: &str = "session ";

/// A run or a session. Both take in events and say what is to be done.
#[derive(Debug, Clone)]
pub enum Machine {
    /// A run: from a request to an answer.
    Run(Box<Run>),
    /// A session: from a question to a report.
    Session(Box<Session>),
}

/// What a machine has come to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ending<'a> {
    /// The answer of a run.
    Answer(&'a Answer),
    /// The report of a session.
    Report(&'a Report),
}

impl Ending<'_> {
    /// How it ended, in the words of the journal.
    pub fn status(self) -> Status {
        match self {
            Self::Answer(answer) => answer.status,
            Self::Report(report) => match report.exit {
                Exit::SignalReceived => Status::Cancelled,
                _ if report.is_answer() => Status::Complete,
                Exit::BudgetExhausted | Exit::TimeLimit | Exit::TokenLimit => Status::BudgetExhausted,
                _ => Status::Failed,
            },
        }
    }
}

impl Machine {
    /// Begins with the first event, which says what it is.
    pub fn begin(event: &Event) -> Result<Self, ApplyError> {
        match &event.what {
            What::SessionStarted(_) => Session::begin(event).map(|session| Self::Session(Box::new(session))),
            _ => Run::begin(event).map(|run| Self::Run(Box::new(run))),
        }
    }

    /// The same without calls that must not be made: they may have happened before it began.
    pub(crate) fn begin_without(event: &Event, avoided: &[Doubtful]) -> Result<Self, ApplyError> {
        match &event.what {
            What::SessionStarted(_) => {
                let mut session = Session::begin(event)?;
                session.avoid(avoided);
                Ok(Self::Session(Box::new(session)))
            }
            _ => Run::begin_without(event, avoided).map(|run| Self::Run(Box::new(run))),
        }
    }

    /// Takes in what happened.
    pub fn apply(&mut self, event: &Event) -> Result<(), ApplyError> {
        match self {
            Self::Run(run) => run.apply(event),
            Self::Session(session) => session.apply(event),
        }
    }

    /// What is to be done now.
    pub fn pending(&self) -> Vec<Effect> {
        match self {
            Self::Run(run) => run.pending(),
            Self::Session(session) => session.pending(),
        }
    }

    /// The state as text, for a driver that works in segments.
    pub fn snapshot(&self) -> Result<String, ApplyError> {
        match self {
            Self::Run(run) => run.snapshot(),
            Self::Session(session) => Ok(format!("{SESSION}{}", session.snapshot()?)),
        }
    }

    /// The machine that [`Machine::snapshot`] wrote down.
    pub fn restore(text: &str) -> Result<Self, ApplyError> {
        match text.strip_prefix(SESSION) {
            Some(text) => Session::restore(text).map(|session| Self::Session(Box::new(session))),
            None => Run::restore(text).map(|run| Self::Run(Box::new(run))),
        }
    }

    /// Its name.
    pub fn id(&self) -> &RunId {
        match self {
            Self::Run(run) => &run.started().run,
            Self::Session(session) => &session.started().run,
        }
    }

    /// The span of somebody else that it is a part of.
    pub fn trace_parent(&self) -> Option<TraceParent> {
        match self {
            Self::Run(run) => run.started().trace_parent,
            Self::Session(session) => session.started().trace_parent,
        }
    }

    /// Its rules.
    pub fn policy(&self) -> &Policy {
        match self {
            Self::Run(run) => &run.started().policy,
            Self::Session(session) => &session.started().policy,
        }
    }

    /// How many events were taken in, the first included.
    pub fn event_count(&self) -> u64 {
        match self {
            Self::Run(run) => run.event_count(),
            Self::Session(session) => session.event_count(),
        }
    }

    /// When the last event happened, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        match self {
            Self::Run(run) => run.now_ms(),
            Self::Session(session) => session.now_ms(),
        }
    }

    /// What it has come to, once it has ended.
    pub fn ending(&self) -> Option<Ending<'_>> {
        match self {
            Self::Run(run) => run.answer().map(Ending::Answer),
            Self::Session(session) => session.report().map(Ending::Report),
        }
    }

    /// What it has spent so far.
    pub fn spent(&self) -> Spent {
        match self {
            Self::Run(run) => run.spent(),
            Self::Session(session) => session.spent(),
        }
    }

    /// Calls that failed and may have happened all the same.
    pub(crate) fn doubtful(&self) -> Vec<Doubtful> {
        match self {
            Self::Run(run) => run.doubtful(),
            Self::Session(session) => session.doubtful(),
        }
    }

    /// Whether nothing but a person's decision can take it on.
    pub fn is_waiting_for_person(&self) -> bool {
        match self {
            Self::Run(run) => run.is_waiting_for_person(),
            Self::Session(session) => session.is_waiting_for_person(),
        }
    }

    /// The run, if it is one.
    pub fn as_run(&self) -> Option<&Run> {
        match self {
            Self::Run(run) => Some(run),
            Self::Session(_) => None,
        }
    }

    /// The session, if it is one.
    pub fn as_session(&self) -> Option<&Session> {
        match self {
            Self::Run(_) => None,
            Self::Session(session) => Some(session),
        }
    }
}
