//! The start of a run or a session.

use std::sync::Arc;

use reknit_engine::{EngineKind, EventKind, Metadata, Policy, RequestDigest, SessionStarted, Started, TraceParent};
use reknit_model_api::{Attachment, Money, TargetName};
use reknit_protocol::RunId;

/// The start of a run or a session, as a driver takes it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunStart {
    first: FirstEvent,
    request: RequestDigest,
}

#[derive(Debug, Clone, PartialEq)]
enum FirstEvent {
    Run(Box<Started>),
    Session(Box<SessionStarted>),
}

/// The same expression for a run and a session.
macro_rules! either {
    ($first:expr, $started:ident => $value:expr) => {
        match $first {
            FirstEvent::Run($started) => $value,
            FirstEvent::Session($started) => $value,
        }
    };
}

impl RunStart {
    pub fn run(&self) -> &RunId {
        either!(&self.first, started => &started.run)
    }

    /// The title in lists of runs: the request of a run, the input of a session.
    pub fn title(&self) -> &str {
        match &self.first {
            FirstEvent::Run(started) => &started.request,
            FirstEvent::Session(started) => &started.input,
        }
    }

    /// The digest that says whether another start with the same id wants the same.
    pub fn request_digest(&self) -> &RequestDigest {
        &self.request
    }

    /// Replaces the digest of the request, for a caller that knows more of it: the text of an agent file, for example.
    #[must_use]
    pub fn with_request_digest(self, request: RequestDigest) -> Self {
        Self { request, ..self }
    }

    /// The run, if it is not a session.
    pub(crate) fn as_run_mut(&mut self) -> Option<&mut Started> {
        match &mut self.first {
            FirstEvent::Run(started) => Some(started),
            FirstEvent::Session(_) => None,
        }
    }

    /// The models that may be asked, the preferred one first.
    pub(crate) fn targets(&self) -> &[TargetName] {
        either!(&self.first, started => &started.targets)
    }

    pub(crate) fn policy(&self) -> &Policy {
        either!(&self.first, started => &started.policy)
    }

    pub(crate) fn policy_mut(&mut self) -> &mut Arc<Policy> {
        either!(&mut self.first, started => &mut started.policy)
    }

    /// The same start with another id, if one is given, with metadata and attachments.
    pub(crate) fn with(self, id: Option<RunId>, metadata: Metadata, attachments: Vec<Attachment>) -> Self {
        either!(self.first, started => {
            let started = started.with_metadata(metadata).with_attachments(attachments);
            match id {
                Some(id) => started.with_id(id).into(),
                None => started.into(),
            }
        })
    }

    pub(crate) fn money_limit(&self) -> Option<Money> {
        either!(&self.first, started => started.policy.limits.money)
    }

    /// Sets what the budget of its owner leaves for it.
    pub(crate) fn set_budget(&mut self, budget: Option<Money>) {
        either!(&mut self.first, started => started.set_budget(budget));
    }

    pub(crate) fn set_engine(&mut self, engine: EngineKind) {
        let policy = self.policy_mut();
        if policy.engine != engine {
            Arc::make_mut(policy).engine = engine;
        }
    }

    /// Sets the parent span, unless one is set.
    pub(crate) fn set_trace_parent(&mut self, parent: Option<TraceParent>) {
        let trace_parent = either!(&mut self.first, started => &mut started.trace_parent);
        *trace_parent = trace_parent.or(parent);
    }

    pub(crate) fn into_event(self) -> EventKind {
        match self.first {
            FirstEvent::Run(started) => EventKind::Started(started),
            FirstEvent::Session(started) => EventKind::SessionStarted(started),
        }
    }
}

impl From<Started> for RunStart {
    fn from(started: Started) -> Self {
        Self { request: started.request_digest(), first: FirstEvent::Run(Box::new(started)) }
    }
}

impl From<SessionStarted> for RunStart {
    fn from(started: SessionStarted) -> Self {
        Self { request: started.request_digest(), first: FirstEvent::Session(Box::new(started)) }
    }
}
