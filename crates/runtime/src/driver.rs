//! The driver: does what a run wants, writes down what came of it, and asks again what it wants.
//!
//! Commit, then act: nothing that an event made due is begun before the event is in the journal.

use std::collections::HashMap;
use std::sync::Arc;

use reknit_engine::{Answer, Effect, EffectId, Ending, Event, Machine, Report, What};
use reknit_journal::{Append, Holder, Journal, Lease, Mailbox, NewRun, SignalId, Term};
use reknit_protocol::RunId;
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::beginning::Beginning;
use crate::clock::Clock;
use crate::edge::Edge;
use crate::error::DriveError;
use crate::gates::{CallLimits, Gates, Rests};
use crate::lessons;
use crate::perform::Hands;
use crate::record::{Fold, RestoreError, replay, to_row};
use crate::signals::meaning;
use crate::telemetry::Telemetry;

/// How long a lease lasts without being renewed. Longer than a pause of a busy machine, short enough to wait for.
const TERM_MS: u64 = 30_000;

/// A third of the term: two renewals may fail before anybody else may take the run.
const RENEW_MS: i64 = 10_000;

/// How many runs are written down at once. Event 0 holds all that a run will ever know, so thousands of them are not made
/// to wait for the disk; this many are, so that commits are shared.
const STARTS: usize = 256;

/// Is told of every event once it is committed, with the run as it is then.
pub type Watcher = Arc<dyn Fn(&Machine, &Event) + Send + Sync>;

/// How driving ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    /// The run is over.
    Finished(Box<Answer>),
    /// The session is over.
    Reported(Box<Report>),
    /// Nothing but a person's decision can take it on.
    Waiting,
}

impl From<Ending<'_>> for Ended {
    fn from(ending: Ending<'_>) -> Self {
        match ending {
            Ending::Answer(answer) => Self::Finished(Box::new(answer.clone())),
            Ending::Report(report) => Self::Reported(Box::new(report.clone())),
        }
    }
}

/// Drives runs and sessions.
#[derive(Clone)]
pub struct Driver {
    hands: Hands,
    holder: Holder,
    watcher: Watcher,
    cancel: CancellationToken,
    stop: CancellationToken,
    starts: Arc<Semaphore>,
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Driver").field("hands", &self.hands).field("holder", &self.holder).finish_non_exhaustive()
    }
}

impl Driver {
    /// A driver that writes to this journal and acts through this edge, with gates of its own.
    pub fn new(journal: Journal, edge: Arc<dyn Edge>, clock: Arc<dyn Clock>, limits: CallLimits) -> Self {
        let gates = Gates::new(limits, Rests::default(), Arc::clone(&clock));
        Self::through(journal, edge, clock, Arc::new(gates))
    }

    /// The same, through gates that others may go through too.
    pub fn through(journal: Journal, edge: Arc<dyn Edge>, clock: Arc<dyn Clock>, gates: Arc<Gates>) -> Self {
        let hands = Hands { journal, edge, clock, gates, telemetry: Telemetry::none() };
        let watcher: Watcher = Arc::new(|_, _| ());
        Self {
            hands,
            holder: Holder::this_process(),
            watcher,
            cancel: CancellationToken::new(),
            stop: CancellationToken::new(),
            starts: Arc::new(Semaphore::new(STARTS)),
        }
    }

    /// The same driver, which tells of every committed event.
    #[must_use]
    pub fn watched_by(mut self, watcher: Watcher) -> Self {
        self.watcher = watcher;
        self
    }

    /// The same driver, which passes on what is told about its runs.
    #[must_use]
    pub fn telling(mut self, telemetry: Telemetry) -> Self {
        self.hands.telemetry = telemetry;
        self
    }

