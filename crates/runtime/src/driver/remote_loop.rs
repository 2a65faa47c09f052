//! Follows one run that an engine elsewhere drives: copies its events into the journal of this process, and passes on the messages
//! that people and programs send to the run here.
//!
//! The machine is applied here, too. So records, telemetry, watchers and questions are the same as if this process drove the run, and
//! a build that decides otherwise than the engine notices. Steps that run agents are made here: their sessions are runs of their own.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use reknit_engine::{Effect, Event, EventKind};
use reknit_journal::{Append, InboxMessage, Lease, Mailbox, RunReadError, SignalId};
use reknit_protocol::EffectId;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::agent_call::call_agent;
use super::drain::Entry;
use super::{DriveOutcome, Driver};
use crate::error::DriveError;
use crate::remote_engine::{RemoteEngine, RemoteError, RemoteEvent};
use crate::replay::{DrivenMachine, RestoreError};
use crate::signals::{messages_for_engine, note_before_reopening, to_event};
use crate::telemetry::log::TARGET;

/// How often the lease of the copy is renewed.
const RENEW_MS: i64 = 10_000;
/// The pauses between two looks at a run: short while something happens, then longer.
const MIN_PAUSE_MS: i64 = 50;
const MAX_PAUSE_MS: i64 = 500;
/// The pause after the engine could not be reached.
const UNREACHABLE_PAUSE_MS: i64 = 1_000;

/// Follows one run.
pub(super) struct RemoteLoop {
    driver: Driver,
    engine: Arc<dyn RemoteEngine>,
    lease: Lease,
    state: DrivenMachine,
    mailbox: Mailbox,
    abandoned: CancellationToken,
    /// The newest message of the inbox that is in the outbox, or was. The mailbox may return one that was read already.
    newest: Option<SignalId>,
    /// What the engine has not been told yet, in order.
    outbox: VecDeque<Outgoing>,
    /// How many events the run had at the engine when that had handled what it was told last. They are copied before this process
    /// says that the run waits or has ended.
    awaited_len: u64,
    /// Whether the journal knows that the run has ended, if it has.
    is_end_stored: bool,
    sessions: JoinSet<(EffectId, EventKind)>,
    /// The calls of agents that are made here, each with what aborts it.
    session_calls: BTreeMap<EffectId, CancellationToken>,
    told: ToldToEnd,
    is_reachable: bool,
    renew_at_ms: i64,
}

/// What the tokens of this process have made it tell the engine.
#[derive(Debug, Default)]
struct ToldToEnd {
    cancel: bool,
    stop: bool,
}

/// An event for the engine.
struct Outgoing {
    /// Sending it twice with the same id counts once.
    id: String,
    event: Event,
    /// The message in the inbox that it comes from.
    message: Option<SignalId>,
}

/// Why the loop stops waiting.
enum Wakeup {
    /// There is something to tell the engine.
    Told,
    /// It is time to look again.
    Look,
    RenewLease,
}

impl RemoteLoop {
    pub(super) fn new(
        driver: Driver,
        engine: Arc<dyn RemoteEngine>,
        (lease, state): (Lease, DrivenMachine),
        mailbox: Mailbox,
        abandoned: CancellationToken,
    ) -> Self {
        let renew_at_ms = driver.executor().clock.now_ms().saturating_add(RENEW_MS);
        Self {
            driver,
            engine,
            lease,
            state,
            mailbox,
            abandoned,
            newest: None,
            outbox: VecDeque::new(),
            awaited_len: 0,
            is_end_stored: false,
            sessions: JoinSet::new(),
            session_calls: BTreeMap::new(),
            told: ToldToEnd::default(),
            is_reachable: true,
            renew_at_ms,
        }
    }

    /// Follows the run until it ends or waits for a person. After an error the copy can be followed again, also by another process.
    pub(super) async fn follow(mut self, entry: Entry) -> Result<DriveOutcome, DriveError> {
        let result = match self.enter(entry).await {
            Ok(()) => self.run().await,
            Err(error) => Err(error),
        };
        match &result {
            Err(DriveError::Restore(error)) => self.driver.park(&self.lease, error).await?,
            Err(_) => self.driver.give_back(&self.lease).await,
            Ok(_) => {}
        }
        Box::pin(self.driver.wait_for_rules(self.state.rule_change)).await;
        result
    }

