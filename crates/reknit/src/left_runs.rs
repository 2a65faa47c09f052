//! Unfinished runs that this process leaves alone, because it does not have the tools that they need.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use reknit_plan::Catalogue;
use reknit_protocol::RunId;

/// The runs, each with the tools that were known when it was looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct LeftRuns(Arc<Mutex<HashMap<RunId, Arc<Catalogue>>>>);

impl LeftRuns {
    /// Leaves a run alone. Returns whether it was not left before.
    pub(crate) fn leave(&self, run: &RunId, tools: Arc<Catalogue>) -> bool {
        self.runs().insert(run.clone(), tools).is_none()
    }

    /// Forgets a run that goes on.
    pub(crate) fn forget(&self, run: &RunId) {
        self.runs().remove(run);
    }

    /// Whether a run was left, whatever the tools were.
    pub(crate) fn contains(&self, run: &RunId) -> bool {
        self.runs().contains_key(run)
    }

    /// Whether a run was left with the same tools: nothing has changed since.
    pub(crate) fn is_known(&self, run: &RunId, tools: &Arc<Catalogue>) -> bool {
        self.runs().get(run).is_some_and(|known| Arc::ptr_eq(known, tools))
    }

    fn runs(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, Arc<Catalogue>>> {
        // Whoever panicked had changed one entry or none.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
