//! Plays a test in real time, also with its runs on an engine elsewhere: the same file leads to the same events on every engine.

use std::path::Path;
use std::sync::Arc;

use reknit_journal::{DueEffect, RunFilter, RunSummary, StoredEvent};
use reknit_protocol::RunId;
use reknit_runtime::{EffectRunner, RemoteEngine};

use crate::drive::{TestRun, play};
use crate::player::Strictness;
use crate::start::{TestStartError, run_start};
use crate::test_file::TestFile;

/// A run as the journal has it at the end of a test.
#[derive(Debug, Clone)]
pub struct PlayedRun {
    /// Its id.
    pub run: RunId,
    /// Its events.
    pub events: Vec<StoredEvent>,
    /// The effects that became due, in order.
    pub due: Vec<DueEffect>,
}

impl TestFile {
    /// Plays the test in the time of the caller's runtime. The runs are on the engine that `connect` returns, which gets what performs
    /// their effects; on that of this process if it returns none. Also returns
    /// the run and the sessions of its agents.
    pub async fn play_on(
        &self,
        folder: &Path,
        connect: impl AsyncFnOnce(EffectRunner) -> Option<Arc<dyn RemoteEngine>>,
    ) -> Result<(TestRun, Vec<PlayedRun>), TestStartError> {
        let start = run_start(self, folder)?;
        let (run, journal) = play(self, start, Strictness::AsRecorded, connect).await;
        let unreadable = |error: &dyn std::error::Error| TestStartError(vec![error.to_string()]);
        let mut runs = Vec::new();
        for RunSummary { run, .. } in journal.runs(&RunFilter::newest(100)).await.map_err(|error| unreadable(&error))? {
            let events = journal.events(&run, 0).await.map_err(|error| unreadable(&error))?;
            let due = journal.due_effects(&run).await.map_err(|error| unreadable(&error))?;
            runs.push(PlayedRun { run, events, due: due.into_iter().map(|(_, due)| due).collect() });
        }
        runs.sort_by(|one, other| one.run.as_str().cmp(other.run.as_str()));
        Ok((run, runs))
    }
}
