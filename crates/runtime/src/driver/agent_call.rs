//! Calls of agents. Each is a session with a journal of its own, which is started, joined or cancelled here.
//!
//! The id of the session follows from the run and the step, and starting it twice joins it. So such a call needs no claim: a process
//! that takes over the run makes it again, and goes on with the session.

use std::sync::Arc;

use reknit_engine::{EventKind, SessionCall, SessionRequest, SessionStarted, TraceParent, session_reply};
use reknit_journal::{CreateError, SendError};
use reknit_protocol::{
    CallTool, Delivery, ReplyBody, RunId, ToolJob, ToolReply, TransportFailure, TransportKind, Value, error_chain,
};
use reknit_tools::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::join::LOOK_MS;
use super::{DriveOutcome, Driver, restore};
use crate::error::DriveError;
use crate::run_owner::RunOwner;
use crate::signals;
use crate::snapshot::Changes;
use crate::telemetry::log::TARGET;
use crate::watcher::Watcher;

/// How long a run that has ended waits for the sessions that it cancels.
const CANCEL_MS: i64 = 20_000;

/// Makes the call of an agent for a run. If the call is aborted, or its time is over, its session is cancelled.
///
/// Boxed: the driver of the session would otherwise be part of its own type.
pub(crate) fn call_agent(
    driver: &Driver,
    run: &RunId,
    (call, SessionCall { request, until_ms }): (&CallTool, SessionCall),
    traceparent: Option<&str>,
    aborted: CancellationToken,
) -> BoxFuture<'static, EventKind> {
    let (driver, run, effect) = (driver.of_session(), run.clone(), call.id.clone());
    let parent = traceparent.and_then(|text| text.parse::<TraceParent>().ok());
    Box::pin(async move {
        let session = match &request {
            SessionRequest::Start(started) => started.run.clone(),
            SessionRequest::Ask(session) | SessionRequest::Cancel(session) => session.clone(),
        };
        let clock = &driver.executor().clock;
        let session_end = driver.drive_session(&run, request, parent);
        tokio::pin!(session_end);
        let late = async {
            match until_ms {
                Some(until_ms) => clock.sleep_until(until_ms).await,
                None => std::future::pending().await,
            }
        };
        let unwanted = async {
            tokio::select! {
                () = aborted.cancelled() => {}
                () = late => {}
            }
        };
        let outcome = tokio::select! {
            outcome = &mut session_end => outcome,
            () = unwanted => {
                tokio::select! {
                    outcome = &mut session_end => outcome,
                    () = driver.cancel_until_it_exists(&session) => session_end.await,
                }
            }
        };
        match outcome.map_err(|error| failure(&session, &error)).and_then(|outcome| reply(&session, outcome)) {
            Ok(reply) => EventKind::ToolAnswered { effect, reply },
            Err(failure) => EventKind::ToolFailed { effect, failure },
        }
    })
}

impl Driver {
    /// A driver for the session of an agent. Its events belong to its own run, and not to the one that is watched here. It reserves
    /// nothing: the run has reserved what its sessions may cost.
    fn of_session(&self) -> Self {
        let mut driver = self.clone();
        let parts = driver.parts_mut();
        parts.watcher = Watcher::default();
        parts.executor.pieces = None;
        parts.owner = None;
        driver
    }

    async fn drive_session(
        &self,
        run: &RunId,
        request: SessionRequest,
        parent: Option<TraceParent>,
    ) -> Result<DriveOutcome, DriveError> {
        match request {
            SessionRequest::Start(started) => {
                let owner = self.executor().journal.summary(run).await?.owner.map(RunOwner::of_session);
                let driver = self.clone().with_owner(owner.map(Arc::new));
                driver.start(SessionStarted { trace_parent: parent, ..*started }).await
            }
            SessionRequest::Ask(session) if self.waits_for_person(&session).await? => Ok(DriveOutcome::Waiting),
            SessionRequest::Ask(session) => self.join(&session).await,
            SessionRequest::Cancel(session) => {
                self.cancel_session(&session).await;
                self.join(&session).await
            }
        }
    }

