//! A limit for the runs of all clients together.

use std::fmt::Debug;

use reknit::RunHandle;

/// Starts the runs of calls, unless too many are in progress. A process that serves several clients implements this.
pub trait RunLimit: Debug + Send + Sync {
    /// Starts a run, or says why not: the client is told that its call was not made.
    fn start(&self, start: Box<dyn FnOnce() -> RunHandle + '_>) -> Result<RunHandle, String>;
}

/// Starts every run.
#[derive(Debug)]
pub(crate) struct NoLimit;

impl RunLimit for NoLimit {
    fn start(&self, start: Box<dyn FnOnce() -> RunHandle + '_>) -> Result<RunHandle, String> {
        Ok(start())
    }
}
