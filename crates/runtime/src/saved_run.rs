//! A run of the journal that is only looked at.

use std::sync::Arc;

use reknit_engine::{MIGRATIONS, Machine, Overview, OverviewBuilder};
use reknit_journal::Journal;
use reknit_protocol::RunId;

use crate::driver::restore;
use crate::error::DriveError;
use crate::journal_results::{JournalResults, ResultError};
use crate::parking::bare_overview;
use crate::replay::RestoreError;
use crate::snapshot::Changes;
use crate::telemetry::Telemetry;
use crate::watcher::Watcher;

/// A run that was restored from the journal. Large results stay there.
#[derive(Debug)]
pub struct SavedRun {
    pub machine: Machine,
    overview: OverviewBuilder,
    results: Arc<JournalResults>,
}

impl SavedRun {
    /// What is shown about the run. Fails if a result cannot be loaded.
    pub fn overview(&self) -> Result<Overview, ResultError> {
        let overview = self.overview.overview(&self.machine);
        self.results.take_failure().map_or(Ok(overview), Err)
    }
}

/// Restores a run to look at it, also while another process drives it. Its effects are not compared with those in the journal: the
/// driver does that.
pub async fn load_run(journal: &Journal, run: &RunId) -> Result<SavedRun, DriveError> {
    replay_run(journal, run, &Watcher::default()).await
}

/// Restores a run as [`load_run`] does. The watcher sees its events.
pub async fn replay_run(journal: &Journal, run: &RunId, watcher: &Watcher) -> Result<SavedRun, DriveError> {
    let state = restore(journal, run, &Telemetry::none(), watcher, (Changes::Accepted, MIGRATIONS)).await?;
    Ok(SavedRun { machine: state.machine, overview: state.overview, results: state.results })
}

/// What is shown about a run: what was stored when it ended, what its machine says, or what is known without a machine.
pub async fn run_overview(journal: &Journal, run: &RunId) -> Result<Overview, DriveError> {
    if let Some(text) = journal.ending(run).await? {
        return serde_json::from_str(&text).map_err(|source| RestoreError::Ending { source }.into());
    }
    match load_run(journal, run).await {
        Ok(saved) => Ok(saved.overview()?),
        Err(DriveError::Restore(_)) => Ok(Overview::Bare(Box::new(bare_overview(journal, run).await?))),
        Err(error) => Err(error),
    }
}
