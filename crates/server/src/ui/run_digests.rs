//! Runs as their pages show them, and what the list shows about each. Both are kept, because reading a run takes longer than showing it.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use reknit_engine::{AskPerson, Event, HistoryEntry, HistoryKind, Overview, Spent, StepState, StepView};
use reknit_journal::{Journal, RunSummary};
use reknit_mend::Rung;
use reknit_protocol::{Object, RunId, StepId};
use reknit_runtime::{DriveError, bare_overview, load_run, run_overview, signals};
use reknit_telemetry::{Interaction, interactions, owner_interactions};
use reknit_web::{AskedQuestion, ModelPrices, RunUsage};
use tokio::sync::OnceCell;

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
    let (steps, rungs, spent) = match overview {
        Overview::Run(run) => {
            let mended = run.steps.iter().flat_map(StepView::mended);
            let done = run.steps.iter().filter(|step| step.state == StepState::Done).count();
            (Some((done, run.steps.len())), mended.map(|mend| mend.rung).collect(), run.spent.clone())
        }
        Overview::Session(session) => {
            (None, session.mended.iter().map(|call| call.rung).collect(), session.spent.clone())
        }
        Overview::Bare(_) => (None, BTreeSet::<Rung>::new(), Spent::default()),
    };
    let with_parameters = |ask: AskPerson| {
        let before = before(overview, &ask.step);
        (ask, before)
    };
    RunDigest {
        steps,
        // Each once, from cheap to expensive.
        mended_by: rungs.iter().map(|rung| rung.as_str().to_owned()).collect(),
        spent,
        usage: RunUsage::default(),
        asks: asks.into_iter().map(with_parameters).collect(),
    }
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

const MAX_LOADED: usize = 8;
/// A run with more events is not kept.
const MAX_EVENTS: u64 = 20_000;

/// A run with its open questions.
#[derive(Debug)]
pub(super) struct LoadedRun {
    run: RunId,
    len: u64,
    status: Option<String>,
    pub(super) overview: Overview,
    pub(super) asks: Vec<AskPerson>,
    /// What models were asked, as the owner sees it and as others do.
    exchanges: [OnceCell<Option<Vec<Interaction>>>; 2],
}

impl LoadedRun {
    fn is(&self, summary: &RunSummary) -> bool {
        self.run == summary.run && self.len == summary.len && self.status == summary.status
    }

    /// What models were asked and answered; `None` if the reader may not see it. Reading it replays the run.
    pub(super) async fn exchanges(
        &self,
        journal: &Journal,
        is_owner: bool,
    ) -> Result<Option<&[Interaction]>, ApiError> {
        if !has_asked(&self.overview) {
            return Ok(Some(&[]));
        }
        let [for_owner, for_others] = &self.exchanges;
        let cell = if is_owner { for_owner } else { for_others };
        let found = cell.get_or_try_init(|| read_exchanges(journal, &self.run, is_owner)).await?;
        Ok(found.as_deref())
    }
}

fn has_asked(overview: &Overview) -> bool {
    let asks = |entries: &[HistoryEntry]| entries.iter().any(|entry| matches!(entry.kind, HistoryKind::Asked { .. }));
    match overview {
        Overview::Run(run) => asks(&run.run_history) || run.history.values().any(|entries| asks(entries)),
        Overview::Session(_) => true,
        Overview::Bare(_) => false,
    }
}

async fn read_exchanges(journal: &Journal, run: &RunId, is_owner: bool) -> Result<Option<Vec<Interaction>>, ApiError> {
    let stored = journal.events(run, 0).await?;
    let events: Result<Vec<Event>, _> = stored.iter().map(|stored| serde_json::from_str(&stored.body)).collect();
    // A run of an older build is shown without its questions.
    let Ok(events) = events else { return Ok(Some(Vec::new())) };
    let found = if is_owner { owner_interactions(&events).map(Some) } else { interactions(&events) };
    Ok(found.unwrap_or_else(|_| Some(Vec::new())))
}

/// The runs that were shown last, the newest first.
#[derive(Debug, Default)]
pub(super) struct LoadedRuns {
    kept: Mutex<VecDeque<Arc<LoadedRun>>>,
}

impl LoadedRuns {
    /// The run as it is now.
    pub(super) async fn of(&self, journal: &Journal, summary: &RunSummary) -> Result<Arc<LoadedRun>, ApiError> {
        let known = self.kept.lock().iter().find(|loaded| loaded.is(summary)).cloned();
        let loaded = match known {
            Some(known) => known,
            None => Arc::new(load(journal, summary).await?),
        };
        if summary.len <= MAX_EVENTS {
            let mut kept = self.kept.lock();
            kept.retain(|other| other.run != summary.run);
            kept.push_front(Arc::clone(&loaded));
            kept.truncate(MAX_LOADED);
        }
        Ok(loaded)
    }
}

/// Reads a run: what was stored when it ended, what its machine says, or what is known without a machine.
pub(super) async fn load(journal: &Journal, summary: &RunSummary) -> Result<LoadedRun, ApiError> {
    let run = &summary.run;
    let (overview, asks) = if summary.status.is_some() {
        (run_overview(journal, run).await?, Vec::new())
    } else {
        match load_run(journal, run).await {
            Ok(saved) => (saved.overview().map_err(DriveError::from)?, saved.machine.questions()),
            Err(DriveError::Restore(_)) => (Overview::Bare(Box::new(bare_overview(journal, run).await?)), Vec::new()),
            Err(error) => return Err(error.into()),
        }
    };
    let (run, len, status) = (run.clone(), summary.len, summary.status.clone());
    Ok(LoadedRun { run, len, status, overview, asks, exchanges: [OnceCell::new(), OnceCell::new()] })
}