    /// Whether only a person can go on with a session, and nobody has decided yet. The time for a decision is not over.
    async fn waits_for_person(&self, session: &RunId) -> Result<bool, DriveError> {
        let (journal, telemetry) = (&self.executor().journal, &self.executor().telemetry);
        if journal.ending(session).await?.is_some() || !journal.inbox(session).await?.is_empty() {
            return Ok(false);
        }
        let how = (Changes::Refused, self.shared.migrations);
        let state = restore(journal, session, telemetry, &Watcher::default(), how).await?;
        let now_ms = self.executor().clock.now_ms();
        Ok(state.waits_for_person(now_ms))
    }

    /// Asks a session to end, whoever drives it. Returns whether it was told, or has ended.
    async fn cancel_session(&self, session: &RunId) -> bool {
        let sent = self.executor().journal.send(session, signals::cancel(), self.executor().clock.now_ms()).await;
        match &sent {
            Ok(_) => {}
            Err(SendError::Storage(error)) => {
                tracing::warn!(target: TARGET, run = %session, "the session could not be cancelled: {error}");
            }
            Err(error) => tracing::debug!(target: TARGET, run = %session, "the session is not cancelled: {error}"),
        }
        matches!(sent, Ok(_) | Err(SendError::Ended { .. }))
    }

    /// Asks a session to end that may be created at any moment, until it was told.
    async fn cancel_until_it_exists(&self, session: &RunId) {
        let clock = &self.executor().clock;
        while !self.cancel_session(session).await {
            clock.sleep_until(clock.now_ms().saturating_add(LOOK_MS)).await;
        }
    }

    /// Of these sessions, those that have not ended, which are told to end. Call it before their run ends: the message is stored, so
    /// whoever drives such a session next ends it.
    pub(crate) async fn cancel_sessions(&self, sessions: Vec<RunId>) -> Vec<RunId> {
        let mut open = Vec::new();
        for session in sessions {
            if matches!(self.executor().journal.ending(&session).await, Ok(None)) {
                self.cancel_session(&session).await;
                open.push(session);
            }
        }
        open
    }

    /// Drives cancelled sessions to their end. Boxed for the same reason as [`call_agent`].
    pub(crate) fn end_sessions(&self, sessions: Vec<RunId>) -> BoxFuture<'static, ()> {
        let driver = self.of_session();
        Box::pin(async move {
            let clock = &driver.executor().clock;
            let end = clock.sleep_until(clock.now_ms().saturating_add(CANCEL_MS));
            tokio::pin!(end);
            for session in sessions {
                tokio::select! {
                    biased;
                    joined = driver.join(&session) => if let Err(error) = joined {
                        tracing::warn!(target: TARGET, run = %session, "the cancelled session was not driven to its end: {error}");
                    },
                    () = &mut end => return,
                }
            }
        })
    }
}

fn reply(session: &RunId, outcome: DriveOutcome) -> Result<ToolReply, TransportFailure> {
    let (status, body, job) = match outcome {
        DriveOutcome::Reported(report) => (200, ReplyBody::Json(session_reply(session, &report)), None),
        DriveOutcome::Waiting => {
            let handle = session.as_str().to_owned();
            (202, ReplyBody::Json(Value::from("the session waits for a person")), Some(ToolJob::Ask { handle }))
        }
        DriveOutcome::Finished(_) => {
            let message = format!("run {session} is not the session of an agent");
            let (kind, delivery) = (TransportKind::NotCallable, Delivery::NotSent);
            return Err(TransportFailure { kind, delivery, message });
        }
    };
    Ok(ToolReply { status, retry_after_ms: None, body, job })
}

/// A session that cannot be driven. What may work later, as a journal that cannot be written now, is tried again.
fn failure(session: &RunId, error: &DriveError) -> TransportFailure {
    let kind = match error {
        DriveError::Create(CreateError::Storage(_)) => TransportKind::Reset,
        DriveError::OtherRequest { .. }
        | DriveError::OtherOwner(_)
        | DriveError::Restore(_)
        | DriveError::Create(_)
        | DriveError::NotASession(_) => TransportKind::NotCallable,
        _ => TransportKind::Reset,
    };
    let message = format!("session {session}: {}", error_chain(error));
    TransportFailure { kind, delivery: Delivery::Possible, message }
}
