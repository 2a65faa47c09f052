//! The handle of a run.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

use reknit_engine::{AskPerson, Decision, Explanation};
use reknit_protocol::RunId;
use reknit_runtime::operations::{self, CancelOutcome, QuestionDecision};
use reknit_runtime::{DecisionOutcome, Refusal, RefusalCode, signals, system_ms};

use crate::follow::Follow;
use crate::outcome::{RunAnswer, RunError};
use crate::run_event::{EventCursor, RunEvent, TextPiece};
use crate::run_state::{Phase, RunState};
use crate::run_task::open_questions;

/// A run that goes on in this process. Awaiting the handle returns the outcome. Dropping it does not stop the run. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct RunHandle {
    /// The id of the run. [`Reknit::resume`](crate::Reknit::resume) takes it, and so does `reknit runs show`.
    pub id: RunId,
    state: Arc<RunState>,
}

impl RunHandle {
    pub(crate) fn new(state: Arc<RunState>) -> Self {
        Self { id: state.run.clone(), state }
    }

    /// All events of the run, those that have happened first. The stream ends with the run.
    pub fn events(&self) -> Follow<RunEvent> {
        self.events_after(EventCursor::default())
    }

    /// The events after the one with this cursor.
    pub fn events_after(&self, cursor: EventCursor) -> Follow<RunEvent> {
        Follow::from(&self.state, usize::try_from(cursor.0).unwrap_or(usize::MAX), RunState::event_at)
    }

    /// The text of the answer, or of a report, as a model writes it. If code writes it, or a report is JSON or not given with the
    /// report tool, it arrives as one piece.
    pub fn text(&self) -> Follow<TextPiece> {
        Follow::from(&self.state, 0, RunState::piece_at)
    }

    /// Whether the run waits for a person now.
    pub fn is_waiting(&self) -> bool {
        self.state.phase() == Phase::Waiting
    }

    /// Whether its outcome is there.
    pub fn has_ended(&self) -> bool {
        self.state.phase() == Phase::Ended
    }

    /// How many streams and futures of this process wait for the run.
    pub fn watchers(&self) -> usize {
        self.state.watchers()
    }

    /// Waits until the run is in the journal. Fails if it cannot be started.
    pub async fn created(&self) -> Result<(), RunError> {
        self.state.wait_for_event().await;
        self.check_driven()
    }

    /// Waits until a run that had ended goes on: after [`Reknit::retry`](crate::Reknit::retry) or
    /// [`Reknit::follow_up`](crate::Reknit::follow_up). Fails if it cannot.
    pub async fn continued(&self) -> Result<(), RunError> {
        self.state.wait_for_new_event().await;
        self.check_driven()
    }

    /// Waits until the run has ended or waits for a person. Fails only if it could not be driven that far.
    pub async fn settled(&self) -> Result<(), RunError> {
        self.state.wait_for(|phase| *phase != Phase::Driven).await;
        self.check_driven()
    }

    fn check_driven(&self) -> Result<(), RunError> {
        match self.state.outcome() {
            Some(Err(error @ RunError::NotDriven(_))) => Err(error),
            _ => Ok(()),
        }
    }

    /// Waits until the run waits for a person, and returns its questions; an empty list if it has ended instead.
    pub async fn questions(&self) -> Result<Vec<AskPerson>, RunError> {
        self.state.wait_for(|phase| *phase != Phase::Driven).await;
        if self.state.phase() == Phase::Ended {
            return Ok(Vec::new());
        }
        open_questions(&self.state.journal, &self.id).await.map_err(RunError::not_driven)
    }

    /// Answers a question. The decision counts only for exactly the call that the question shows, and the first one counts: see
    /// [`operations::decide`].
    pub async fn decide(&self, question: &AskPerson, decision: Decision) -> Result<DecisionOutcome, Refusal> {
        // The run is driven again as soon as the decision is stored; the next call of `questions` must not return the old ones.
        let waits = self.state.phase() == Phase::Waiting;
        if waits {
            self.state.set_phase(Phase::Driven);
        }
        let decided = QuestionDecision::about(question, decision);
        let outcome = operations::decide(&self.state.journal, &self.id, decided, system_ms()).await;
        // After another decision the run goes on, too.
        if waits && outcome.as_ref().is_err_and(|refusal| refusal.code() != RefusalCode::AlreadyDecided) {
            self.state.set_phase(Phase::Waiting);
        }
        outcome
    }

    /// Cancels the run. Calls in progress may still complete.
    pub async fn cancel(&self) -> Result<CancelOutcome, Refusal> {
        operations::cancel(&self.state.journal, &self.id, system_ms()).await
    }

    /// Asks a session to stop and to write its report.
    pub async fn stop(&self) -> Result<(), Refusal> {
        self.state.journal.send(&self.id, signals::stop(), system_ms()).await?;
        Ok(())
    }

    /// What was asked, done, mended, decided and spent so far, in plain words.
    pub async fn explain(&self) -> Result<Explanation, Refusal> {
        operations::explain(&self.state.journal, &self.id).await
    }

    /// Waits for the end of the run. Only a run that did everything that it was asked for has an answer.
    pub async fn outcome(&self) -> Result<RunAnswer, RunError> {
        loop {
            self.state.wait_for(|phase| *phase == Phase::Ended).await;
            if let Some(outcome) = self.state.outcome() {
                return outcome;
            }
        }
    }
}

impl IntoFuture for RunHandle {
    type Output = Result<RunAnswer, RunError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.outcome().await })
    }
}
