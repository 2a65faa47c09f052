//! What the list shows about each run: read once for each state of a run, because reading a run takes longer than showing it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use reknit_engine::{AskPerson, HistoryKind, Overview, Spent, StepState};
use reknit_journal::{Journal, RunSummary};
use reknit_mend::MendEffect;
use reknit_protocol::{Object, RunId, StepId};
use reknit_runtime::{DriveError, bare_overview, load_run, run_overview, signals};
use reknit_web::AskedQuestion;

use crate::api_error::ApiError;

/// How many runs are kept.
const MAX_KEPT: usize = 2_000;

/// What the list shows about a run beside its summary.
#[derive(Debug, Default)]
pub(super) struct RunDigest {
    pub(super) steps: Option<(usize, usize)>,
    pub(super) mended_by: Vec<String>,
    pub(super) spent: Spent,
    asks: Vec<(AskPerson, Option<Object>)>,
}

impl RunDigest {
    /// The word for the status of a run. One that waits for nobody has stopped.
    pub(super) fn status<'s>(&self, summary: &'s RunSummary) -> &'s str {
        match summary.state() {
            "waiting" if self.asks.is_empty() => "stopped",
            word => word,
        }
    }
}

/// The digests of runs, each with the number of events that it is of.
#[derive(Debug, Default)]
pub(super) struct RunDigests {
    kept: Mutex<HashMap<RunId, (u64, Arc<RunDigest>)>>,
}

impl RunDigests {
    /// The digest of a run.
    pub(super) async fn of(&self, journal: &Journal, summary: &RunSummary) -> Result<Arc<RunDigest>, ApiError> {
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, digest)) = lock().get(&summary.run).filter(|(len, _)| *len == summary.len) {
            return Ok(Arc::clone(digest));
        }
        let loaded = load(journal, summary).await?;
        let digest = Arc::new(digest(&loaded.overview, loaded.asks));
        let mut kept = lock();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(summary.run.clone(), (summary.len, Arc::clone(&digest)));
        Ok(digest)
    }
}

/// A run with its open questions.
#[derive(Debug)]
pub(super) struct LoadedRun {
    pub(super) overview: Overview,
    pub(super) asks: Vec<AskPerson>,
}

/// Reads a run: what was stored when it ended, what its machine says, or what is known without a machine.
pub(super) async fn load(journal: &Journal, summary: &RunSummary) -> Result<LoadedRun, ApiError> {
    let run = &summary.run;
    if summary.status.is_some() {
        return Ok(LoadedRun { overview: run_overview(journal, run).await?, asks: Vec::new() });
    }
    match load_run(journal, run).await {
        Ok(saved) => Ok(LoadedRun { overview: saved.overview().map_err(DriveError::from)?, asks: saved.questions() }),
        Err(DriveError::Restore(_)) => {
            Ok(LoadedRun { overview: Overview::Bare(Box::new(bare_overview(journal, run).await?)), asks: Vec::new() })
        }
        Err(error) => Err(error.into()),
    }
}

fn digest(overview: &Overview, asks: Vec<AskPerson>) -> RunDigest {
    let mut digest = match overview {
        Overview::Run(run) => {
            let applied = |mend: &&reknit_mend::Mend| mend.effect == MendEffect::Applied;
            RunDigest {
                steps: Some((run.steps.iter().filter(|step| step.state == StepState::Done).count(), run.steps.len())),
                mended_by: names(
                    run.steps.iter().flat_map(|step| step.mends.iter().filter(applied)).map(|mend| mend.rung),
                ),
                spent: run.spent.clone(),
                asks: Vec::new(),
            }
        }
        Overview::Session(session) => RunDigest {
            mended_by: names(session.mended.iter().map(|call| call.rung)),
            spent: session.spent.clone(),
            ..RunDigest::default()
        },
        Overview::Bare(_) => RunDigest::default(),
    };
    digest.asks =
        asks.into_iter().map(|ask| (before(overview, &ask.step), ask)).map(|(before, ask)| (ask, before)).collect();
    digest
}

/// The names of rungs, each once, from cheap to expensive.
fn names(rungs: impl Iterator<Item = reknit_mend::Rung>) -> Vec<String> {
    let mut rungs: Vec<reknit_mend::Rung> = rungs.collect();
    rungs.sort_unstable();
    rungs.dedup();
    rungs.into_iter().map(|rung| rung.as_str().to_owned()).collect()
}

/// The parameters of the last call of a step.
fn before(overview: &Overview, step: &StepId) -> Option<Object> {
    let Overview::Run(run) = overview else { return None };
    run.history.get(step)?.iter().rev().find_map(|entry| match &entry.kind {
        HistoryKind::Called { parameters, .. } => Some(parameters.clone()),
        _ => None,
    })
}

/// The open questions of a run, with decisions that it has not read yet.
pub(super) async fn questions(
    journal: &Journal,
    summary: &RunSummary,
    digest: &RunDigest,
) -> Result<Vec<AskedQuestion>, ApiError> {
    if digest.asks.is_empty() {
        return Ok(Vec::new());
    }
    let decided = signals::decisions(&journal.inbox(&summary.run).await?);
    let question = |(ask, before): &(AskPerson, Option<Object>)| AskedQuestion {
        run: summary.run.to_string(),
        request: summary.title.clone(),
        ask: ask.clone(),
        before: before.clone(),
        decided: decided.get(&ask.id).map(|decision| decision.as_str().to_owned()),
    };
    Ok(digest.asks.iter().map(question).collect())
}