    async fn enter(&mut self, entry: Entry) -> Result<(), DriveError> {
        if self.state.machine.fork().is_some() {
            return Err(RemoteError::Unsupported("forks").into());
        }
        match entry {
            Entry::New => self.is_end_stored = true,
            // The process before died while it opened the run again. Only the engine knows whether the run goes on.
            Entry::TakenOver if self.state.machine.ending().is_some() => {}
            Entry::TakenOver => self.tell_inbox().await?,
            Entry::Reopened(events) => {
                let len = self.state.machine.event_count();
                let notes = self.drop_messages_before(i64::MAX).await?;
                for (index, kind) in events.into_iter().chain(notes).enumerate() {
                    self.tell(format!("reopened-{len}-{index}"), self.now_ms(), kind, None);
                }
            }
        }
        Ok(())
    }

    async fn tell_inbox(&mut self) -> Result<(), DriveError> {
        let inbox = self.driver.executor().journal.inbox(self.lease.run()).await?;
        for (message, kind) in messages_for_engine(&self.state.pending, &inbox, self.now_ms()) {
            self.tell(format!("message-{}", message.id), message.at_ms, kind, Some(message.id));
        }
        Ok(())
    }

    /// Removes the messages from before the run went on at this time, which are not for what follows, and returns notes about them.
    async fn drop_messages_before(&mut self, at_ms: i64) -> Result<Vec<EventKind>, DriveError> {
        let mut inbox = self.driver.executor().journal.inbox(self.lease.run()).await?;
        inbox.retain(|message| message.at_ms < at_ms);
        if !inbox.is_empty() {
            let mut append = Append::at(self.state.machine.event_count());
            append.consumed = inbox.iter().map(|message| message.id).collect();
            self.driver.executor().journal.append(&self.lease, append).await?;
        }
        Ok(inbox.iter().map(note_before_reopening).collect())
    }

    fn now_ms(&self) -> i64 {
        self.driver.executor().clock.now_ms()
    }

    /// Lets the engine know of an event.
    fn tell(&mut self, id: String, at_ms: i64, kind: EventKind, message: Option<SignalId>) -> Wakeup {
        if message.is_some() {
            if message <= self.newest {
                return Wakeup::Look;
            }
            self.newest = message;
        }
        self.outbox.push_back(Outgoing { id, event: Event { at_ms, kind }, message });
        Wakeup::Told
    }

    async fn run(&mut self) -> Result<DriveOutcome, DriveError> {
        self.begin().await?;
        let mut pause_ms = MIN_PAUSE_MS;
        loop {
            if self.is_end_stored
                && let Some(outcome) = self.outcome()
            {
                return Ok(outcome);
            }
            match self.exchange().await {
                Ok(true) => {
                    pause_ms = MIN_PAUSE_MS;
                    self.is_reachable = true;
                    if self.outcome().is_some() {
                        continue;
                    }
                }
                Ok(false) => {
                    self.is_reachable = true;
                    if let Some(outcome) = self.outcome() {
                        self.store_end_again().await?;
                        return Ok(outcome);
                    }
                }
                Err(DriveError::Remote(error @ RemoteError::Unreachable { .. })) => {
                    self.report_unreachable(&error);
                    pause_ms = UNREACHABLE_PAUSE_MS;
                }
                Err(error) => return Err(error),
            }
            self.sync_sessions();
            if self.is_reachable && self.waits_for_person() && self.is_inbox_empty().await? {
                Box::pin(self.driver.release(&self.lease, &self.state)).await?;
                return Ok(DriveOutcome::Waiting);
            }
            match self.wait(pause_ms).await? {
                Wakeup::Told => pause_ms = MIN_PAUSE_MS,
                Wakeup::Look => pause_ms = pause_ms.saturating_mul(2).min(MAX_PAUSE_MS),
                Wakeup::RenewLease => self.renew_lease().await?,
            }
        }
    }

    async fn renew_lease(&mut self) -> Result<(), DriveError> {
        self.lease = self.driver.executor().journal.renew(&self.lease, self.driver.term()).await?;
        self.renew_at_ms = self.now_ms().saturating_add(RENEW_MS);
        Ok(())
    }

    /// The outcome of a run that has ended, also as far as the engine has said.
    fn outcome(&self) -> Option<DriveOutcome> {
        self.state.machine.ending().filter(|_| self.is_up_to_date()).map(DriveOutcome::from)
    }

