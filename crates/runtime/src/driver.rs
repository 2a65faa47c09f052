//! The driver: does what a run wants, writes down what came of it, and asks again what it wants.
//!
//! Commit, then act: nothing that an event made due is begun before the event is in the journal.

mod turn;

use std::sync::Arc;

use reknit_engine::{Answer, Effect, Ending, Event, Machine, Report, What};
use reknit_journal::{Append, Holder, Journal, Lease, NewRun, SignalId, Term};
use reknit_protocol::RunId;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::beginning::Beginning;
use crate::clock::Clock;
use crate::edge::Edge;
use crate::error::DriveError;
use crate::gates::{CallLimits, Gates, Rests};
use crate::lessons;
use crate::perform::Hands;
use crate::record::{Fold, RestoreError, replay, to_row};
use crate::signals::meanings;
use crate::telemetry::Telemetry;
use turn::Turn;

/// How long a lease lasts without being renewed. Longer than a pause of a busy machine, short enough to wait for.
const TERM_MS: u64 = 30_000;

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
        started.set_trace_parent(self.hands.telemetry.parent());
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
            Effect::CallTool(call) if claims.iter().any(|claim| *claim == call.id.to_string()) => {
                Some(What::Interrupted { effect: call.id.clone() })
            }
            _ => None,
        });
        let sent = meanings(&letters);
        // What was sent comes first: of a run that is to end, nothing is prepared to be sent again.
        let happened = std::iter::once(What::Resumed).chain(sent).chain(in_doubt).collect();
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
