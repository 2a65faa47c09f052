//! Drives one run in one process: starts due effects, waits, commits events, and repeats.

use std::collections::HashMap;

use reknit_engine::{Effect, EventKind};
use reknit_journal::{Lease, Mailbox, SignalId};
use reknit_protocol::EffectId;
use tokio::task::{AbortHandle, JoinSet};

use super::{DriveOutcome, Driver};
use crate::effect_executor::EffectOutcome;
use crate::error::DriveError;
use crate::replay::DrivenMachine;
use crate::signals::to_event;

/// How often the lease is renewed. A third of its duration: two renewals may fail before another process may take over.
const RENEW_MS: i64 = 10_000;

/// Drives one run.
pub(super) struct RunLoop<'a> {
    driver: &'a Driver,
    lease: Lease,
    pub(super) state: DrivenMachine,
    mailbox: Mailbox,
    tasks: JoinSet<(EffectId, EffectOutcome)>,
    in_progress: HashMap<EffectId, AbortHandle>,
    /// The calls to abort, with the end of their grace periods.
    aborting: HashMap<EffectId, i64>,
    is_cancel_sent: bool,
    is_stop_sent: bool,
    renew_at_ms: i64,
}

/// Why the loop stops waiting.
enum Wakeup {
    Outcome(EffectId, EffectOutcome),
    Message(SignalId, EventKind),
    /// The task of an aborted effect has ended, which the run does not need to know.
    TaskAborted,
    Cancel,
    Stop,
    RenewLease,
    /// The grace period of an aborted call is over.
    GraceOver,
}

impl<'a> RunLoop<'a> {
    pub(super) fn new(driver: &'a Driver, lease: Lease, state: DrivenMachine) -> Self {
        let renew_at_ms = driver.executor.clock.now_ms().saturating_add(RENEW_MS);
        let mailbox = driver.executor.journal.mailbox(lease.run());
        Self {
            driver,
            mailbox,
            lease,
            state,
            tasks: JoinSet::new(),
            in_progress: HashMap::new(),
            aborting: HashMap::new(),
            is_cancel_sent: false,
            is_stop_sent: false,
            renew_at_ms,
        }
    }

    pub(super) async fn run(&mut self) -> Result<DriveOutcome, DriveError> {
        loop {
            if let Some(ending) = self.state.machine.ending() {
                return Ok(ending.into());
            }
            self.sync_tasks();
            if self.state.machine.is_waiting_for_person() && self.is_inbox_empty().await? {
                Box::pin(self.driver.executor.journal.release(&self.lease)).await?;
                return Ok(DriveOutcome::Waiting);
            }
            let wakeup = self.wait().await?;
            Box::pin(self.handle(wakeup)).await?;
        }
    }

    async fn handle(&mut self, wakeup: Wakeup) -> Result<(), DriveError> {
        match wakeup {
            Wakeup::Outcome(id, outcome) => {
                let mut events = Vec::new();
                self.finish(&id, outcome, &mut events)?;
                // All outcomes that are ready go into the same commit.
                while let Some(joined) = self.tasks.try_join_next() {
                    match joined {
                        Ok((id, outcome)) => self.finish(&id, outcome, &mut events)?,
                        Err(error) if error.is_cancelled() => {}
                        // The task panicked, so its effect has no outcome, and the run would wait for it forever.
                        Err(error) => return Err(DriveError::Task(error.to_string())),
                    }
                }
                self.commit(events, Vec::new()).await
            }
            Wakeup::Message(id, event) => self.commit(vec![event], vec![id]).await,
            Wakeup::TaskAborted => Ok(()),
            Wakeup::Cancel => {
                self.is_cancel_sent = true;
                self.commit(vec![EventKind::Cancelled], Vec::new()).await
            }
            Wakeup::Stop => {
                self.is_stop_sent = true;
                self.commit(vec![EventKind::Stopped], Vec::new()).await
            }
            Wakeup::RenewLease => {
                self.lease = self.driver.executor.journal.renew(&self.lease, self.driver.term()).await?;
                self.renew_at_ms = self.driver.executor.clock.now_ms().saturating_add(RENEW_MS);
                Ok(())
            }
            Wakeup::GraceOver => {
                let now_ms = self.driver.executor.clock.now_ms();
                let over: Vec<EffectId> =
                    self.aborting.iter().filter(|(_, until)| **until <= now_ms).map(|(id, _)| id.clone()).collect();
                for id in &over {
                    self.aborting.remove(id);
                    if let Some(handle) = self.in_progress.remove(id) {
                        handle.abort();
                    }
                }
                let events = over.into_iter().map(|effect| EventKind::Interrupted { effect }).collect();
                self.commit(events, Vec::new()).await
            }
        }
    }

