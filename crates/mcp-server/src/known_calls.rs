//! A call that changes something is made once. The id of its run follows from the caller and the call, so the journal knows it:
//! also after a reconnect, and if a client opens a connection for each call.
//!
//! Others can guess the caller and the call, and so the id. So a run under it counts only if it has the same owner.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use parking_lot::Mutex;
use reknit::runtime::system_ms;
use reknit::{Reknit, RunHandle};
use reknit_engine::Started;
use reknit_journal::RunReadError;
use reknit_protocol::{RunId, Sha256, hex};

use crate::result::is_in_doubt;

/// Starts the runs of calls, unless too many are in progress. A process that serves several clients implements this.
pub trait RunLimit: Debug + Send + Sync {
    /// Starts a run, or says why not: the client is told that its call was not made.
    fn start(&self, start: Box<dyn FnOnce() -> RunHandle + '_>) -> Result<RunHandle, String>;
}

#[derive(Debug)]
pub(crate) struct NoLimit;

impl RunLimit for NoLimit {
    fn start(&self, start: Box<dyn FnOnce() -> RunHandle + '_>) -> Result<RunHandle, String> {
        Ok(start())
    }
}

/// How long a call that succeeded on another connection is not made again without a reason: long enough for a client that opens a
/// connection for each call, and short enough for the next conversation. One that may have taken effect is not forgotten.
const REMEMBERED_MS: i64 = 60 * 1_000;
/// How often the same call can have been made before.
const MAX_NUMBER: u32 = 1_000;
/// How many different calls are kept in memory.
const MAX_KNOWN: usize = 10_000;

#[derive(Debug)]
pub(crate) enum CallRun {
    First(RunHandle),
    /// The same call was made before, or is under way.
    Repeated(RunHandle),
}

#[derive(Debug, Default)]
pub(crate) struct KnownCalls {
    /// By the digest of a caller and a call.
    calls: Mutex<HashMap<String, Arc<tokio::sync::Mutex<KnownCall>>>>,
    /// Whether all calls come from one connection.
    has_one_client: bool,
}

/// A call that was made, perhaps more than once.
#[derive(Debug)]
struct KnownCall {
    /// The number of its last run. Those before it are over.
    number: u32,
    /// The last run, as long as it goes on here.
    running: Option<RunHandle>,
    /// The last run that this process has started.
    own: Option<RunId>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum KnownCallError {
    /// Whether it was made before is not known.
    #[error("the journal cannot be read: {0}")]
    Journal(#[from] RunReadError),
    #[error("{0}")]
    Refused(String),
    #[error("the same call has been made {MAX_NUMBER} times")]
    TooOften,
}

impl KnownCalls {
    /// For one connection, whose calls are remembered as long as it lasts.
    pub(crate) fn of_one_client() -> Self {
        Self { has_one_client: true, ..Self::default() }
    }

    /// Starts a call, unless the same caller has made the same call before.
    pub(crate) async fn start(
        self: &Arc<Self>,
        (reknit, limit): (&Reknit, &dyn RunLimit),
        (caller, call): (&str, &str),
        started: Started,
    ) -> Result<CallRun, KnownCallError> {
        let digest = hex(&Sha256::digest(format!("{caller}\0{call}").as_bytes()));
        let prefix = digest.get(..32).unwrap_or(&digest).to_owned();
        let known = self.known(&prefix);
        // Of two equal calls at once only one is made; others do not wait.
        let mut known = known.lock().await;
        for number in known.number..MAX_NUMBER {
            known.number = number;
            let run = RunId::new(format!("{}{prefix}-{number}", RunId::MCP_PREFIX));
            if let Some(handle) = known.running.as_ref().filter(|handle| handle.id == run) {
                return Ok(CallRun::Repeated(handle.clone()));
            }
            let summary = match reknit.runtime().journal.summary(&run).await {
                Ok(summary) => summary,
                Err(RunReadError::NoSuchRun(_)) => {
                    let start = || reknit.start(started.with_id(run.clone()));
                    let handle = limit.start(Box::new(start)).map_err(KnownCallError::Refused)?;
                    known.own = Some(run);
                    known.running = Some(handle.clone());
                    self.forget_at_end(prefix, handle.clone());
                    return Ok(CallRun::First(handle));
                }
                Err(error) => return Err(error.into()),
            };
            if !reknit.runtime().owns(&summary) {
                continue;
            }
            if summary.status.is_none() {
                // Another process drives it, or it died and the run goes on here.
                return Ok(CallRun::Repeated(reknit.resume(&run)));
            }
            let handle = reknit.follow(&run);
            let outcome = handle.outcome().await;
            let is_own = self.has_one_client && known.own.as_ref() == Some(&run);
            let is_recent = system_ms().saturating_sub(summary.updated_ms) <= REMEMBERED_MS;
            if (outcome.is_ok() && (is_own || is_recent)) || is_in_doubt(&outcome) {
                return Ok(CallRun::Repeated(handle));
            }
        }
        Err(KnownCallError::TooOften)
    }

    fn known(&self, prefix: &str) -> Arc<tokio::sync::Mutex<KnownCall>> {
        let mut calls = self.calls.lock();
        if calls.len() >= MAX_KNOWN {
            // What goes on is in use elsewhere; the journal knows all others.
            calls.retain(|_, known| {
                Arc::strong_count(known) > 1 || known.try_lock().is_ok_and(|known| known.running.is_some())
            });
        }
        let new = || Arc::new(tokio::sync::Mutex::new(KnownCall { number: 1, running: None, own: None }));
        Arc::clone(calls.entry(prefix.to_owned()).or_insert_with(new))
    }

    /// From its end on the journal knows the call.
    fn forget_at_end(self: &Arc<Self>, prefix: String, handle: RunHandle) {
        let calls = Arc::clone(self);
        tokio::spawn(async move {
            let _ = handle.outcome().await;
            let known = calls.known(&prefix);
            let mut known = known.lock().await;
            if known.running.as_ref().is_some_and(|running| running.id == handle.id) {
                known.running = None;
            }
        });
    }
}
