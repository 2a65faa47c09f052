//! Large results of a run, which stay in the journal until they are needed.

use std::sync::Arc;

use parking_lot::Mutex;
use reknit_engine::{Event, EventKind, ResultSource, result_of};
use reknit_journal::{Journal, RunReadError};
use reknit_protocol::{RunId, Value};

/// Loads the results of a run from its events in the journal.
#[derive(Debug)]
pub struct JournalResults {
    journal: Journal,
    run: RunId,
    failure: Mutex<Option<ResultError>>,
}

/// Why a result could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    #[error(transparent)]
    Read(#[from] RunReadError),
    #[error("event {0} does not contain a result")]
    NoResult(u64),
}

impl JournalResults {
    pub fn new(journal: &Journal, run: &RunId) -> Arc<Self> {
        Arc::new(Self { journal: journal.clone(), run: run.clone(), failure: Mutex::default() })
    }

    /// The first failure since the last call. After a failure the machine must be discarded: it went on without the result.
    pub fn take_failure(&self) -> Option<ResultError> {
        self.failure.lock().take()
    }

    fn read(&self, event: u64) -> Result<Value, ResultError> {
        let stored = self.journal.event_blocking(&self.run, event)?;
        match serde_json::from_str::<Event>(&stored.body).map(|event| event.kind) {
            Ok(EventKind::ToolAnswered { reply, .. }) => Ok(result_of(&reply.body)),
            _ => Err(ResultError::NoResult(event)),
        }
    }
}

impl ResultSource for JournalResults {
    fn load(&self, event: u64) -> Option<Value> {
        match self.read(event) {
            Ok(value) => Some(value),
            Err(error) => {
                self.failure.lock().get_or_insert(error);
                None
            }
        }
    }
}