    /// Removes a finished effect and adds its event. The outcome of an effect that was dropped meanwhile is ignored.
    fn finish(&mut self, id: &EffectId, outcome: EffectOutcome, events: &mut Vec<EventKind>) -> Result<(), DriveError> {
        if self.in_progress.remove(id).is_some() {
            self.aborting.remove(id);
            events.extend(outcome?);
        }
        Ok(())
    }

    /// Starts the effects that are due and aborts those that are no longer due.
    fn sync_tasks(&mut self) {
        let pending = self.state.pending.clone();
        let due: Vec<&EffectId> = pending
            .iter()
            .filter_map(|effect| match effect {
                Effect::Abort { effect, .. } => Some(effect),
                effect => effect.id(),
            })
            .collect();
        let dropped: Vec<EffectId> = self.in_progress.keys().filter(|id| !due.contains(id)).cloned().collect();
        for id in dropped {
            if let Some(handle) = self.in_progress.remove(&id) {
                handle.abort();
            }
        }
        let now_ms = self.driver.executor.clock.now_ms();
        for effect in pending {
            match effect {
                Effect::Abort { effect, grace_ms } => {
                    // An effect that another process had started gets no grace period.
                    let grace_ms = if self.in_progress.contains_key(&effect) { grace_ms } else { 0 };
                    self.aborting.entry(effect).or_insert_with(|| now_ms.saturating_add_unsigned(grace_ms));
                }
                Effect::AskPerson(_) | Effect::Finish(_) | Effect::Report(_) => {}
                effect => self.spawn(effect),
            }
        }
    }

    fn spawn(&mut self, effect: Effect) {
        let Some(id) = effect.id().cloned() else { return };
        if self.in_progress.contains_key(&id) {
            return;
        }
        let (executor, task_id) = (self.driver.executor.clone(), id.clone());
        let handle = match effect {
            // Its own task: one that can also make a call is ten times as large, and every run sleeps until its deadline.
            Effect::Sleep { until_ms, .. } => self.tasks.spawn(async move {
                executor.clock.sleep_until(until_ms).await;
                (task_id.clone(), Ok(Some(EventKind::Woke { effect: task_id })))
            }),
            effect => {
                let traceparent = executor.telemetry.traceparent(&self.state.machine, &effect);
                let lease = self.lease.clone();
                self.tasks.spawn(async move { (task_id, executor.execute(effect, lease, traceparent).await) })
            }
        };
        self.in_progress.insert(id, handle);
    }

    async fn wait(&mut self) -> Result<Wakeup, DriveError> {
        let Self { driver, tasks, aborting, mailbox, .. } = self;
        let executor = &driver.executor;
        let renew = executor.clock.sleep_until(self.renew_at_ms);
        let grace_at_ms = aborting.values().min().copied();
        let grace = async {
            match grace_at_ms {
                Some(at_ms) => executor.clock.sleep_until(at_ms).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            joined = tasks.join_next(), if !tasks.is_empty() => match joined {
                Some(Ok((id, outcome))) => Ok(Wakeup::Outcome(id, outcome)),
                Some(Err(error)) if !error.is_cancelled() => Err(DriveError::Task(error.to_string())),
                Some(Err(_)) | None => Ok(Wakeup::TaskAborted),
            },
            message = mailbox.next() => {
                let message = message?;
                Ok(Wakeup::Message(message.id, to_event(&message.signal)))
            },
            () = driver.cancel.cancelled(), if !self.is_cancel_sent => Ok(Wakeup::Cancel),
            () = driver.stop.cancelled(), if !self.is_stop_sent => Ok(Wakeup::Stop),
            () = renew => Ok(Wakeup::RenewLease),
            () = grace => Ok(Wakeup::GraceOver),
        }
    }

    async fn is_inbox_empty(&self) -> Result<bool, DriveError> {
        Ok(Box::pin(self.driver.executor.journal.inbox(self.lease.run())).await?.is_empty())
    }

    /// Applies events, commits them together with the messages that they consume, and passes them to telemetry and watcher.
    pub(super) async fn commit(&mut self, kinds: Vec<EventKind>, consumed: Vec<SignalId>) -> Result<(), DriveError> {
        if kinds.is_empty() && consumed.is_empty() {
            return Ok(());
        }
        let (append, events) = self.driver.apply(&mut self.state, kinds, consumed)?;
        if let Err(source) = self.driver.executor.journal.append(&self.lease, append).await {
            let effects: Vec<String> =
                events.iter().filter_map(|event| event.kind.effect()).map(ToString::to_string).collect();
            return Err(if effects.is_empty() { source.into() } else { DriveError::NotStored { effects, source } });
        }
        self.driver.notify(&mut self.state, &events);
        Ok(())
    }
}
