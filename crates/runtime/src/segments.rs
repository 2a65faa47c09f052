//! A second driver, which keeps nothing between two segments: load the state, apply what came, save, hand out the calls.
//!
//! This is how an engine that spreads runs over machines works, and it may deliver an outcome more than once. It is here
//! to prove that the machine and the journal allow it.

use std::collections::HashSet;

use reknit_engine::{Effect, Event, MACHINE_VERSION, Machine, What};
use reknit_journal::{Append, Lease, Mailbox, SignalId, Snapshot};
use reknit_protocol::EffectId;
use reknit_protocol::RunId;
use tokio::task::JoinSet;

use crate::beginning::Beginning;
use crate::driver::{Driver, Ended};
use crate::error::DriveError;
use crate::lessons;
use crate::record::{Fold, RestoreError, to_row};
use crate::signals::meanings;

/// How much of its term a lease has left when it is renewed.
const LEFT_MS: i64 = 20_000;

/// Drives runs in segments.
#[derive(Debug, Clone)]
pub struct Segments {
    driver: Driver,
}

/// What the machine was told that nobody has to say twice.
#[derive(Debug, Default)]
struct Told {
    cancel: bool,
    stop: bool,
}

type Outcome = Result<Option<What>, reknit_journal::FenceError>;

impl Segments {
    /// Works with what a driver works with.
    pub fn new(driver: Driver) -> Self {
        Self { driver }
    }

    /// Begins a run and drives it as far as it goes.
    pub async fn start(&self, started: impl Into<Beginning>) -> Result<Ended, DriveError> {
        let (lease, mut fold, event) = self.driver.create(started.into()).await?;
        self.driver.tell(&mut fold, &[event]);
        if fold.run.ending().is_none() {
            self.driver.hands().journal.save_snapshot(&lease, snapshot(&fold.run)?).await?;
        }
        self.run(lease, &fold.run).await
    }

    /// Takes a run over and drives it on.
    pub async fn resume(&self, run: &RunId) -> Result<Ended, DriveError> {
        let lease = self.driver.acquire(run).await?;
        let fold = match self.load(&lease).await {
            Ok(fold) => fold,
            Err(DriveError::Restore(error)) => {
                let len = self.driver.hands().journal.events(run, 0).await?.len();
                self.driver.leave(&lease, len as u64, &error).await?;
                return Err(error.into());
            }
            Err(error) => return Err(error),
        };
        let (happened, consumed) = self.driver.after_restart(run, &fold).await?;
        let run = self.segment(&lease, happened, consumed).await?;
        self.run(lease, &run).await
    }

    async fn run(&self, lease: Lease, run: &Machine) -> Result<Ended, DriveError> {
        let mut tasks: JoinSet<(EffectId, Outcome)> = JoinSet::new();
        let mut handed_out: HashSet<EffectId> = HashSet::new();
        let mut run = run.clone();
        let mut mailbox = self.driver.hands().journal.mailbox(lease.run());
        let mut told = Told::default();
        let mut lease = lease;
        let mut again: Vec<What> = Vec::new();
        loop {
            if let Some(ending) = run.ending() {
                return Ok(ending.into());
            }
            if self.driver.hands().clock.now_ms() >= lease.until_ms() - LEFT_MS {
                lease = self.driver.hands().journal.renew(&lease, self.driver.term()).await?;
            }
            let mut batch = std::mem::take(&mut again);
            for effect in run.pending() {
                match effect {
                    // Nothing can be reached once it is handed out: what becomes of it is not known.
                    Effect::Abort { effect, .. } => batch.push(What::Interrupted { effect }),
                    Effect::AskPerson(_) | Effect::Finish(_) | Effect::Report(_) => {}
                    effect => self.hand_out(effect, &run, &lease, (&mut tasks, &mut handed_out)),
                }
            }
            let letters = self.driver.hands().journal.inbox(lease.run()).await?;
            if run.is_waiting_for_person() && letters.is_empty() && batch.is_empty() {
                self.driver.hands().journal.release(&lease).await?;
                return Ok(Ended::Waiting);
            }
            batch.extend(meanings(&letters));
            let consumed = letters.iter().map(|letter| letter.id).collect();
            if batch.is_empty() {
                let renew = self.driver.hands().clock.sleep_until(lease.until_ms() - LEFT_MS);
                let outcome = tokio::select! {
                    outcome = self.next(&mut tasks, &mut mailbox, &mut told) => outcome?,
                    () = renew => None,
                };
                again.extend(outcome.clone());
                batch.extend(outcome);
            }
            if !batch.is_empty() {
                run = self.segment(&lease, batch, consumed).await?;
            }
        }
    }