    /// The same driver, which ends its runs as cancelled when the token is.
    #[must_use]
    pub fn cancelled_by(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// The same driver, which lets its sessions come to their reports when the token is cancelled.
    #[must_use]
    pub fn stopped_by(mut self, stop: CancellationToken) -> Self {
        self.stop = stop;
        self
    }

    /// Begins a run or a session and drives it as far as it goes.
    pub async fn start(&self, started: impl Into<Beginning>) -> Result<Ended, DriveError> {
        // In a box that is gone before the run is driven: a future is kept for as long as its run waits, and so is the room
        // for every other future that it ever waits for.
        let (lease, fold) = Box::pin(self.create_and_tell(started.into())).await?;
        Turn::new(self, lease, fold).run().await
    }

    async fn create_and_tell(&self, started: Beginning) -> Result<(Lease, Fold), DriveError> {
        // It is never closed, so a permit always comes.
        let _permit = self.starts.acquire().await.ok();
        let (lease, mut fold, event) = self.create(started).await?;
        self.tell(&mut fold, &[event]);
        Ok((lease, fold))
    }

    /// Creates a run in the journal without driving it.
    pub(crate) async fn create(&self, mut started: Beginning) -> Result<(Lease, Fold, Event), DriveError> {
        if let Beginning::Run(run) = &mut started {
            lessons::tell(run, &self.hands.journal).await?;
        }
        let (run, title) = (started.run().clone(), started.title().to_owned());
        let event = Event { at_ms: self.hands.clock.now_ms(), what: started.into_event() };
        let (fold, due) = Fold::begin(&event, &self.hands.telemetry)?;
        let ending = fold.run.ending().map(Ending::status);
        let new = NewRun { run, title, first: to_row(&event, due)? };
        let lease = self.hands.journal.create(new, &self.holder, self.term()).await?;
        if let Some(status) = ending {
            // It was over before it began, as an impossible plan is.
            let append = Append::at(1).ending(status.as_str(), event.at_ms);
            self.hands.journal.append(&lease, append).await?;
        }
        Ok((lease, fold, event))
    }

    /// Takes a run over and drives it on. A run that somebody else drives is left alone.
    pub async fn resume(&self, run: &RunId) -> Result<Ended, DriveError> {
        let lease = self.acquire(run).await?;
        let records = self.hands.journal.events(run, 0).await?;
        let due = self.hands.journal.due(run).await?;
        let fold = match replay(&records, &due, &self.hands.telemetry) {
            Ok(fold) => fold,
            Err(error) => {
                self.leave(&lease, records.len() as u64, &error).await?;
                return Err(error.into());
            }
        };
        let mut turn = Turn::new(self, lease, fold);
        let (happened, consumed) = self.after_restart(run, &turn.fold).await?;
        turn.take_in(happened, consumed).await?;
        turn.run().await
    }

    /// Leaves a run that cannot be restored. One that wants something else than it wanted is ended: nobody may guess what
    /// it would have done. Its events are kept. Others may be readable by another version.
    pub(crate) async fn leave(&self, lease: &Lease, len: u64, error: &RestoreError) -> Result<(), DriveError> {
        if let RestoreError::Mismatch { .. } = error {
            let append = Append::at(len).ending("replay_mismatch", self.hands.clock.now_ms());
            self.hands.journal.append(lease, append).await?;
        } else {
            self.hands.journal.release(lease).await?;
        }
        Ok(())
    }

    /// What a process that takes a run over knows to have happened: it was taken over, what was claimed is in doubt, and
    /// whatever came meanwhile. A cancellation must be heard before anything begins again.
    pub(crate) async fn after_restart(
        &self,
        run: &RunId,
        fold: &Fold,
    ) -> Result<(Vec<What>, Vec<SignalId>), DriveError> {
        let letters = self.hands.journal.inbox(run).await?;
        let claims = self.hands.journal.claims(run).await?;
        let in_doubt = fold.pending.iter().filter_map(|effect| match effect {
            Effect::CallTool(call) if claims.iter().any(|claim| claim == call.id.as_str()) => {
                Some(What::Interrupted { effect: call.id.clone() })
            }
            _ => None,
        });
        let sent = letters.iter().map(|letter| meaning(&letter.signal));
        let happened = std::iter::once(What::Resumed).chain(in_doubt).chain(sent).collect();
        Ok((happened, letters.iter().map(|letter| letter.id).collect()))
    }

    /// Takes the lease. One whose process is dead is inherited at once.
    pub(crate) async fn acquire(&self, run: &RunId) -> Result<Lease, DriveError> {
        Ok(self.hands.journal.acquire_or_inherit(run, &self.holder, self.term()).await?)
    }

    pub(crate) fn term(&self) -> Term {
        Term { now_ms: self.hands.clock.now_ms(), ttl_ms: TERM_MS }
    }

    pub(crate) fn hands(&self) -> &Hands {
        &self.hands
    }

    /// Resolves when the runs of this driver are to end.
    pub(crate) async fn cancelled(&self) {
        self.cancel.cancelled().await;
    }

    /// Resolves when the sessions of this driver are to come to their reports.
    pub(crate) async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// Tells of events that are committed.
    pub(crate) fn tell(&self, fold: &mut Fold, events: &[Event]) {
        self.hands.telemetry.pass_on(fold.teller.as_mut());
        for event in events {
            (self.watcher)(&fold.run, event);
        }
    }
}

/// One process driving one run.
struct Turn<'a> {
    driver: &'a Driver,
    lease: Lease,
    fold: Fold,
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
    fn new(driver: &'a Driver, lease: Lease, fold: Fold) -> Self {
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

    async fn run(&mut self) -> Result<Ended, DriveError> {
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
                let lease = self.lease.clone();
                self.tasks.spawn(async move { (name, hands.perform(effect, lease).await) })
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
    async fn take_in(&mut self, happened: Vec<What>, consumed: Vec<SignalId>) -> Result<(), DriveError> {
        if happened.is_empty() && consumed.is_empty() {
            return Ok(());
        }
        let mut append = Append::at(self.fold.run.event_count());
        append.consumed = consumed;
        let mut told = Vec::with_capacity(happened.len());
        for what in happened {
            let event = Event { at_ms: self.driver.hands.clock.now_ms(), what };
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
