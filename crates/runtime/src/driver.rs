//! The driver: executes the effects that a run asks for, and journals their outcomes.
//!
//! Commit, then act: an effect starts only after the event that made it due is in the journal.

mod drain;
mod restore;
mod run_loop;

pub(crate) use restore::restore;

use std::sync::Arc;

use reknit_engine::{Answer, Effect, Ending, Event, EventKind, Report};
use reknit_journal::{Append, Holder, Journal, Lease, LeaseTerm, NewRun, SignalId};
use reknit_protocol::RunId;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::approval_webhook::ApprovalWebhook;
use crate::breakers::{BreakerPolicy, Breakers, CallLimits};
use crate::business_keys::key_changes;
use crate::callbacks::Callbacks;
use crate::clock::{Clock, ShiftedClock};
use crate::effect_executor::EffectExecutor;
use crate::error::DriveError;
use crate::learned_mappings;
use crate::replay::{DrivenMachine, RestoreError, to_row};
use crate::run_start::RunStart;
use crate::signals::to_events;
use crate::telemetry::Telemetry;
use crate::telemetry::log::TARGET;
use crate::transport::Transport;
use crate::watcher::{Committed, EventOrigin, Watcher};
use drain::{Entry, in_own_task};
use run_loop::RunLoop;

/// How long a lease lasts without renewal. It outlasts the pauses of a busy machine, and is short enough to wait for after a
/// crash.
const LEASE_MS: u64 = 30_000;

/// How many runs this process creates concurrently. Enough to share commits, and a bound on memory: the first event of a run
/// holds its whole catalogue, policy and templates until it is written.
static STARTS: Semaphore = Semaphore::const_new(256);

/// Why a driver returned without an error.
#[derive(Debug, Clone, PartialEq)]
pub enum DriveOutcome {
    /// The run has ended.
    Finished(Box<Answer>),
    /// The session has ended.
    Reported(Box<Report>),
    /// The run waits for a person's decision. Resume it after the decision is sent.
    Waiting,
}

impl From<Ending<'_>> for DriveOutcome {
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
    pub(crate) executor: EffectExecutor,
    holder: Holder,
    watcher: Watcher,
    pub(crate) cancel: CancellationToken,
    pub(crate) stop: CancellationToken,
    webhook: Option<Arc<ApprovalWebhook>>,
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Driver")
            .field("executor", &self.executor)
            .field("holder", &self.holder)
            .finish_non_exhaustive()
    }
}

impl Driver {
    /// A driver with its own call limits and circuit breakers.
    pub fn new(journal: Journal, transport: Arc<dyn Transport>, clock: Arc<dyn Clock>, limits: CallLimits) -> Self {
        let breakers = Breakers::new(limits, BreakerPolicy::default(), Arc::clone(&clock));
        Self::with_breakers(journal, transport, clock, Arc::new(breakers))
    }

    /// A driver with call limits and circuit breakers that it shares with other callers.
    pub fn with_breakers(
        journal: Journal,
        transport: Arc<dyn Transport>,
        clock: Arc<dyn Clock>,
        breakers: Arc<Breakers>,
    ) -> Self {
        let telemetry = Telemetry::none();
        let executor = EffectExecutor { journal, transport, clock, ahead_ms: 0, breakers, telemetry, callbacks: None };
        Self {
            executor,
            holder: Holder::this_process(),
            watcher: Watcher::default(),
            cancel: CancellationToken::new(),
            stop: CancellationToken::new(),
            webhook: None,
        }
    }

    /// Takes leases for this process.
    #[must_use]
    pub(crate) fn with_holder(mut self, holder: Holder) -> Self {
        self.holder = holder;
        self
    }

    /// Sends each question to a person to a webhook.
    #[must_use]
    pub(crate) fn with_webhook(mut self, webhook: Option<Arc<ApprovalWebhook>>) -> Self {
        self.webhook = webhook;
        self
    }

    /// Calls the watcher with every committed event. It replaces an earlier watcher.
    #[must_use]
    pub fn with_watcher(mut self, watcher: Watcher) -> Self {
        self.watcher = watcher;
        self
    }

    /// Sends the telemetry of all runs to these sinks. It replaces earlier ones.
    #[must_use]
    pub fn with_telemetry(mut self, telemetry: Telemetry) -> Self {
        // Other sinks do not change which models the targets are.
        let models = Arc::clone(self.executor.telemetry.models());
        self.executor.telemetry = if telemetry.models().is_empty() { telemetry.with_models(models) } else { telemetry };
        self
    }

