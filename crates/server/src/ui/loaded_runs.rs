//! Runs as their pages show them. Those that were shown last are kept, because restoring one takes longer than showing it.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use reknit_engine::{AskPerson, Event, HistoryEntry, HistoryKind, Overview};
use reknit_journal::{Journal, RunSummary};
use reknit_protocol::RunId;
use reknit_runtime::{DriveError, bare_overview, load_run, run_overview};
use reknit_telemetry::{Interaction, interactions, owner_interactions};
use tokio::sync::OnceCell;

use crate::api_error::ApiError;

const MAX_KEPT: usize = 8;
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
            kept.truncate(MAX_KEPT);
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
            Ok(saved) => (saved.overview().map_err(DriveError::from)?, saved.questions()),
            Err(DriveError::Restore(_)) => (Overview::Bare(Box::new(bare_overview(journal, run).await?)), Vec::new()),
            Err(error) => return Err(error.into()),
        }
    };
    let (run, len, status) = (run.clone(), summary.len, summary.status.clone());
    Ok(LoadedRun { run, len, status, overview, asks, exchanges: [OnceCell::new(), OnceCell::new()] })
}
