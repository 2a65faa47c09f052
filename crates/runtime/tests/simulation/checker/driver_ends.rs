//! Checks how a driver ends: an error needs a cause, and leaves no lease behind.

use reknit_journal::{AppendError, CreateError, FenceError, LeaseError, RunReadError};
use reknit_runtime::{DriveError, DriveOutcome};

use super::{Checked, Checker};
use crate::process::{DiskFault, DiskFaultKind, Process};

/// How many renewals in a row may fail.
const TOLERATED_RENEWALS: usize = 2;

impl Checker {
    /// Checks the result of a driver that began at `began_ms`.
    pub(crate) fn check_driver_end(
        &self,
        process: &Process,
        run_id: &str,
        began_ms: u64,
        result: &Result<DriveOutcome, DriveError>,
    ) -> Checked {
        let faults: Vec<DiskFault> = process.faults.lock().expect("no panic").clone();
        let faults: Vec<DiskFault> = faults.into_iter().filter(|fault| fault.at_ms >= began_ms).collect();
        let run = self.runs.get(run_id);
        match result {
            Ok(DriveOutcome::Waiting) => Ok(()),
            Ok(outcome) => {
                let ending = run.and_then(|run| run.machine.ending()).map(DriveOutcome::from);
                if ending.as_ref() == Some(outcome) {
                    Ok(())
                } else {
                    Err(format!("{run_id}: another outcome is in the journal"))
                }
            }
            Err(error) => {
                if !self.has_cause(process, run_id, began_ms, error, &faults) {
                    return Err(format!("{run_id}: the driver of p{} failed without a cause: {error:?}", process.pid));
                }
                let is_held =
                    run.and_then(|run| run.summary.lease.as_ref()).is_some_and(|lease| lease.holder.pid == process.pid);
                let may_hold = faults.iter().any(|fault| {
                    fault.kind != DiskFaultKind::Slow
                        && ["release", "snapshot", "acquire", "create"].contains(&fault.operation)
                });
                if is_held && !may_hold && !matches!(error, DriveError::Lease(_)) {
                    return Err(format!("{run_id}: the failed driver of p{} keeps the lease: {error}", process.pid));
                }
                Ok(())
            }
        }
    }

    /// Whether something that happened explains the error of a driver.
    fn has_cause(
        &self,
        process: &Process,
        run_id: &str,
        began_ms: u64,
        error: &DriveError,
        faults: &[DiskFault],
    ) -> bool {
        let failed = |operations: &[&str]| {
            let is_cause =
                |fault: &&DiskFault| fault.kind != DiskFaultKind::Slow && operations.contains(&fault.operation);
            faults.iter().filter(is_cause).count()
        };
        let lost_lease = || self.has_mishap(process.pid, run_id, began_ms, u64::MAX);
        match error {
            DriveError::Lease(LeaseError::Held { .. } | LeaseError::Ended { .. } | LeaseError::NoSuchRun(_)) => true,
            DriveError::Lease(LeaseError::Storage(_)) => failed(&["acquire"]) > 0,
            DriveError::Create(CreateError::Storage(_)) => failed(&["create"]) > 0,
            DriveError::Fence(FenceError::Fenced { .. }) => lost_lease() || failed(&["release"]) > 0,
            DriveError::Fence(FenceError::Storage(_)) => {
                failed(&["claim", "release"]) > 0 || failed(&["renew"]) > TOLERATED_RENEWALS
            }
            DriveError::Append(AppendError::Fenced { .. })
            | DriveError::NotStored { source: AppendError::Fenced { .. }, .. } => {
                lost_lease() || failed(&["snapshot"]) > 0
            }
            DriveError::Append(AppendError::Storage(_)) => failed(&["append", "snapshot"]) > 0,
            DriveError::NotStored { source: AppendError::Storage(_), .. } => failed(&["append"]) > 0,
            DriveError::Read(RunReadError::Storage(_)) | DriveError::Storage(_) => {
                failed(&["read"]) > 0
                    || failed(&["inbox"]) > 0 && (lost_lease() || self.reads_inbox(process, run_id, began_ms))
            }
            _ => false,
        }
    }

    /// Whether a driver of the process reads the inbox itself, and not only its mailbox: as it takes the run over, or because
    /// the run waits for a person.
    fn reads_inbox(&self, process: &Process, run_id: &str, began_ms: u64) -> bool {
        let Some(run) = self.runs.get(run_id) else { return true };
        let has_resumed = run.commits.iter().any(|(pid, at_ms)| *pid == process.pid && *at_ms >= began_ms);
        run.machine.is_waiting_for_person() || !has_resumed
    }
}
