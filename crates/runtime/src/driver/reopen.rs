//! Continues a run that has ended: its failed steps, or the conversation of a session.

use reknit_engine::{EventKind, Machine};
use reknit_journal::{Lease, LeaseError, Reopening};
use reknit_model_api::Money;
use reknit_protocol::RunId;

use super::drain::{Entry, in_own_task};
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
        self.reopen_with(run, EventKind::Retried).await
    }

    /// Goes on with a session that has ended: with the next message of the user. The session knows what it knew, and the limits
    /// count anew for this message. The outcome is the report about it.
    ///
    /// Only a session can be continued like this, and only after its report.
    pub async fn follow_up(&self, run: &RunId, input: &str) -> Result<DriveOutcome, DriveError> {
        self.reopen_with(run, EventKind::FollowedUp { input: input.to_owned() }).await
    }

    async fn reopen_with(&self, run: &RunId, event: EventKind) -> Result<DriveOutcome, DriveError> {
        let (driver, run) = (self.clone(), run.clone());
        in_own_task(async move |abandoned| {
            let (driver, lease, state, changed) = Box::pin(driver.reopen(&run, &event)).await?;
            let mailbox = driver.mailbox(&run);
            let entry = Entry::Reopened(changed.into_iter().chain([event]).collect());
            driver.drive((lease, state), mailbox, abandoned, entry).await
        })
        .await
    }

    /// Leases a run that has ended, if the event can continue it. Also returns this driver with a clock that is not behind the run,
    /// and the event that limits its cost to what the budget of the caller leaves, if that is another limit than before.
    async fn reopen(
        &self,
        run: &RunId,
        event: &EventKind,
    ) -> Result<(Self, Lease, DrivenMachine, Option<EventKind>), DriveError> {
        let (journal, telemetry) = (&self.executor().journal, &self.executor().telemetry);
        if journal.summary(run).await?.status.is_none() {
            return Err(LeaseError::NotEnded(run.clone()).into());
        }
        let state =
            restore(journal, run, telemetry, &self.shared.watcher, (Changes::Refused, self.shared.migrations)).await?;
        check_reopening(run, event, &state.machine)?;
        let reservation = self.reservation(state.machine.policy().limits.money).await?;
        let budget = reservation.as_ref().map(|new| Money::from_nanos(new.amount));
        let changed = (budget != state.machine.policy().limits.budget).then_some(EventKind::BudgetChanged { budget });
        let (expected_len, cost_so_far) = (state.machine.event_count(), state.machine.spent().cost.nanos());
        let reopening = Reopening { expected_len, cost_so_far, reservation };
        let driver = self.not_before(state.machine.now_ms()).for_machine(&state.machine).await?;
        let lease = journal.reopen(run, &self.shared.holder, self.term(), reopening).await?;
        Ok((driver, lease, state, changed))
    }
}

/// Whether the event continues what has ended.
pub(crate) fn check_reopening(run: &RunId, event: &EventKind, machine: &Machine) -> Result<(), DriveError> {
    let run = run.clone();
    match (event, machine) {
        (EventKind::FollowedUp { .. }, Machine::Session(_)) => Ok(()),
        (EventKind::FollowedUp { .. }, Machine::Run(_)) => Err(DriveError::NotASession(run)),
        (_, Machine::Session(_)) => {
            Err(DriveError::NotRetriable { run, reason: "a session ends with its report; start another one" })
        }
        (_, Machine::Run(machine)) if !machine.can_be_retried() => {
            let reason = "only a run that is partial, that failed or that reached a limit can be retried";
            Err(DriveError::NotRetriable { run, reason })
        }
        (_, Machine::Run(_)) => Ok(()),
    }
}
