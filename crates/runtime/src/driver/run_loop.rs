//! Drives one run in one process: starts due effects, waits, commits events, and repeats.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use reknit_engine::{Effect, EventKind, memory_size_of};
use reknit_journal::{AppendError, FenceError, InboxMessage, Lease, Mailbox, RunReadError, SignalId, StorageError};
use reknit_protocol::{EffectId, RunId, SmallMap};
use reknit_tools::off_workers;
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::agent_call::call_agent;
use super::due_calls::{ClaimedCall, Claims, claim_due_calls};
use super::{DriveOutcome, Driver};
use crate::effect_executor::{CallStops, EffectOutcome};
use crate::error::DriveError;
use crate::replay::DrivenMachine;
use crate::signals::{note_before_reopening, to_event};
use crate::snapshot::snapshot_of;
use crate::telemetry::log::TARGET;

/// How often the lease is renewed. A third of its duration: two renewals may fail before another process may take over.
const RENEW_MS: i64 = 10_000;
/// How many renewals in a row may fail.
const MAX_FAILED_RENEWALS: u32 = 2;
/// A wait of more than this is worth a snapshot.
const LONG_WAIT_MS: i64 = 60_000;
/// How long the inbox is not read after a read failed.
const INBOX_PAUSE_MS: i64 = 1_000;

/// How many runs of this process commit at the same time. Enough to share commits, and a bound on memory: a commit holds its
/// events, and those of a run that ends its whole answer, as text until they are written.
static COMMITS: Semaphore = Semaphore::const_new(512);

/// Drives one run.
pub(super) struct RunLoop {
    pub(super) driver: Driver,
    pub(super) lease: Arc<Lease>,
    pub(super) state: DrivenMachine,
    mailbox: Mailbox,
    /// When the inbox is read again after a failure.
    inbox_at_ms: i64,
    pub(super) tasks: JoinSet<(EffectId, EffectOutcome)>,
    pub(super) in_progress: SmallMap<EffectId, EffectTask>,
    /// The calls that the last commit claimed. They are made next.
    pub(super) claimed: BTreeMap<EffectId, ClaimedCall>,
    /// The calls to abort, with the end of their grace periods.
    pub(super) aborting: BTreeMap<EffectId, i64>,
    /// Cancelled when nobody waits for the run any more: no new call may be made.
    pub(super) abandoned: CancellationToken,
    is_cancel_sent: bool,
    is_stop_sent: bool,
    renew_at_ms: i64,
    failed_renewals: u32,
    /// How many events the run had when the last wait began with a snapshot.
    snapshot_len: Option<u64>,
    /// Events of the machine that the journal may not have.
    pub(super) unstored: Option<UnstoredEvents>,
    /// Whether the journal knows that the run has ended.
    pub(super) has_ended: bool,
    /// The sessions of agents that were told to end, because the run ends without them.
    cancelled_sessions: Vec<RunId>,
}

/// The task of an effect.
#[derive(Debug)]
pub(super) struct EffectTask {
    pub(super) handle: AbortHandle,
    /// Keeps a call from being sent that has not been. `None` for an outcome that is known.
    aborted: Option<CancellationToken>,
}

/// Events whose append failed.
#[derive(Debug)]
pub(super) struct UnstoredEvents {
    /// How many events the run had before them.
    pub(super) len: u64,
    pub(super) kinds: Vec<EventKind>,
    /// The messages that they consume.
    pub(super) consumed: Vec<SignalId>,
}

/// Why the loop stops waiting.
enum Wakeup {
    Outcome(EffectId, EffectOutcome),
    Message(SignalId, EventKind),
    InboxFailed(StorageError),
    /// The task of an aborted effect has ended, which the run does not need to know.
    TaskAborted,
    Cancel,
    Stop,
    RenewLease,
    /// A wait of the machine is over that ends at this time, and so are those that end earlier.
    SleepOver(i64),
    /// The grace period of an aborted call is over.
    GraceOver,
}

