//! What people and programs do with runs. The command line, the HTTP API, the pages, the approval webhook, the MCP server and the
//! library read what they are given, call a function of this module, and show what it returns: each rule is here, once.

use reknit_engine::{
    AskPerson, DecidedBy, Decision, Event, EventKind, Explanation, Machine, Overview, Question, RecordKind, RunRecord,
    explain as explain_overview,
};
use reknit_journal::{Journal, LeaseError, LeaseTerm, RunSummary};
use reknit_protocol::RunId;

use crate::assembly::Runtime;
pub use crate::driver::started_before;
use crate::driver::{DriveOutcome, check_reopening};
use crate::error::DriveError;
use crate::first_decision::{DecisionOutcome, compare_decisions, store_first, stored_decision};
use crate::fork::{Fork, ForkChanges, ForkError};
use crate::parking::{close, park};
use crate::refusal::Refusal;
use crate::replay::RestoreError;
use crate::saved_run::{SavedRun, load_run, run_overview};
use crate::signals;
pub use crate::start_options::{StartOptions, start};

/// What somebody decides about a question of a run.
#[derive(Debug, Clone)]
pub struct QuestionDecision {
    /// The id of the question.
    pub question: String,
    /// Its hash, which binds the decision to what the question shows.
    pub hash: String,
    pub decision: Decision,
    pub by: DecidedBy,
}

impl QuestionDecision {
    /// A person's decision about a question as it was shown.
    pub fn about(ask: &AskPerson, decision: Decision) -> Self {
        Self { question: ask.id.to_string(), hash: ask.hash.clone(), decision, by: DecidedBy::Person }
    }
}

/// Decides a question of a run. The first decision counts: another one is refused, and the same one again changes nothing. The
/// decision must be an answer to what the question shows, and edited parameters must fit the schema of the call. Whoever drives the run
/// reads the decision; nothing is driven here.
pub async fn decide(
    journal: &Journal,
    run: &RunId,
    decided: QuestionDecision,
    now_ms: i64,
) -> Result<DecisionOutcome, Refusal> {
    let QuestionDecision { question, hash, decision, by } = decided;
    let decision = tidied(decision);
    let summary = journal.summary(run).await?;
    let not_asked = || Refusal::NotAsked { run: run.clone(), question: question.clone() };
    if summary.parked.is_some() {
        return Err(Refusal::Parked(run.clone()));
    }
    let open = if summary.status.is_some() {
        None
    } else {
        let machine = loaded(journal, run).await?.machine;
        let ask = machine.questions().into_iter().find(|ask| ask.id.to_string() == question);
        ask.map(|ask| (ask, machine))
    };
    let Some((ask, machine)) = open else {
        let id = question.parse().map_err(|_| not_asked())?;
        return match (stored_decision(journal, run, &id, &hash).await?, summary.status) {
            (Some(earlier), _) => compare_decisions(run, &id, earlier, &decision),
            (None, Some(status)) => Err(Refusal::Ended { run: run.clone(), status }),
            (None, None) => Err(not_asked()),
        };
    };
    if ask.hash != hash {
        return Err(Refusal::QuestionChanged { run: run.clone(), question: ask.id });
    }
    check_decision(&machine, &ask, &decision)?;
    store_first(journal, run, (&ask, machine.event_count()), (decision, by), now_ms).await
}

async fn loaded(journal: &Journal, run: &RunId) -> Result<SavedRun, Refusal> {
    load_run(journal, run).await.map_err(|error| match error {
        DriveError::Restore(_) => Refusal::Parked(run.clone()),
        error => error.into(),
    })
}

/// A blank reason is none.
fn tidied(decision: Decision) -> Decision {
    match decision {
        Decision::Deny { reason } => {
            let reason = reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty()).map(str::to_owned);
            Decision::Deny { reason }
        }
        decision => decision,
    }
}

/// What became of a request to cancel a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelOutcome {
    /// Whoever drives the run reads it. If nobody does, the run must go on for that.
    Asked,
    /// The run was parked, so it ended without going on.
    Ended,
}

/// Cancels a run. Calls in progress may still complete. A parked run ends as it is; its events are kept.
pub async fn cancel(journal: &Journal, run: &RunId, now_ms: i64) -> Result<CancelOutcome, Refusal> {
    if unended(journal, run).await?.parked.is_some() {
        close(journal, run, "cancelled", "the run was cancelled", LeaseTerm { now_ms, ttl_ms: CLOSE_MS }).await?;
        return Ok(CancelOutcome::Ended);
    }
    // Once is enough: the run reads one message.
    let _ = journal.send_once(run, signals::cancel(), now_ms, None, signals::is_cancel).await?;
    Ok(CancelOutcome::Asked)
}

/// How long a run that is closed or parked is held at most.
const CLOSE_MS: u64 = 30_000;

/// The summary of a run that has not ended.
pub async fn unended(journal: &Journal, run: &RunId) -> Result<RunSummary, Refusal> {
    let summary = journal.summary(run).await?;
    match summary.status {
        Some(status) => Err(Refusal::Ended { run: run.clone(), status }),
        None => Ok(summary),
    }
}

/// A run that is to go on.
#[derive(Debug)]
pub enum FoundRun {
    /// It has ended: there is nothing to do.
    Ended(DriveOutcome),
    Open(Box<Machine>),
}

