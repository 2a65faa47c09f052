//! Continues a run that has ended without all of its results.

use reknit_engine::Machine;
use reknit_journal::{Lease, LeaseError};
use reknit_protocol::RunId;

use super::drain::{Entry, in_own_task};
use super::run_loop::RunLoop;
use super::{DriveOutcome, Driver, restore};
use crate::error::DriveError;
use crate::replay::DrivenMachine;
use crate::snapshot::Changes;

impl Driver {
    /// Tries the failed and skipped steps of a run again, in the same journal, and drives it until it ends or waits for a person.
    /// Done steps stay done, and the limits of the run count anew. A call that may have taken effect keeps its idempotency key; if
    /// it is unsafe, a check or a person decides first whether it is sent again.
    ///
    /// Only a run that ended as partial, as failed or at a limit can be retried, and no session.
    pub async fn retry(&self, run: &RunId) -> Result<DriveOutcome, DriveError> {
        let (driver, run) = (self.clone(), run.clone());
        in_own_task(async move |abandoned| {
            let (driver, lease, state) = Box::pin(driver.reopen(&run)).await?;
            let mailbox = driver.mailbox(&run);
            RunLoop::new(driver, lease, state, mailbox, abandoned).drive_or_drain(Entry::Retried).await
        })
        .await
    }

    /// Leases a run that has ended, if it can be retried. Also returns this driver with a clock that is not behind the run.
    async fn reopen(&self, run: &RunId) -> Result<(Self, Lease, DrivenMachine), DriveError> {
        let (journal, telemetry) = (&self.executor().journal, &self.executor().telemetry);
        if journal.summary(run).await?.status.is_none() {
            return Err(LeaseError::NotEnded(run.clone()).into());
        }
        let state =
            restore(journal, run, telemetry, &self.shared.watcher, (Changes::Refused, self.shared.migrations)).await?;
        let refused = |reason| Err(DriveError::NotRetriable { run: run.clone(), reason });
        match &state.machine {
            Machine::Session(_) => return refused("a session ends with its report; start another one"),
            Machine::Run(machine) if !machine.can_be_retried() => {
                return refused("only a run that is partial, that failed or that reached a limit can be retried");
            }
            Machine::Run(_) => {}
        }
        let lease = journal.reopen(run, &self.shared.holder, self.term(), state.machine.event_count()).await?;
        Ok((self.not_before(state.machine.now_ms()), lease, state))
    }
}
