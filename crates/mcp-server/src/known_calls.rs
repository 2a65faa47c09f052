//! A call that changes something is made once. The id of its run follows from the caller and the call, so the journal knows it:
//! also after a reconnect, and if a client opens a connection for each call.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use reknit::{Reknit, RunHandle};
use reknit_engine::Started;
use reknit_journal::RunReadError;
use reknit_protocol::{RunId, Sha256, hex};
use tokio::sync::Mutex;

use crate::result::is_in_doubt;

/// How long a call that succeeded is not made again without a reason. One that may have taken effect is not forgotten.
const REMEMBERED_MS: i64 = 10 * 60 * 1_000;
/// How often the same call can have been made before.
const MAX_NUMBER: u32 = 10_000;

/// The run of a call.
#[derive(Debug)]
pub(crate) enum CallRun {
    /// The call is made now.
    First(RunHandle),
    /// The same call was made before, or is under way.
    Repeated(RunHandle),
}

/// The calls that this process has started and that go on.
#[derive(Debug, Default)]
pub(crate) struct KnownCalls {
    running: Mutex<HashMap<RunId, RunHandle>>,
}

impl KnownCalls {
    /// Starts a call, unless the same caller has made the same call before.
    pub(crate) async fn start(
        self: &Arc<Self>,
        reknit: &Reknit,
        (caller, call): (&str, &str),
        started: Started,
    ) -> Result<CallRun, RunReadError> {
        let digest = hex(&Sha256::digest(format!("{caller}\0{call}").as_bytes()));
        let prefix = digest.get(..32).unwrap_or(&digest);
        // One at a time: of two equal calls at once only one is made.
        let mut running = self.running.lock().await;
        for number in 1..MAX_NUMBER {
            let run = RunId::new(format!("mcp-{prefix}-{number}"));
            if let Some(handle) = running.get(&run) {
                return Ok(CallRun::Repeated(handle.clone()));
            }
            let summary = match reknit.runtime().journal.summary(&run).await {
                Ok(summary) => summary,
                Err(RunReadError::NoSuchRun(_)) => {
                    let handle = reknit.start(started.with_id(run.clone()));
                    running.insert(run, handle.clone());
                    self.forget_at_end(handle.clone());
                    return Ok(CallRun::First(handle));
                }
                Err(error) => return Err(error),
            };
            if summary.status.is_none() {
                // Another process drives it, or it died and the run goes on here.
                return Ok(CallRun::Repeated(reknit.resume(&run)));
            }
            let handle = reknit.follow(&run);
            let outcome = handle.outcome().await;
            let is_recent = outcome.is_ok() && now_ms().saturating_sub(summary.updated_ms) <= REMEMBERED_MS;
            if is_recent || is_in_doubt(&outcome) {
                return Ok(CallRun::Repeated(handle));
            }
        }
        Ok(CallRun::First(reknit.start(started)))
    }

    /// From its end on the journal knows the call.
    fn forget_at_end(self: &Arc<Self>, handle: RunHandle) {
        let known = Arc::clone(self);
        tokio::spawn(async move {
            let _ = handle.outcome().await;
            known.running.lock().await.remove(&handle.id);
        });
    }
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