    /// Whether the engine knows all that happened here, and its answer is among the events.
    fn is_up_to_date(&self) -> bool {
        self.outbox.is_empty() && self.state.machine.event_count() >= self.awaited_len
    }

    /// Ends a run in the journal that was opened again there, but did not go on at the engine. Messages to it are not for anything
    /// that follows.
    async fn store_end_again(&mut self) -> Result<(), DriveError> {
        let inbox = self.driver.executor().journal.inbox(self.lease.run()).await?;
        let consumed = inbox.iter().map(|message| message.id).collect();
        let append = self.driver.apply_events(&mut self.state, &[], consumed)?;
        self.driver.executor().journal.append(&self.lease, append).await?;
        Ok(())
    }

    /// Begins the run at the engine, unless it is known to have begun. The engine may be away for a while: the run is in the journal
    /// and is not lost.
    async fn begin(&mut self) -> Result<(), DriveError> {
        // One that ended with its first event has nothing to do there.
        let has_ended = self.is_end_stored && self.state.machine.ending().is_some();
        if self.state.machine.event_count() > 1 || has_ended {
            return Ok(());
        }
        let run = self.lease.run().clone();
        let Some(first) = self.driver.executor().journal.events_page(&run, 0, 1).await?.pop() else {
            return Err(RestoreError::Empty.into());
        };
        loop {
            match self.engine.begin(&run, &first.body).await {
                Err(error @ RemoteError::Unreachable { .. }) => self.report_unreachable(&error),
                begun => {
                    let events = begun?;
                    if !events.is_empty() {
                        self.commit(events).await?;
                    }
                    return Ok(());
                }
            }
            match self.wait(UNREACHABLE_PAUSE_MS).await? {
                Wakeup::Told | Wakeup::Look => {}
                Wakeup::RenewLease => self.renew_lease().await?,
            }
        }
    }

    /// Tells the engine what it does not know yet, and reads what has happened there. Returns whether anything has.
    async fn exchange(&mut self) -> Result<bool, DriveError> {
        while let Some(outgoing) = self.outbox.front() {
            let len = match self.engine.send(self.lease.run(), &outgoing.id, &outgoing.event).await {
                // It will be refused whenever it is sent, and must not keep other messages from being sent.
                Err(error @ RemoteError::Refused { .. }) => {
                    let kind = outgoing.event.kind.name();
                    tracing::warn!(target: TARGET, run = %self.lease.run(), "`{kind}` is not passed on: {error}");
                    0
                }
                sent => sent?,
            };
            let Some(outgoing) = self.outbox.pop_front() else { break };
            self.awaited_len = self.awaited_len.max(len);
            if let Some(message) = outgoing.message {
                let mut append = Append::at(self.state.machine.event_count());
                append.consumed.push(message);
                self.driver.executor().journal.append(&self.lease, append).await?;
            }
        }
        let events = self.engine.events(self.lease.run(), self.state.machine.event_count()).await?;
        if events.is_empty() {
            return Ok(false);
        }
        let had_ended = self.state.machine.ending().is_some() && self.awaited_len == 0;
        let went_on_ms = self.commit(events).await?;
        if had_ended && self.state.machine.ending().is_none() {
            for (index, note) in self.drop_messages_before(went_on_ms).await?.into_iter().enumerate() {
                self.tell(format!("dropped-{went_on_ms}-{index}"), went_on_ms, note, None);
            }
            self.tell_inbox().await?;
        }
        Ok(true)
    }

    /// Applies events of the engine and appends them to the journal. Fails if other effects become due here than there. Returns the
    /// time of the first one.
    async fn commit(&mut self, remote: Vec<RemoteEvent>) -> Result<i64, DriveError> {
        let from = self.state.machine.event_count();
        let mut events: Vec<Event> = Vec::with_capacity(remote.len());
        for (seq, event) in (from..).zip(&remote) {
            let event = serde_json::from_str(&event.body).map_err(|source| RestoreError::Unreadable { seq, source })?;
            events.push(event);
        }
        let append = self.driver.apply_events(&mut self.state, &events, Vec::new())?;
        for ((seq, here), there) in (from..).zip(&append.events).zip(&remote) {
            let written = std::iter::once((seq, there.due.clone())).collect();
            crate::replay::compare_due_effects(seq, &here.due, &written)?;
        }
        let mut cancelled = Vec::new();
        if self.state.machine.ending().is_some() {
            cancelled = self.driver.cancel_sessions(self.state.machine.abandoned_sessions()).await;
        }
        self.driver.executor().journal.append(&self.lease, append).await?;
        self.is_end_stored = self.state.machine.ending().is_some();
        self.driver.notify(&mut self.state, &events);
        if !cancelled.is_empty() {
            self.sessions.abort_all();
            self.driver.end_sessions(cancelled).await;
        }
        Ok(events.first().map_or(i64::MIN, |event| event.at_ms))
    }