impl RunLoop {
    pub(super) fn new(
        driver: Driver,
        lease: Lease,
        state: DrivenMachine,
        mailbox: Mailbox,
        abandoned: CancellationToken,
    ) -> Box<Self> {
        let renew_at_ms = driver.executor().clock.now_ms().saturating_add(RENEW_MS);
        Box::new(Self {
            driver,
            mailbox,
            lease: Arc::new(lease),
            state,
            inbox_at_ms: i64::MIN,
            tasks: JoinSet::new(),
            in_progress: SmallMap::default(),
            claimed: BTreeMap::new(),
            aborting: BTreeMap::new(),
            abandoned,
            is_cancel_sent: false,
            is_stop_sent: false,
            renew_at_ms,
            failed_renewals: 0,
            snapshot_len: None,
            unstored: None,
            has_ended: false,
            cancelled_sessions: Vec::new(),
        })
    }

    /// Handles what happened while nobody drove the run.
    pub(super) async fn take_over(&mut self) -> Result<(), DriveError> {
        let (events, consumed) = self.driver.events_on_resume(self.lease.run(), &self.state).await?;
        self.commit(events, consumed, Claims::WithEvents).await
    }

    /// Opens the run again. Messages from before its end are not for what follows.
    pub(super) async fn reopen(&mut self, events: Vec<EventKind>) -> Result<(), DriveError> {
        let inbox = self.driver.executor().journal.inbox(self.lease.run()).await?;
        let events = inbox.iter().map(note_before_reopening).chain(events).collect();
        self.commit(events, inbox.iter().map(|message| message.id).collect(), Claims::WithEvents).await
    }

    pub(super) async fn run(&mut self) -> Result<DriveOutcome, DriveError> {
        loop {
            if let Some(ending) = self.state.machine.ending() {
                let outcome = ending.into();
                if !self.cancelled_sessions.is_empty() {
                    self.end_sessions().await;
                }
                return Ok(outcome);
            }
            self.sync_tasks();
            let now_ms = self.driver.executor().clock.now_ms();
            if self.state.waits_for_person(now_ms) && self.is_inbox_empty().await? {
                Box::pin(self.driver.release(&self.lease, &self.state)).await?;
                return Ok(DriveOutcome::Waiting);
            }
            self.save_before_long_wait().await?;
            let wakeup = self.wait().await?;
            Box::pin(self.handle(wakeup)).await?;
        }
    }

    /// Ends the sessions of agents that nobody waits for any more.
    async fn end_sessions(&mut self) {
        let sessions = std::mem::take(&mut self.cancelled_sessions);
        // What still drives them here gives them back.
        self.tasks.abort_all();
        self.driver.end_sessions(sessions).await;
    }