/// Looks at a run that is to go on. One that this build cannot restore is parked.
pub async fn resumable(journal: &Journal, run: &RunId, now_ms: i64) -> Result<FoundRun, DriveError> {
    if let Some(text) = journal.ending(run).await? {
        let overview: Overview = serde_json::from_str(&text).map_err(|source| RestoreError::Ending { source })?;
        if let Some(ending) = overview.ending() {
            return Ok(FoundRun::Ended(ending.into()));
        }
    }
    match load_run(journal, run).await {
        Ok(saved) => Ok(match saved.machine.ending() {
            Some(ending) => FoundRun::Ended(ending.into()),
            None => FoundRun::Open(Box::new(saved.machine)),
        }),
        Err(DriveError::Restore(error)) => {
            if journal.summary(run).await?.status.is_none() {
                park(journal, run, &error, LeaseTerm { now_ms, ttl_ms: CLOSE_MS }).await?;
            }
            Err(error.into())
        }
        Err(error) => Err(error),
    }
}

/// The state of a run that has ended and whose failed and skipped steps can be tried again.
pub async fn retriable(journal: &Journal, run: &RunId) -> Result<Machine, DriveError> {
    reopenable(journal, run, &EventKind::Retried).await
}

/// The state of a session that has ended and can go on with a message of its user.
pub async fn continuable(journal: &Journal, run: &RunId) -> Result<Machine, DriveError> {
    reopenable(journal, run, &EventKind::FollowedUp { input: String::new() }).await
}

async fn reopenable(journal: &Journal, run: &RunId, event: &EventKind) -> Result<Machine, DriveError> {
    if journal.summary(run).await?.status.is_none() {
        return Err(LeaseError::NotEnded(run.clone()).into());
    }
    let machine = load_run(journal, run).await?.machine;
    check_reopening(run, event, &machine)?;
    Ok(machine)
}

/// Fails if a run needs tools or models that this process does not have: steps would fail that could succeed elsewhere.
pub fn check_requirements(runtime: &Runtime, machine: &Machine) -> Result<(), DriveError> {
    let missing = runtime.missing_for(machine);
    if missing.is_empty() {
        Ok(())
    } else {
        Err(DriveError::MissingRequirements { run: machine.id().clone(), missing })
    }
}

/// What was asked, done, mended, decided and spent, in plain words.
pub async fn explain(journal: &Journal, run: &RunId) -> Result<Explanation, Refusal> {
    let summary = journal.summary(run).await?;
    Ok(explain_overview(&run_overview(journal, run).await?, summary.state()))
}

/// Forks a run with changes: see [`Fork::of`]. Fails, too, if the fork needs what this process does not have.
pub async fn fork(
    runtime: &Runtime,
    run: &RunId,
    at: &str,
    changes: &ForkChanges,
    (id, now_ms): (RunId, i64),
) -> Result<Fork, ForkError> {
    let fork = Fork::of(&runtime.journal, run, at, changes, (id, now_ms)).await?;
    let missing = runtime.missing_for(fork.machine());
    if missing.is_empty() { Ok(fork) } else { Err(ForkError::Missing { run: run.clone(), missing }) }
}

/// Tries a decision on a copy of the machine. Fails if it is no answer to the question, or if the call cannot be sent with edited
/// parameters.
pub fn check_decision(machine: &Machine, ask: &AskPerson, decision: &Decision) -> Result<(), Refusal> {
    let mut copy = machine.clone();
    let kind = EventKind::PersonDecided {
        effect: ask.id.clone(),
        hash: ask.hash.clone(),
        decision: decision.clone(),
        by: DecidedBy::Person,
    };
    let records = copy.apply(&Event { at_ms: machine.now_ms(), kind });
    let records = records.map_err(|error| Refusal::WrongDecision(error.to_string()))?;
    let verdict = records.into_iter().find_map(|record| match record.kind {
        RecordKind::Run(RunRecord::EditRefused { reason, .. }) => Some(Err(Refusal::InvalidEdit(reason))),
        RecordKind::Run(RunRecord::ApprovalDecided { .. }) => Some(Ok(())),
        _ => None,
    });
    verdict.unwrap_or_else(|| Err(Refusal::WrongDecision(why_no_answer(ask, decision))))
}

/// Why a decision is no answer to a question: it says what became of a call, but the call was not made, or cannot be looked at.
fn why_no_answer(ask: &AskPerson, decision: &Decision) -> String {
    let step = &ask.step;
    let state = match &ask.question {
        Question::SendAgain { call, .. } if *decision == Decision::Check => {
            return format!(
                "no check was configured for `{}/{}` when the run started; look yourself, and say what happened",
                call.tool, call.capability
            );
        }
        Question::SendAgain { .. } => return format!("this is no answer to the question about step `{step}`"),
        Question::SendCall { .. } => format!("the call of step `{step}` was not sent yet"),
        Question::SendItems { .. } => format!("the calls of step `{step}` were not sent yet"),
        Question::SendCorrected { .. } => format!("the call of step `{step}` was refused, so it had no effect"),
        Question::RunPlan { .. } => "no call of the plan was sent yet".to_owned(),
    };
    format!("{state}: approve or deny it")
}