    /// Makes the calls of agents that are due, and aborts those that the run no longer wants.
    fn sync_sessions(&mut self) {
        for effect in &self.state.pending {
            match effect {
                Effect::CallTool(call) if !self.session_calls.contains_key(&call.id) => {
                    let Some(request) = self.state.machine.session_call(call) else { continue };
                    let aborted = CancellationToken::new();
                    let traceparent = self.driver.executor().telemetry.traceparent(&self.state.machine, effect);
                    let made = (&**call, request);
                    let call_made =
                        call_agent(&self.driver, self.lease.run(), made, traceparent.as_deref(), aborted.clone());
                    let id = call.id.clone();
                    self.session_calls.insert(id.clone(), aborted);
                    self.sessions.spawn(async move { (id, call_made.await) });
                }
                Effect::Abort { effect, .. } => {
                    if let Some(aborted) = self.session_calls.get(effect) {
                        aborted.cancel();
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether only a person can go on with the run, as far as the engine has said. Once a wait is over, the engine says more.
    fn waits_for_person(&self) -> bool {
        self.state.waits_for_person(self.now_ms()) && self.is_up_to_date()
    }

    async fn is_inbox_empty(&self) -> Result<bool, DriveError> {
        Ok(Box::pin(self.driver.executor().journal.inbox(self.lease.run())).await?.is_empty())
    }

    async fn wait(&mut self, pause_ms: i64) -> Result<Wakeup, DriveError> {
        let clock = Arc::clone(&self.driver.executor().clock);
        let look_at_ms = clock.now_ms().saturating_add(pause_ms);
        let at_ms = look_at_ms.min(self.renew_at_ms);
        let shared = Arc::clone(&self.driver.shared);
        tokio::select! {
            biased;
            () = self.abandoned.cancelled() => Err(DriveError::Abandoned),
            () = shared.cancel.cancelled(), if !self.told.cancel => {
                self.told.cancel = true;
                let id = format!("cancelled-{}", self.state.machine.event_count());
                Ok(self.tell(id, clock.now_ms(), EventKind::Cancelled, None))
            }
            () = shared.stop.cancelled(), if !self.told.stop => {
                self.told.stop = true;
                let id = format!("stopped-{}", self.state.machine.event_count());
                Ok(self.tell(id, clock.now_ms(), EventKind::Stopped, None))
            }
            message = self.mailbox.next() => match message {
                Ok(InboxMessage { id, signal, at_ms }) => {
                    Ok(self.tell(format!("message-{id}"), at_ms, to_event(&signal), Some(id)))
                }
                Err(RunReadError::Storage(error)) => {
                    tracing::warn!(target: TARGET, run = %self.lease.run(), "the inbox cannot be read, and is read again: {error}");
                    clock.sleep_until(at_ms).await;
                    Ok(Wakeup::Look)
                }
                Err(error) => Err(error.into()),
            },
            Some(joined) = self.sessions.join_next() => match joined {
                Ok((id, event)) => Ok(self.tell(format!("session-{id}"), clock.now_ms(), event, None)),
                Err(error) if error.is_cancelled() => Ok(Wakeup::Look),
                Err(error) => Err(DriveError::Task(error.to_string())),
            },
            () = clock.sleep_until(at_ms) => {
                Ok(if at_ms == self.renew_at_ms { Wakeup::RenewLease } else { Wakeup::Look })
            }
        }
    }

    /// The log names an engine that is away once, and not at every look.
    fn report_unreachable(&mut self, error: &RemoteError) {
        if std::mem::replace(&mut self.is_reachable, false) {
            tracing::warn!(target: TARGET, run = %self.lease.run(), "{error}; this is tried again");
        }
    }
}