    async fn handle(&mut self, wakeup: Wakeup) -> Result<(), DriveError> {
        match wakeup {
            Wakeup::Outcome(id, outcome) => {
                let mut events = Vec::new();
                let taken = self.finish(&id, outcome, &mut events).and_then(|()| self.take_ready(&mut events));
                // What arrived before a failure is stored.
                self.commit(events, Vec::new(), Claims::unless_failed(&taken)).await?;
                taken
            }
            Wakeup::Message(id, event) => self.commit(vec![event], vec![id], Claims::WithEvents).await,
            Wakeup::InboxFailed(error) => {
                let run = self.lease.run();
                tracing::warn!(target: TARGET, run = %run, "the inbox cannot be read, and is read again: {error}");
                self.inbox_at_ms = self.driver.executor().clock.now_ms().saturating_add(INBOX_PAUSE_MS);
                Ok(())
            }
            Wakeup::TaskAborted => Ok(()),
            Wakeup::Cancel => {
                self.is_cancel_sent = true;
                self.commit(vec![EventKind::Cancelled], Vec::new(), Claims::WithEvents).await
            }
            Wakeup::Stop => {
                self.is_stop_sent = true;
                self.commit(vec![EventKind::Stopped], Vec::new(), Claims::WithEvents).await
            }
            Wakeup::RenewLease => {
                match self.driver.executor().journal.renew(&self.lease, self.driver.term()).await {
                    Ok(lease) => (self.lease, self.failed_renewals) = (Arc::new(lease), 0),
                    Err(FenceError::Storage(error)) if self.failed_renewals < MAX_FAILED_RENEWALS => {
                        self.failed_renewals += 1;
                        let run = self.lease.run();
                        tracing::warn!(target: TARGET, run = %run, "the lease cannot be renewed, and is renewed again: {error}");
                    }
                    Err(error) => return Err(error.into()),
                }
                self.renew_at_ms = self.driver.executor().clock.now_ms().saturating_add(RENEW_MS);
                Ok(())
            }
            Wakeup::SleepOver(at_ms) => self.wake_sleepers(at_ms).await,
            Wakeup::GraceOver => {
                let mut events = Vec::new();
                // A result that is ready is not thrown away.
                let taken = self.take_ready(&mut events);
                let now_ms = self.driver.executor().clock.now_ms();
                let over: Vec<EffectId> =
                    self.aborting.iter().filter(|(_, until)| **until <= now_ms).map(|(id, _)| id.clone()).collect();
                for id in &over {
                    self.aborting.remove(id);
                    if let Some(task) = self.in_progress.remove(id) {
                        task.handle.abort();
                    }
                }
                events.extend(over.into_iter().map(|effect| EventKind::Interrupted { effect }));
                self.commit(events, Vec::new(), Claims::unless_failed(&taken)).await?;
                taken
            }
        }
    }

    /// Ends the waits of the machine that end at this time or earlier.
    async fn wake_sleepers(&mut self, at_ms: i64) -> Result<(), DriveError> {
        let mut events = Vec::new();
        // A result that is ready counts before a deadline that ends at the same moment, which may not matter after it.
        let taken = self.take_ready(&mut events);
        if events.is_empty() && taken.is_ok() {
            let over = self.state.pending.iter().filter_map(sleep_end).filter(|(_, until_ms)| *until_ms <= at_ms);
            events.extend(over.map(|(id, _)| EventKind::Woke { effect: id.clone() }));
        }
        self.commit(events, Vec::new(), Claims::unless_failed(&taken)).await?;
        taken
    }

    /// Takes all outcomes that are ready, for the same commit.
    fn take_ready(&mut self, events: &mut Vec<EventKind>) -> Result<(), DriveError> {
        while let Some(joined) = self.tasks.try_join_next() {
            match joined {
                Ok((id, outcome)) => self.finish(&id, outcome, events)?,
                Err(error) if error.is_cancelled() => {}
                // The task panicked, so its effect has no outcome, and the run would wait for it forever.
                Err(error) => return Err(DriveError::Task(error.to_string())),
            }
        }
        Ok(())
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
        let due: HashSet<&EffectId> = pending
            .iter()
            .filter_map(|effect| match effect {
                Effect::Abort { effect, .. } => Some(effect),
                effect => effect.id(),
            })
            .collect();
        let dropped: Vec<EffectId> = self.in_progress.keys().filter(|id| !due.contains(id)).cloned().collect();
        for id in dropped {
            if let Some(task) = self.in_progress.remove(&id) {
                task.handle.abort();
            }
        }
        let now_ms = self.driver.executor().clock.now_ms();
        for effect in pending {
            match effect {
                Effect::Abort { effect, grace_ms } => {
                    let task = self.in_progress.get(&effect);
                    if let Some(aborted) = task.and_then(|task| task.aborted.as_ref()) {
                        aborted.cancel();
                    }
                    // An effect that another process had started gets no grace period.
                    let grace_ms = if task.is_some() { grace_ms } else { 0 };
                    self.aborting.entry(effect).or_insert_with(|| now_ms.saturating_add_unsigned(grace_ms));
                }
                // `wait` has one timer for all sleeps.
                Effect::Sleep { .. } | Effect::AskPerson(_) | Effect::Finish(_) | Effect::Report(_) => {}
                effect => self.spawn(effect),
            }
        }
    }