    fn hand_out(
        &self,
        effect: Effect,
        run: &Machine,
        lease: &Lease,
        (tasks, handed_out): (&mut JoinSet<(EffectId, Outcome)>, &mut HashSet<EffectId>),
    ) {
        let Some(id) = effect.id().cloned() else { return };
        if handed_out.insert(id.clone()) {
            let (hands, lease) = (self.driver.hands().clone(), lease.clone());
            let traceparent = hands.telemetry.traceparent(run, &effect);
            tasks.spawn(async move { (id, hands.perform(effect, lease, traceparent).await) });
        }
    }

    /// The next outcome; nothing if a letter came or a cancellation is wanted first.
    async fn next(
        &self,
        tasks: &mut JoinSet<(EffectId, Outcome)>,
        mailbox: &mut Mailbox,
        told: &mut Told,
    ) -> Result<Option<What>, DriveError> {
        tokio::select! {
            joined = tasks.join_next(), if !tasks.is_empty() => match joined {
                Some(Ok((_, outcome))) => Ok(outcome?),
                Some(Err(error)) => Err(DriveError::Task(error.to_string())),
                None => Ok(None),
            },
            letter = mailbox.next() => letter.map(|_| None).map_err(Into::into),
            () = self.driver.cancelled(), if !told.cancel => {
                told.cancel = true;
                Ok(Some(What::Cancelled))
            }
            () = self.driver.stopped(), if !told.stop => {
                told.stop = true;
                Ok(Some(What::Stopped))
            }
        }
    }

    /// One segment: load, apply, save in one transaction. Nothing of the run is kept besides what is saved.
    async fn segment(&self, lease: &Lease, batch: Vec<What>, consumed: Vec<SignalId>) -> Result<Machine, DriveError> {
        let mut fold = self.load(lease).await?;
        let mut append = Append::at(fold.run.event_count());
        append.consumed = consumed;
        let mut told = Vec::with_capacity(batch.len());
        let at_ms = self.driver.hands().clock.now_ms();
        for what in batch {
            let event = Event { at_ms, what };
            let due = fold.apply(&event)?;
            append = append.event(to_row(&event, due)?);
            told.push(event);
        }
        match fold.run.ending() {
            Some(ending) => {
                append = append.ending(ending.status().as_str(), self.driver.hands().clock.now_ms());
                append.lessons = lessons::of(&fold.run);
            }
            None => append.snapshot = Some(snapshot(&fold.run)?),
        }
        self.driver.hands().journal.append(lease, append).await?;
        self.driver.tell(&mut fold, &told);
        Ok(fold.run)
    }

    async fn load(&self, lease: &Lease) -> Result<Fold, DriveError> {
        let (journal, telemetry) = (&self.driver.hands().journal, &self.driver.hands().telemetry);
        if let Some(snapshot) = journal.snapshot(lease.run()).await? {
            let run = Machine::restore(&snapshot.body)
                .map_err(|source| RestoreError::Refused { seq: snapshot.len, source })?;
            // Events without a snapshot behind them: another driver wrote them.
            let newer = journal.events(lease.run(), snapshot.len).await?;
            let mut fold = crate::record::replay_onto(run, &newer, &journal.due(lease.run()).await?)?;
            // What has been told is in no snapshot: it follows from the events.
            if let Some(teller) = telemetry.teller(&fold.run) {
                fold.teller = Some(teller.after(&journal.events(lease.run(), 0).await?)?);
            }
            return Ok(fold);
        }
        let records = journal.events(lease.run(), 0).await?;
        Ok(crate::record::replay(&records, &journal.due(lease.run()).await?, telemetry)?)
    }
}

fn snapshot(run: &Machine) -> Result<Snapshot, DriveError> {
    let body = run.snapshot().map_err(|source| RestoreError::Refused { seq: run.event_count(), source })?;
    Ok(Snapshot { len: run.event_count(), machine_version: MACHINE_VERSION, body })
}
