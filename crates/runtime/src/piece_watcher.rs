//! Watchers of the pieces of answers while models write them.

use std::fmt;
use std::sync::Arc;

use reknit_engine::AskModel;
use reknit_model_api::Delta;

type OnPiece = dyn Fn(&AskModel, Delta<'_>) + Send + Sync;

/// Sees each piece of a model's answer when it arrives, before the answer is committed: the attempt may still fail, and then the
/// pieces count for nothing. The run waits for the callback: it must return at once.
#[derive(Clone)]
pub struct PieceWatcher {
    callback: Arc<OnPiece>,
}

impl PieceWatcher {
    /// A watcher that calls back with the question and the piece.
    pub fn new(callback: impl Fn(&AskModel, Delta<'_>) + Send + Sync + 'static) -> Self {
        Self { callback: Arc::new(callback) }
    }

    pub(crate) fn call(&self, ask: &AskModel, delta: Delta<'_>) {
        (self.callback)(ask, delta);
    }
}

impl fmt::Debug for PieceWatcher {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("PieceWatcher").finish_non_exhaustive()
    }
}
