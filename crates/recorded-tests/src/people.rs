//! The people of a test: what they decide and say.

use std::sync::{Mutex, PoisonError};

use reknit_engine::{Event, EventKind, Run};
use reknit_journal::{Journal, RunReadError};
use reknit_protocol::{EffectId, RunId, StepId, error_chain};
use reknit_runtime::operations::{self, QuestionDecision};
use reknit_runtime::{Clock, DriveError, RestoreError, load_run};

use crate::recording::DecisionRecording;
use crate::start::RUN;
use crate::test_file::{TestFile, TestStart};

/// What the people of a test decide and say.
#[derive(Debug)]
pub(crate) struct People {
    /// Shared by those who decide about calls of the run, and of the agents of its steps, at the same time.
    pub(crate) decisions: Mutex<Vec<DecisionRecording>>,
    pub(crate) messages: Vec<String>,
}

impl People {
    pub(crate) fn of(file: &TestFile) -> Self {
        let messages = match &file.start {
            TestStart::Agent { messages, .. } => messages.clone(),
            TestStart::Request(_) | TestStart::Plan { .. } => Vec::new(),
        };
        Self { decisions: Mutex::new(file.decisions.clone()), messages }
    }

    /// Forgets what was decided and said already, as the journal shows it: a process that is killed cannot tell.
    pub(crate) async fn forget_used(&mut self, journal: &Journal) -> Result<(), DriveError> {
        let run = RunId::new(RUN);
        let saved = load_run(journal, &run).await?;
        let steps = saved.machine.as_run().map(Run::steps).unwrap_or_default();
        let sessions = steps.into_iter().filter_map(|step| Some((step.session?, Some(step.id.to_string()))));
        for (run, within) in std::iter::once((run, None)).chain(sessions) {
            let stored = match journal.events(&run, 0).await {
                Err(RunReadError::NoSuchRun(_)) => continue,
                stored => stored?,
            };
            for event in stored.iter().filter_map(|row| serde_json::from_str::<Event>(&row.body).ok()) {
                match event.kind {
                    EventKind::FollowedUp { .. } if !self.messages.is_empty() => _ = self.messages.remove(0),
                    EventKind::PersonDecided { effect, .. } => self.forget_decision(within.as_deref(), &effect),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn forget_decision(&mut self, within: Option<&str>, question: &EffectId) {
        let step = question.step().map_or("plan", StepId::as_str);
        let decisions = self.decisions.get_mut().unwrap_or_else(PoisonError::into_inner);
        let about = |recorded: &DecisionRecording| recorded.step == step && recorded.within.as_deref() == within;
        if let Some(index) = decisions.iter().position(about) {
            decisions.remove(index);
        }
    }

    /// The decisions that nobody was asked for.
    pub(crate) fn decisions_left(&self) -> Vec<DecisionRecording> {
        self.decisions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// After how long those who decide about calls of agents first look for questions, in milliseconds. It doubles.
const FIRST_LOOK_MS: u64 = 1_000;

/// The longest time between two looks.
const LONGEST_LOOK_MS: u64 = 60_000;

/// Sends the recorded decisions about calls of the agents that steps of the run have started, as long as it lasts: the run itself asks
/// only now and then whether such a session has ended. Returns an error at most.
pub(crate) async fn decide_in_sessions(
    journal: &Journal,
    clock: &dyn Clock,
    run: &RunId,
    decisions: &Mutex<Vec<DecisionRecording>>,
) -> DriveError {
    let is_left = || {
        let decisions = decisions.lock().unwrap_or_else(PoisonError::into_inner);
        decisions.iter().any(|decision| decision.within.is_some())
    };
    let mut look_ms = FIRST_LOOK_MS;
    while is_left() {
        clock.sleep_until(clock.now_ms().saturating_add_unsigned(look_ms)).await;
        look_ms = look_ms.saturating_mul(2).min(LONGEST_LOOK_MS);
        // Before it has started, there is no run.
        let Ok(saved) = load_run(journal, run).await else { continue };
        let steps = saved.machine.as_run().map(Run::steps).unwrap_or_default();
        for step in steps {
            let Some(session) = &step.session else { continue };
            if let Err(error) = decide(journal, clock, (session, Some(step.id.as_str())), decisions).await {
                return error;
            }
        }
    }
    std::future::pending().await
}

/// Sends the recorded decisions about the questions that a run, or the session of the step `within`, waits for. Returns whether there
/// was one.
pub(crate) async fn decide(
    journal: &Journal,
    clock: &dyn Clock,
    (run, within): (&RunId, Option<&str>),
    decisions: &Mutex<Vec<DecisionRecording>>,
) -> Result<bool, DriveError> {
    let mut has_decided = false;
    let questions = match load_run(journal, run).await {
        // The session of a step is created a little after its call has started.
        Err(DriveError::Read(RunReadError::NoSuchRun(_)) | DriveError::Restore(RestoreError::Empty))
            if within.is_some() =>
        {
            return Ok(false);
        }
        saved => saved?.machine.questions(),
    };
    for question in questions {
        let decision = {
            let mut decisions = decisions.lock().unwrap_or_else(PoisonError::into_inner);
            let about = |recorded: &DecisionRecording| {
                recorded.step == question.step.as_str() && recorded.within.as_deref() == within
            };
            decisions.iter().position(about).map(|index| decisions.remove(index).decision)
        };
        if let Some(decision) = decision {
            let decided =
                operations::decide(journal, run, QuestionDecision::about(&question, decision), clock.now_ms());
            decided.await.map_err(|refusal| DriveError::Task(error_chain(&refusal)))?;
            has_decided = true;
        }
    }
    Ok(has_decided)
}
