//! What the list shows about each run: read once for each state of a run, because reading a run takes longer than showing it.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use reknit_engine::{AskPerson, HistoryKind, Overview, Spent, StepState};
use reknit_journal::{Journal, RunSummary};
use reknit_mend::MendEffect;
use reknit_protocol::{Object, RunId, StepId};
use reknit_runtime::signals;
use reknit_web::{AskedQuestion, ModelPrices, RunUsage};

use super::loaded_runs::{LoadedRun, load};
use crate::api_error::ApiError;

const MAX_KEPT: usize = 2_000;

/// What the list shows about a run beside its summary.
#[derive(Debug, Default)]
pub(super) struct RunDigest {
    pub(super) steps: Option<(usize, usize)>,
    pub(super) mended_by: Vec<String>,
    pub(super) spent: Spent,
    /// What it used, for statistics.
    pub(super) usage: RunUsage,
    asks: Vec<(AskPerson, Option<Object>)>,
}

impl RunDigest {
    /// The word for the status of a run. A waiting run without an open question has stopped.
    pub(super) fn status<'s>(&self, summary: &'s RunSummary) -> &'s str {
        match summary.state() {
            "waiting" if self.asks.is_empty() => "stopped",
            word => word,
        }
    }
}

/// A digest with the number of events and the state of the run that it is of.
type KeptDigest = (u64, String, Arc<RunDigest>);

#[derive(Debug)]
pub(super) struct RunDigests {
    prices: ModelPrices,
    kept: Mutex<HashMap<RunId, KeptDigest>>,
}

impl RunDigests {
    /// None yet. Questions to models are counted at these prices.
    pub(super) fn new(prices: ModelPrices) -> Self {
        Self { prices, kept: Mutex::default() }
    }

    pub(super) async fn of(&self, journal: &Journal, summary: &RunSummary) -> Result<Arc<RunDigest>, ApiError> {
        match self.known(summary) {
            Some(known) => Ok(known),
            None => Ok(self.of_loaded(summary, &load(journal, summary).await?)),
        }
    }

    /// The digest of a run that was read for something else.
    pub(super) fn of_loaded(&self, summary: &RunSummary, loaded: &LoadedRun) -> Arc<RunDigest> {
        if let Some(known) = self.known(summary) {
            return known;
        }
        let usage = RunUsage::of(&loaded.overview, summary.state(), summary.created_ms, &self.prices);
        let digest = Arc::new(RunDigest { usage, ..digest(&loaded.overview, loaded.asks.clone()) });
        let mut kept = self.kept.lock();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.insert(summary.run.clone(), (summary.len, summary.state().to_owned(), Arc::clone(&digest)));
        digest
    }

    fn known(&self, summary: &RunSummary) -> Option<Arc<RunDigest>> {
        let kept = self.kept.lock();
        let (len, state, digest) = kept.get(&summary.run)?;
        (*len == summary.len && state == summary.state()).then(|| Arc::clone(digest))
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
                ..RunDigest::default()
            }
        }
        Overview::Session(session) => RunDigest {
            mended_by: names(session.mended.iter().map(|call| call.rung)),
            spent: session.spent.clone(),
            ..RunDigest::default()
        },
        Overview::Bare(_) => RunDigest::default(),
    };
    digest.asks = asks
        .into_iter()
        .map(|ask| {
            let before = before(overview, &ask.step);
            (ask, before)
        })
        .collect();
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
