//! Continues a run that was started before, by this process or another one.

use reknit_engine::RequestDigest;
use reknit_journal::{Journal, LeaseError, RunReadError, RunSummary};
use reknit_protocol::RunId;

use super::{DriveOutcome, Driver, restore};
use crate::error::DriveError;
use crate::run_start::RunStart;
use crate::snapshot::Changes;
use crate::telemetry::log::TARGET;
use crate::watcher::Watcher;

/// How often a run is looked at that another process drives.
pub(super) const LOOK_MS: i64 = 200;

/// Stands for the digest of a run that a version without digests has started.
const NO_DIGEST: &str = "unknown";

impl Driver {
    /// Returns the outcome of a run that was started before: at once if it has ended. A run that stopped or waited is resumed. While
    /// another process drives it, this waits, and takes it over if that process ends before the run does.
    ///
    /// Cancelling the driver ends the wait with [`LeaseError::Held`]; the run goes on.
    pub async fn join(&self, run: &RunId) -> Result<DriveOutcome, DriveError> {
        let mut is_first_look = true;
        loop {
            let held = match self.resume(run).await {
                Err(ended @ DriveError::Lease(LeaseError::Ended { .. })) => return self.outcome_of(run, ended).await,
                Err(held @ DriveError::Lease(LeaseError::Held { .. })) => held,
                result => return result,
            };
            if std::mem::take(&mut is_first_look) {
                tracing::info!(target: TARGET, run = %run, "another process drives the run; its outcome is waited for: {held}");
            }
            let clock = &self.executor().clock;
            tokio::select! {
                () = clock.sleep_until(clock.now_ms().saturating_add(LOOK_MS)) => {}
                () = self.shared.cancel.cancelled() => return Err(held),
            }
        }
    }

    /// The outcome of a run that an older build ended without storing its result; `ended` if it has none.
    async fn outcome_of(&self, run: &RunId, ended: DriveError) -> Result<DriveOutcome, DriveError> {
        let (journal, telemetry) = (&self.executor().journal, &self.executor().telemetry);
        let state =
            restore(journal, run, telemetry, &Watcher::default(), (Changes::Refused, self.shared.migrations)).await?;
        state.machine.ending().map(Into::into).ok_or(ended)
    }

    /// The run that the same start has begun before. Fails if its id belongs to another request, or to another owner.
    pub async fn started_before(&self, start: &RunStart) -> Result<Option<RunSummary>, DriveError> {
        started_before(&self.executor().journal, self.owner_name(), start.run(), start.request_digest()).await
    }

    /// Fails if the run was started with another request, or by another owner.
    pub(crate) async fn check_request(&self, run: &RunId, request: &RequestDigest) -> Result<(), DriveError> {
        match started_before(&self.executor().journal, self.owner_name(), run, request).await? {
            Some(_) => Ok(()),
            None => Err(RunReadError::NoSuchRun(run.clone()).into()),
        }
    }

    fn owner_name(&self) -> Option<&str> {
        self.shared.owner.as_ref().map(|owner| owner.name.as_str())
    }
}

/// The run that this owner has started before with this id. Fails if the id belongs to another request, or to another owner.
pub async fn started_before(
    journal: &Journal,
    owner: Option<&str>,
    run: &RunId,
    request: &RequestDigest,
) -> Result<Option<RunSummary>, DriveError> {
    let summary = match journal.summary(run).await {
        Ok(summary) => summary,
        Err(RunReadError::NoSuchRun(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    // Before the requests are compared: whoever does not own the run learns nothing about it.
    if summary.owner.as_deref() != owner {
        return Err(DriveError::OtherOwner(run.clone()));
    }
    let stored = journal.request_of(run).await?;
    if stored.as_deref() == Some(request.as_str()) {
        return Ok(Some(summary));
    }
    Err(DriveError::other_request(run, stored, request))
}

impl DriveError {
    /// The run was started with another request than this one.
    pub fn other_request(run: &RunId, stored: Option<String>, given: &RequestDigest) -> Self {
        let stored = stored.unwrap_or_else(|| NO_DIGEST.to_owned());
        Self::OtherRequest { run: run.clone(), stored, given: given.to_string() }
    }
}