    /// Sends a callback URL with every call.
    #[must_use]
    pub fn with_callbacks(mut self, callbacks: Option<Arc<Callbacks>>) -> Self {
        self.executor.callbacks = callbacks;
        self
    }

    /// Cancels all runs and sessions when the token is cancelled.
    #[must_use]
    pub fn with_cancel_token(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// Asks all sessions to stop and to write their reports when the token is cancelled.
    #[must_use]
    pub fn with_stop_token(mut self, stop: CancellationToken) -> Self {
        self.stop = stop;
        self
    }

    /// Starts a run or a session and drives it until it ends or waits for a person.
    pub async fn start(&self, started: impl Into<RunStart>) -> Result<DriveOutcome, DriveError> {
        let (driver, started) = (self.clone(), started.into());
        in_own_task(async move |abandoned| {
            // Boxed, and freed before the run is driven: otherwise this future would reserve the space for as long as the run
            // lasts.
            let (lease, state) = Box::pin(driver.create_and_notify(started, &abandoned)).await?;
            RunLoop::new(driver, lease, state, abandoned).drive_or_drain(Entry::New).await
        })
        .await
    }

    async fn create_and_notify(
        &self,
        started: RunStart,
        abandoned: &CancellationToken,
    ) -> Result<(Lease, DrivenMachine), DriveError> {
        // The semaphore is never closed, so a permit always comes.
        let _permit = STARTS.acquire().await.ok();
        if abandoned.is_cancelled() {
            return Err(DriveError::Abandoned);
        }
        let (lease, mut state, event) = self.create(started).await?;
        self.notify(&mut state, &[event]);
        Ok((lease, state))
    }

    /// Creates a run in the journal without driving it.
    pub(crate) async fn create(&self, mut started: RunStart) -> Result<(Lease, DrivenMachine, Event), DriveError> {
        if let RunStart::Run(run) = &mut started {
            learned_mappings::add(run, &self.executor.journal).await?;
        }
        started.set_trace_parent(self.executor.telemetry.parent());
        let (run, title) = (started.run().clone(), started.title().to_owned());
        let event = Event { at_ms: self.executor.clock.now_ms(), kind: started.into_event() };
        let (state, due) = DrivenMachine::begin(&event, &self.executor.journal, &self.executor.telemetry)?;
        let ending = state.machine.ending().map(Ending::status);
        let new = NewRun { run, title, first: to_row(&event, due)? };
        let lease = self.executor.journal.create(new, &self.holder, self.term()).await?;
        if let Some(status) = ending {
            // The run ended with its first event, for example because its plan cannot be run.
            let append = Append::at(1).ending(status.as_str(), event.at_ms);
            if let Err(error) = self.executor.journal.append(&lease, append).await {
                self.give_back(&lease).await;
                return Err(error.into());
            }
        }
        Ok((lease, state, event))
    }

    /// Releases the lease of a run that is not driven any more because of an error.
    async fn give_back(&self, lease: &Lease) {
        if let Err(error) = self.executor.journal.release(lease).await {
            let run = lease.run();
            tracing::warn!(target: TARGET, run = %run, "the lease could not be released; it expires by itself: {error}");
        }
    }

    /// Takes over a run and drives it until it ends or waits for a person. Fails if another process drives the run.
    pub async fn resume(&self, run: &RunId) -> Result<DriveOutcome, DriveError> {
        let (driver, run) = (self.clone(), run.clone());
        in_own_task(async move |abandoned| {
            let (driver, lease, state) = Box::pin(driver.acquire_and_restore(&run)).await?;
            RunLoop::new(driver, lease, state, abandoned).drive_or_drain(Entry::TakenOver).await
        })
        .await
    }

    /// Leases a run and restores it. Also returns this driver with a clock that is not behind the run.
    async fn acquire_and_restore(&self, run: &RunId) -> Result<(Self, Lease, DrivenMachine), DriveError> {
        let lease = self.acquire(run).await?;
        let state = match restore(&self.executor.journal, run, &self.executor.telemetry, &self.watcher).await {
            Ok(state) => state,
            Err(DriveError::Restore(error)) => {
                let len = self.executor.journal.summary(run).await?.len;
                self.abandon(&lease, len, &error).await?;
                return Err(error.into());
            }
            Err(error) => {
                self.give_back(&lease).await;
                return Err(error);
            }
        };
        Ok((self.not_before(state.machine.now_ms()), lease, state))
    }

    /// This driver with a clock that is not behind `last_ms`, the time of a run's last event.
    pub(crate) fn not_before(&self, last_ms: i64) -> Self {
        let mut driver = self.clone();
        let ahead_ms = last_ms.saturating_sub(self.executor.clock.now_ms());
        if ahead_ms > 0 {
            driver.executor.ahead_ms = self.executor.ahead_ms.saturating_add(ahead_ms);
            driver.executor.clock = Arc::new(ShiftedClock { clock: Arc::clone(&self.executor.clock), ahead_ms });
        }
        driver
    }

    /// Gives up a run that cannot be restored, and keeps its events. After a mismatch the run ends, because its further
    /// course would be a guess. Otherwise only the lease is released: another version may be able to restore the run.
    pub(crate) async fn abandon(&self, lease: &Lease, len: u64, error: &RestoreError) -> Result<(), DriveError> {
        if let RestoreError::Mismatch { .. } = error {
            let append = Append::at(len).ending("replay_mismatch", self.executor.clock.now_ms());
            self.executor.journal.append(lease, append).await?;
        } else {
            self.executor.journal.release(lease).await?;
        }
        Ok(())
    }

    /// The events with which a process takes over a run: the resumption, the messages in the inbox, and an interruption of
    /// each claimed call. Also returns the ids of the messages.
    pub(crate) async fn events_on_resume(
        &self,
        run: &RunId,
        state: &DrivenMachine,
    ) -> Result<(Vec<EventKind>, Vec<SignalId>), DriveError> {
        let inbox = self.executor.journal.inbox(run).await?;
        let claims = self.executor.journal.claims(run).await?;
        let interrupted = state.pending.iter().filter_map(|effect| match effect {
            Effect::CallTool(call) if claims.iter().any(|claim| *claim == call.id.to_string()) => {
                Some(EventKind::Interrupted { effect: call.id.clone() })
            }
            _ => None,
        });
        // The messages come before the interruptions: a run that is cancelled must not prepare to send its calls again.
        let events = std::iter::once(EventKind::Resumed).chain(to_events(&inbox)).chain(interrupted).collect();
        Ok((events, inbox.iter().map(|message| message.id).collect()))
    }

    /// Applies events to a machine, and prepares to append them together with the messages that they consume.
    pub(crate) fn apply(
        &self,
        state: &mut DrivenMachine,
        kinds: Vec<EventKind>,
        consumed: Vec<SignalId>,
    ) -> Result<(Append, Vec<Event>), DriveError> {
        let mut append = Append::at(state.machine.event_count());
        append.consumed = consumed;
        let mut events = Vec::with_capacity(kinds.len());
        let at_ms = self.executor.clock.now_ms();
        for kind in kinds {
            let event = Event { at_ms, kind };
            let due = state.apply(&event)?;
            state.check_results()?;
            append.keys.extend(state.decided.last().into_iter().flat_map(|records| key_changes(records)));
            append = append.event(to_row(&event, due)?);
            events.push(event);
        }
        if let Some(ending) = state.machine.ending() {
            append = append.ending(ending.status().as_str(), self.executor.clock.now_ms());
            append.learned_mappings = learned_mappings::of(&state.machine);
        }
        Ok((append, events))
    }

    /// Acquires the lease of a run. Takes it over at once if its process is dead.
    pub(crate) async fn acquire(&self, run: &RunId) -> Result<Lease, DriveError> {
        Ok(self.executor.journal.acquire_or_take_over(run, &self.holder, self.term()).await?)
    }

    pub(crate) fn term(&self) -> LeaseTerm {
        // Other processes compare the lease with the system clock.
        let now_ms = self.executor.clock.now_ms().saturating_sub(self.executor.ahead_ms);
        LeaseTerm { now_ms, ttl_ms: LEASE_MS }
    }

    /// Passes committed events to the telemetry sinks and to the watcher.
    pub(crate) fn notify(&self, state: &mut DrivenMachine, events: &[Event]) {
        state.release_results();
        self.executor.telemetry.deliver(state.reporter.as_mut());
        if let Some(webhook) = &self.webhook {
            webhook.send_questions(state.machine.id(), &state.pending, &self.executor.journal);
        }
        let decided = std::mem::take(&mut state.decided);
        for (event, records) in events.iter().zip(&decided) {
            let origin = EventOrigin::New;
            self.watcher.call(&Committed { machine: &state.machine, event, records, origin });
        }
    }
}
