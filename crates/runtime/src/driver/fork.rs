//! Starts forks, and keeps those that send nothing from sending.

use std::sync::Arc;

use reknit_engine::{ForkWrites, Machine};
use reknit_journal::{Append, Lease, NewRun};

use super::drain::{Entry, in_own_task};
use super::{DriveOutcome, Driver};
use crate::error::DriveError;
use crate::fork::{Fork, UnsentWrites};
use crate::remote_engine::RemoteError;
use crate::replay::{DrivenMachine, RestoreError, to_row};

impl Driver {
    /// Writes a fork into the journal, as a run of its own with the answers that it starts with, and drives it until it ends or waits
    /// for a person.
    ///
    /// Unless it was made with [`ForkWrites::Sent`], it sends only calls that read, whichever process drives it: any other call gets
    /// the answer that the origin got for it, or fails.
    pub async fn start_fork(&self, fork: Fork) -> Result<DriveOutcome, DriveError> {
        if self.shared.remote.is_some() {
            return Err(RemoteError::Unsupported("forks").into());
        }
        let driver = self.clone();
        in_own_task(async move |abandoned| {
            let (driver, lease, state) = Box::pin(driver.create_fork(fork)).await?;
            let mailbox = driver.mailbox(lease.run());
            driver.drive((lease, state), mailbox, abandoned, Entry::New).await
        })
        .await
    }

    /// Writes a fork into the journal, all of it or nothing. Also returns this driver as the fork needs it.
    async fn create_fork(&self, fork: Fork) -> Result<(Self, Lease, DrivenMachine), DriveError> {
        let run = fork.run().clone();
        let Fork { events, title, request, .. } = fork;
        let (journal, telemetry) = (&self.executor().journal, &self.executor().telemetry);
        let (first, rest) = events.split_first().ok_or(RestoreError::Empty)?;
        let (mut state, due) = DrivenMachine::begin(first, journal, telemetry)?;
        state.notify_replayed(first, &self.shared.watcher);
        let first = to_row(first, due)?;
        let mut append = Append::at(1);
        for event in rest {
            let due = state.apply(event)?;
            state.notify_replayed(event, &self.shared.watcher);
            append = append.event(to_row(event, due)?);
        }
        // What happened before the point is part of the traces and metrics of the other run.
        if let Some(reporter) = &mut state.reporter {
            reporter.forget();
        }
        let driver = self.not_before(state.machine.now_ms()).for_machine(&state.machine).await?;
        let owner = self.shared.owner.as_ref().map(|owner| owner.name.clone());
        let new = NewRun { owner, rest: Some(append), ..NewRun::new(run, title, request.to_string(), first) };
        let lease = journal.create(new, &self.shared.holder, self.term()).await?;
        state.release_results();
        Ok((driver, lease, state))
    }

    /// This driver as the machine needs it: a fork that sends nothing gets the answers of its origin.
    pub(crate) async fn for_machine(mut self, machine: &Machine) -> Result<Self, DriveError> {
        if let Some(fork) = machine.fork().filter(|fork| fork.writes == ForkWrites::Recorded) {
            let inner = Arc::clone(&self.executor().transport);
            let unsent = UnsentWrites::load(inner, &self.executor().journal, &fork.run).await?;
            let executor = &mut self.parts_mut().executor;
            executor.transport = Arc::new(unsent);
            executor.claims_keys = false;
        }
        Ok(self)
    }
}
