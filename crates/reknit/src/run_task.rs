//! The task that drives a run until it ends, also across the questions to a person.

use std::sync::Arc;
use std::time::Duration;

use reknit_engine::AskPerson;
use reknit_journal::Journal;
use reknit_protocol::RunId;
use reknit_runtime::operations::{self, FoundRun};
use reknit_runtime::{DriveError, DriveOutcome, Driver, RunStart, Runtime, load_run, replay_run, system_ms};

use crate::outcome::{RunError, outcome_of};
use crate::run_state::{Phase, RunState};

pub(crate) enum Beginning {
    /// With a new run.
    New(Box<RunStart>),
    /// With a run of the journal.
    Resumed,
    /// With a run of the journal that has all that it needs here.
    Checked,
    /// With a run of the journal that has ended without all of its results.
    Retried,
    /// With a session of the journal that has ended, and the next message of the user.
    FollowedUp(String),
    /// With a run of the journal that is only watched.
    Followed,
}

/// How often a run is looked at that is only watched.
const LOOK: Duration = Duration::from_millis(200);

pub(crate) fn spawn(runtime: &Runtime, run: RunId, beginning: Beginning) -> Arc<RunState> {
    let state = RunState::new(run, runtime.journal.clone());
    let task = RunTask { runtime: runtime.clone(), state: Arc::clone(&state) };
    tokio::spawn(async move { task.run(beginning).await });
    state
}

struct RunTask {
    runtime: Runtime,
    state: Arc<RunState>,
}

impl RunTask {
    async fn run(&self, beginning: Beginning) {
        let outcome = self.drive(beginning).await;
        if self.state.events().is_empty() {
            // The run had ended before: its outcome is stored, and nothing was replayed.
            let replayed = replay_run(&self.state.journal, &self.state.run, &self.state.watcher()).await;
            if let (Err(error), Ok(_)) = (replayed, &outcome) {
                return self.state.finish(Err(RunError::not_driven(error)));
            }
        }
        let outcome = outcome.map_err(RunError::not_driven);
        self.state.finish(outcome.and_then(|outcome| outcome_of(&self.state.run, outcome, &self.state.events())));
    }

    async fn drive(&self, beginning: Beginning) -> Result<DriveOutcome, DriveError> {
        self.check(&beginning).await?;
        let mut outcome = match beginning {
            Beginning::New(start) => self.driver().start(*start).await?,
            Beginning::Resumed | Beginning::Checked => self.driver().join(&self.state.run).await?,
            Beginning::Retried => self.driver().retry(&self.state.run).await?,
            Beginning::FollowedUp(input) => self.driver().follow_up(&self.state.run, &input).await?,
            Beginning::Followed => return self.follow().await,
        };
        while outcome == DriveOutcome::Waiting {
            self.state.set_phase(Phase::Waiting);
            self.wait_for_decision().await?;
            self.state.set_phase(Phase::Driven);
            outcome = self.driver().join(&self.state.run).await?;
        }
        Ok(outcome)
    }

    /// Fails if a run cannot go on, or not in this process.
    async fn check(&self, beginning: &Beginning) -> Result<(), DriveError> {
        let (journal, run) = (&self.state.journal, &self.state.run);
        let machine = match beginning {
            Beginning::New(_) | Beginning::Checked | Beginning::Followed => return Ok(()),
            Beginning::Resumed => match operations::resumable(journal, run, system_ms()).await? {
                FoundRun::Ended(_) => return Ok(()),
                FoundRun::Open(machine) => *machine,
            },
            Beginning::Retried => operations::retriable(journal, run).await?,
            Beginning::FollowedUp(_) => operations::continuable(journal, run).await?,
        };
        operations::check_requirements(&self.runtime, &machine)
    }

    /// Watches a run until it ends, without driving it.
    async fn follow(&self) -> Result<DriveOutcome, DriveError> {
        let mut seen = None;
        loop {
            if Arc::strong_count(&self.state) == 1 {
                // Every handle is gone.
                return Err(DriveError::Abandoned);
            }
            let summary = self.state.journal.summary(&self.state.run).await?;
            if seen.replace(summary.len) != Some(summary.len) {
                let saved = replay_run(&self.state.journal, &self.state.run, &self.state.watcher()).await?;
                if let Some(ending) = saved.machine.ending() {
                    return Ok(ending.into());
                }
                let waits = saved.machine.is_waiting_for_person();
                self.state.set_phase(if waits { Phase::Waiting } else { Phase::Driven });
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn driver(&self) -> Driver {
        self.runtime.driver().with_watcher(self.state.watcher()).with_piece_watcher(self.state.piece_watcher())
    }

    /// Waits for a message to the run, or until a question expires.
    async fn wait_for_decision(&self) -> Result<(), DriveError> {
        let mut mailbox = self.state.journal.mailbox(&self.state.run);
        let questions = open_questions(&self.state.journal, &self.state.run).await?;
        let left_ms = questions.iter().map(|question| question.expires_ms.saturating_sub(system_ms())).min();
        let left = Duration::from_millis(left_ms.unwrap_or(i64::MAX).max(0).unsigned_abs());
        tokio::select! {
            message = mailbox.next() => message.map(|_| ()).map_err(DriveError::from),
            () = tokio::time::sleep(left) => Ok(()),
        }
    }
}

pub(crate) async fn open_questions(journal: &Journal, run: &RunId) -> Result<Vec<AskPerson>, DriveError> {
    Ok(load_run(journal, run).await?.machine.questions())
}
