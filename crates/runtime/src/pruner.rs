//! Prunes the journal beside the runs of a process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use reknit_journal::{Journal, Pruned, Retention, StorageError};

use crate::telemetry::log::TARGET;

/// How often a process looks for runs to prune, at most.
const INTERVAL_MS: i64 = 60_000;

/// How much of the file may stay unused: new runs fill it again, which is cheaper than growing the file.
const KEEP_FREE_BYTES: u64 = 64_000_000;

/// Prunes a journal now and then, when runs start: a journal to which nothing is added needs no pruning.
#[derive(Debug)]
pub(crate) struct Pruner {
    journal: Journal,
    retention: Retention,
    looked_ms: AtomicI64,
    is_pruning: AtomicBool,
}

impl Pruner {
    /// `None` for a journal in memory, which forgets ended runs by itself, and if there is no limit.
    pub(crate) fn new(journal: &Journal, retention: Retention) -> Option<Arc<Self>> {
        let is_needed = journal.path().is_some() && retention != Retention::default();
        let (looked_ms, is_pruning) = (AtomicI64::new(i64::MIN), AtomicBool::new(false));
        is_needed.then(|| Arc::new(Self { journal: journal.clone(), retention, looked_ms, is_pruning }))
    }

    /// A run has started. Prunes in the background, if the last time is long ago.
    pub(crate) fn on_start(self: &Arc<Self>, now_ms: i64) {
        let looked_ms = self.looked_ms.load(Ordering::Relaxed);
        // A clock that was set back must not keep this from pruning.
        let is_due = looked_ms == i64::MIN || now_ms.abs_diff(looked_ms) >= INTERVAL_MS.unsigned_abs();
        if !is_due || self.is_pruning.swap(true, Ordering::Relaxed) {
            return;
        }
        self.looked_ms.store(now_ms, Ordering::Relaxed);
        let pruner = Arc::clone(self);
        tokio::spawn(async move {
            match pruner.prune(now_ms).await {
                Ok(Pruned { runs: 0, .. }) => {}
                Ok(Pruned { runs, .. }) => tracing::info!(target: TARGET, runs, "pruned ended runs from the journal"),
                Err(error) => tracing::warn!(target: TARGET, "the journal could not be pruned: {error}"),
            }
            pruner.is_pruning.store(false, Ordering::Relaxed);
        });
    }

    async fn prune(&self, now_ms: i64) -> Result<Pruned, StorageError> {
        let pruned = self.journal.prune(&self.retention, now_ms).await?;
        let size = self.journal.size().await?;
        if size.free_bytes > KEEP_FREE_BYTES.max(size.used_bytes / 4) {
            self.journal.shrink(KEEP_FREE_BYTES).await?;
        }
        Ok(pruned)
    }
}