    fn spawn(&mut self, effect: Effect) {
        let Some(id) = effect.id().cloned() else { return };
        if self.in_progress.contains_key(&id) {
            return;
        }
        let (driver, task_id) = (self.driver.clone(), id.clone());
        let permit = match (self.claimed.remove(&id), &effect) {
            (Some(ClaimedCall { permit, claim }), Effect::CallTool(call)) => {
                match driver.executor().refusal(call, claim) {
                    Some(event) => return self.report(id, event),
                    None => Some(permit),
                }
            }
            _ => None,
        };
        let traceparent = driver.executor().telemetry.traceparent(&self.state.machine, &effect);
        let stops = CallStops { abandoned: self.abandoned.clone(), aborted: CancellationToken::new() };
        let aborted = Some(stops.aborted.clone());
        if let Effect::CallTool(call) = &effect
            && let Some(request) = self.state.machine.session_call(call)
        {
            let call = call_agent(&driver, self.lease.run(), (call, request), traceparent.as_deref(), stops.aborted);
            let handle = self.tasks.spawn(async move { (task_id, Ok(Some(call.await))) });
            self.in_progress.insert(id, EffectTask { handle, aborted });
            return;
        }
        // Boxed, so that the future has it once, and not once for each function that it is passed to.
        let task = Box::new((driver, effect, Arc::clone(&self.lease), traceparent, stops));
        let handle = self.tasks.spawn(async move {
            let (driver, effect, lease, traceparent, stops) = &*task;
            (task_id, driver.executor().execute(effect, lease, traceparent.as_deref(), permit, stops).await)
        });
        self.in_progress.insert(id, EffectTask { handle, aborted });
    }

    /// Reports an outcome as the task of an effect does.
    fn report(&mut self, id: EffectId, event: EventKind) {
        let outcome = (id.clone(), Ok(Some(event)));
        let handle = self.tasks.spawn(async move { outcome });
        self.in_progress.insert(id, EffectTask { handle, aborted: None });
    }

    async fn wait(&mut self) -> Result<Wakeup, DriveError> {
        let Self { driver, tasks, aborting, mailbox, inbox_at_ms, .. } = self;
        let executor = driver.executor();
        let sleeps = self.state.pending.iter().filter_map(sleep_end);
        let timer_at_ms = sleeps.map(|(_, until_ms)| until_ms).fold(self.renew_at_ms, i64::min);
        let timer = executor.clock.sleep_until(timer_at_ms);
        let grace_at_ms = aborting.values().min().copied();
        let grace = async {
            match grace_at_ms {
                Some(at_ms) => executor.clock.sleep_until(at_ms).await,
                None => std::future::pending().await,
            }
        };
        let message = async {
            if *inbox_at_ms > executor.clock.now_ms() {
                executor.clock.sleep_until(*inbox_at_ms).await;
            }
            mailbox.next().await
        };
        // In this order: what happens once or rarely cannot be delayed by a stream of outcomes, and a result that is ready is
        // taken before its grace period ends.
        tokio::select! {
            biased;
            () = self.abandoned.cancelled() => Err(DriveError::Abandoned),
            () = timer => Ok(if timer_at_ms == self.renew_at_ms { Wakeup::RenewLease } else { Wakeup::SleepOver(timer_at_ms) }),
            () = driver.shared.cancel.cancelled(), if !self.is_cancel_sent => Ok(Wakeup::Cancel),
            () = driver.shared.stop.cancelled(), if !self.is_stop_sent => Ok(Wakeup::Stop),
            message = message => match message {
                Ok(InboxMessage { id, signal, .. }) => Ok(Wakeup::Message(id, to_event(&signal))),
                Err(RunReadError::Storage(error)) => Ok(Wakeup::InboxFailed(error)),
                Err(error) => Err(error.into()),
            },
            joined = tasks.join_next(), if !tasks.is_empty() => match joined {
                Some(Ok((id, outcome))) => Ok(Wakeup::Outcome(id, outcome)),
                Some(Err(error)) if !error.is_cancelled() => Err(DriveError::Task(error.to_string())),
                Some(Err(_)) | None => Ok(Wakeup::TaskAborted),
            },
            () = grace => Ok(Wakeup::GraceOver),
        }
    }

