//! One process driving one run, from one event to the next.

use std::collections::HashMap;

use reknit_engine::{Effect, Event, What};
use reknit_journal::{Append, Lease, Mailbox, SignalId};
use reknit_protocol::EffectId;
use tokio::task::{AbortHandle, JoinSet};

use super::{Driver, Ended};
use crate::error::DriveError;
use crate::lessons;
use crate::record::{Fold, to_row};
use crate::signals::meaning;

/// A third of the term: two renewals may fail before anybody else may take the run.
const RENEW_MS: i64 = 10_000;

/// One process driving one run.
pub(super) struct Turn<'a> {
    driver: &'a Driver,
    lease: Lease,
    pub(super) fold: Fold,
    mailbox: Mailbox,
    tasks: JoinSet<(EffectId, Outcome)>,
    under_way: HashMap<EffectId, AbortHandle>,
    aborting: HashMap<EffectId, i64>,
    cancel_told: bool,
    stop_told: bool,
    renew_at_ms: i64,
}

type Outcome = Result<Option<What>, reknit_journal::FenceError>;

/// What wakes a driver.
enum Wake {
    Outcome(EffectId, Outcome),
    Letter(SignalId, What),
    /// A task that was dropped has ended: nothing has happened to the run.
    Nothing,
    Cancel,
    Stop,
    Renew,
    GraceOver,
}

impl<'a> Turn<'a> {
    pub(super) fn new(driver: &'a Driver, lease: Lease, fold: Fold) -> Self {
        let renew_at_ms = driver.hands.clock.now_ms().saturating_add(RENEW_MS);
        let mailbox = driver.hands.journal.mailbox(lease.run());
        Self {
            driver,
            mailbox,
            lease,
            fold,
            tasks: JoinSet::new(),
            under_way: HashMap::new(),
            aborting: HashMap::new(),
            cancel_told: false,
            stop_told: false,
            renew_at_ms,
        }
    }

    pub(super) async fn run(&mut self) -> Result<Ended, DriveError> {
        loop {
            if let Some(ending) = self.fold.run.ending() {
                return Ok(ending.into());
            }
            self.begin_what_is_due();
            if self.fold.run.is_waiting_for_person() && Box::pin(self.inbox()).await?.is_empty() {
                Box::pin(self.driver.hands.journal.release(&self.lease)).await?;
                return Ok(Ended::Waiting);
            }
            let wake = self.wait().await?;
            Box::pin(self.on_wake(wake)).await?;
        }
    }

    async fn on_wake(&mut self, wake: Wake) -> Result<(), DriveError> {
        match wake {
            Wake::Outcome(id, outcome) => {
                let mut happened = Vec::new();
                self.settle(&id, outcome, &mut happened)?;
                // Whatever else is ready by now goes into the same commit.
                while let Some(joined) = self.tasks.try_join_next() {
                    match joined {
                        Ok((id, outcome)) => self.settle(&id, outcome, &mut happened)?,
                        Err(error) if error.is_cancelled() => {}
                        // Nobody would ever answer this effect, and the run would wait for it forever.
                        Err(error) => return Err(DriveError::Task(error.to_string())),
                    }
                }
                self.take_in(happened, Vec::new()).await
            }
            Wake::Letter(id, what) => self.take_in(vec![what], vec![id]).await,
            Wake::Nothing => Ok(()),
            Wake::Cancel => {
                self.cancel_told = true;
                self.take_in(vec![What::Cancelled], Vec::new()).await
            }
            Wake::Stop => {
                self.stop_told = true;
                self.take_in(vec![What::Stopped], Vec::new()).await
            }
            Wake::Renew => {
                self.lease = self.driver.hands.journal.renew(&self.lease, self.driver.term()).await?;
                self.renew_at_ms = self.driver.hands.clock.now_ms().saturating_add(RENEW_MS);
                Ok(())
            }
            Wake::GraceOver => {
                let now_ms = self.driver.hands.clock.now_ms();
                let over: Vec<EffectId> =
                    self.aborting.iter().filter(|(_, until)| **until <= now_ms).map(|(id, _)| id.clone()).collect();
                for id in &over {
                    self.aborting.remove(id);
                    if let Some(handle) = self.under_way.remove(id) {
                        handle.abort();
                    }
                }
                let happened = over.into_iter().map(|effect| What::Interrupted { effect }).collect();
                self.take_in(happened, Vec::new()).await
            }
        }
    }

    fn settle(&mut self, id: &EffectId, outcome: Outcome, happened: &mut Vec<What>) -> Result<(), DriveError> {
        // What was dropped meanwhile has nobody waiting for it.
        if self.under_way.remove(id).is_some() {
            self.aborting.remove(id);
            happened.extend(outcome?);
        }
        Ok(())
    }