    async fn is_inbox_empty(&self) -> Result<bool, DriveError> {
        Ok(Box::pin(self.driver.executor().journal.inbox(self.lease.run())).await?.is_empty())
    }

    /// Saves a snapshot when the run begins to wait for a job, or for a long time: the process may be replaced meanwhile.
    async fn save_before_long_wait(&mut self) -> Result<(), DriveError> {
        let len = Some(self.state.machine.event_count());
        if self.snapshot_len != len && self.waits_long() {
            self.snapshot_len = len;
            let snapshot = snapshot_of(&self.state)?;
            match Box::pin(self.driver.executor().journal.save_snapshot(&self.lease, snapshot)).await {
                // The run goes on without: only an upgrade during this wait needs the snapshot.
                Err(AppendError::Storage(error)) => {
                    let run = self.lease.run();
                    tracing::warn!(target: TARGET, run = %run, "a snapshot of the run cannot be saved: {error}");
                }
                saved => saved?,
            }
        }
        Ok(())
    }

    fn waits_long(&self) -> bool {
        if self.state.machine.is_idle() {
            return true;
        }
        let now_ms = self.driver.executor().clock.now_ms();
        self.state.pending.iter().all(|effect| match effect {
            Effect::Sleep { until_ms, .. } => *until_ms > now_ms.saturating_add(LONG_WAIT_MS),
            effect => matches!(effect, Effect::AskPerson(_)),
        })
    }

    /// Applies events, commits them together with the messages that they consume, and passes them to telemetry and watcher.
    pub(super) async fn commit(
        &mut self,
        kinds: Vec<EventKind>,
        consumed: Vec<SignalId>,
        claims: Claims,
    ) -> Result<(), DriveError> {
        if kinds.is_empty() && consumed.is_empty() {
            return Ok(());
        }
        // The semaphore is never closed, so a permit always comes.
        let _permit = COMMITS.acquire().await.ok();
        let bytes = kinds.iter().map(received_bytes).sum();
        let len = self.state.machine.event_count();
        let (mut append, events) = off_workers(bytes, || self.driver.apply(&mut self.state, kinds, consumed.clone()))?;
        if self.state.machine.ending().is_some() {
            let abandoned = self.state.machine.abandoned_sessions();
            self.cancelled_sessions = self.driver.cancel_sessions(abandoned).await;
        }
        let permits = if claims == Claims::WithEvents && !self.abandoned.is_cancelled() {
            let has_begun = |id: &EffectId| self.in_progress.contains_key(id);
            claim_due_calls(self.driver.executor(), &self.state, has_begun, &mut append)
        } else {
            Vec::new()
        };
        match self.driver.executor().journal.append_and_claim(&self.lease, append).await {
            Ok(appended) => self.claimed = ClaimedCall::of(permits, appended.claims),
            Err(source) => {
                let effects: Vec<String> =
                    events.iter().filter_map(|event| event.kind.effect()).map(ToString::to_string).collect();
                let kinds = events.into_iter().map(|event| event.kind).collect();
                self.unstored = Some(UnstoredEvents { len, kinds, consumed });
                return Err(if effects.is_empty() { source.into() } else { DriveError::NotStored { effects, source } });
            }
        }
        self.has_ended = self.state.machine.ending().is_some();
        self.driver.notify(&mut self.state, &events);
        Ok(())
    }
}

/// The id and the end of a wait.
fn sleep_end(effect: &Effect) -> Option<(&EffectId, i64)> {
    match effect {
        Effect::Sleep { id, until_ms } => Some((id, *until_ms)),
        _ => None,
    }
}

/// About how many bytes of outside data an event has.
fn received_bytes(event: &EventKind) -> usize {
    match event {
        EventKind::ToolAnswered { reply, .. } => memory_size_of(&reply.body),
        EventKind::ModelAnswered { answer, .. } => answer.text.len(),
        _ => 0,
    }
}