    /// Begins what is due and drops what is not due any more.
    fn begin_what_is_due(&mut self) {
        let pending = self.fold.pending.clone();
        let due: Vec<&EffectId> = pending
            .iter()
            .filter_map(|effect| match effect {
                Effect::Abort { effect, .. } => Some(effect),
                effect => effect.id(),
            })
            .collect();
        let dropped: Vec<EffectId> = self.under_way.keys().filter(|id| !due.contains(id)).cloned().collect();
        for id in dropped {
            if let Some(handle) = self.under_way.remove(&id) {
                handle.abort();
            }
        }
        let now_ms = self.driver.hands.clock.now_ms();
        for effect in pending {
            match effect {
                Effect::Abort { effect, grace_ms } => {
                    // An effect that is not under way here ends at once: another process had begun it.
                    let grace_ms = if self.under_way.contains_key(&effect) { grace_ms } else { 0 };
                    self.aborting.entry(effect).or_insert_with(|| now_ms.saturating_add_unsigned(grace_ms));
                }
                Effect::AskPerson(_) | Effect::Finish(_) | Effect::Report(_) => {}
                effect => self.begin(effect),
            }
        }
    }

    fn begin(&mut self, effect: Effect) {
        let Some(id) = effect.id().cloned() else { return };
        if self.under_way.contains_key(&id) {
            return;
        }
        let (hands, name) = (self.driver.hands.clone(), id.clone());
        let handle = match effect {
            // A task with room for a call would be ten times as large, and every run has a deadline.
            Effect::Sleep { until_ms, .. } => self.tasks.spawn(async move {
                hands.clock.sleep_until(until_ms).await;
                (name.clone(), Ok(Some(What::Woke { effect: name })))
            }),
            effect => {
                let traceparent = hands.telemetry.traceparent(&self.fold.run, &effect);
                let lease = self.lease.clone();
                self.tasks.spawn(async move { (name, hands.perform(effect, lease, traceparent).await) })
            }
        };
        self.under_way.insert(id, handle);
    }

    /// Waits for the next thing to happen.
    async fn wait(&mut self) -> Result<Wake, DriveError> {
        let Self { driver, tasks, aborting, mailbox, .. } = self;
        let hands = &driver.hands;
        let renew = hands.clock.sleep_until(self.renew_at_ms);
        let grace_at_ms = aborting.values().min().copied();
        let grace = async {
            match grace_at_ms {
                Some(at_ms) => hands.clock.sleep_until(at_ms).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            joined = tasks.join_next(), if !tasks.is_empty() => match joined {
                Some(Ok((id, outcome))) => Ok(Wake::Outcome(id, outcome)),
                Some(Err(error)) if !error.is_cancelled() => Err(DriveError::Task(error.to_string())),
                Some(Err(_)) | None => Ok(Wake::Nothing),
            },
            letter = mailbox.next() => {
                let letter = letter?;
                Ok(Wake::Letter(letter.id, meaning(&letter.signal)))
            },
            () = driver.cancel.cancelled(), if !self.cancel_told => Ok(Wake::Cancel),
            () = driver.stop.cancelled(), if !self.stop_told => Ok(Wake::Stop),
            () = renew => Ok(Wake::Renew),
            () = grace => Ok(Wake::GraceOver),
        }
    }

    async fn inbox(&self) -> Result<Vec<reknit_journal::Letter>, DriveError> {
        Ok(self.driver.hands.journal.inbox(self.lease.run()).await?)
    }

    /// Applies what happened, commits it, and tells of it.
    pub(super) async fn take_in(&mut self, happened: Vec<What>, consumed: Vec<SignalId>) -> Result<(), DriveError> {
        if happened.is_empty() && consumed.is_empty() {
            return Ok(());
        }
        let mut append = Append::at(self.fold.run.event_count());
        append.consumed = consumed;
        let mut told = Vec::with_capacity(happened.len());
        let at_ms = self.driver.hands.clock.now_ms();
        for what in happened {
            let event = Event { at_ms, what };
            let due = self.fold.apply(&event)?;
            append = append.event(to_row(&event, due)?);
            told.push(event);
        }
        if let Some(ending) = self.fold.run.ending() {
            append = append.ending(ending.status().as_str(), self.driver.hands.clock.now_ms());
            append.lessons = lessons::of(&self.fold.run);
        }
        self.driver.hands.journal.append(&self.lease, append).await?;
        self.driver.tell(&mut self.fold, &told);
        Ok(())
    }
}
