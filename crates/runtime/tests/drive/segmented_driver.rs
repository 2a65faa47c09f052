//! A second driver, which keeps no state of a run in memory. In each segment it loads the run, applies events, saves it and
//! spawns the due effects.
//!
//! An engine that spreads runs over several hosts works like this. This driver shows that the machines and the journal
//! support it. It also delivers every outcome twice, because such an engine may do so.

use std::collections::HashSet;

use reknit_engine::{Effect, EventKind, MIGRATIONS, Machine};
use reknit_journal::{CreateError, Lease, Mailbox, SignalId, StoredEvent};
use reknit_protocol::{EffectId, RunId};
use tokio::task::JoinSet;

use crate::driver::agent_call::call_agent;
use crate::driver::{DriveOutcome, Driver, restore};
use crate::effect_executor::{CallStops, EffectOutcome};
use crate::error::DriveError;
use crate::replay::{DrivenMachine, RestoreError, from_row};
use crate::run_start::RunStart;
use crate::signals::to_events;
use crate::snapshot::{Changes, DueChecks, restore_snapshot, snapshot_of};
use crate::telemetry::TelemetryReporter;
use crate::watcher::Watcher;
use tokio_util::sync::CancellationToken;

/// How long a lease is still valid when it is renewed.
const RENEW_BEFORE_MS: i64 = 20_000;

/// Drives runs in segments.
#[derive(Debug, Clone)]
pub(crate) struct SegmentedDriver {
    driver: Driver,
}

/// Whether the machine got the driver's cancellation and stop, which are sent once.
#[derive(Debug, Default)]
struct SentSignals {
    cancel: bool,
    stop: bool,
}

impl SegmentedDriver {
    /// Drives runs with the journal, transport, clock and telemetry of a driver.
    pub(crate) fn new(driver: Driver) -> Self {
        Self { driver }
    }

    /// Starts a run or a session and drives it until it ends or waits for a person.
    pub(crate) async fn start(&self, started: impl Into<RunStart>) -> Result<DriveOutcome, DriveError> {
        let started = started.into();
        let (run, request) = (started.run().clone(), started.request_digest().clone());
        let (lease, mut state, event) = match self.driver.create(started).await {
            Err(DriveError::Create(CreateError::Exists(_))) => {
                self.driver.check_request(&run, &request).await?;
                return self.driver.join(&run).await;
            }
            created => created?,
        };
        self.driver.notify(&mut state, &[event]);
        if state.machine.ending().is_none() {
            self.driver.executor().journal.save_snapshot(&lease, snapshot_of(&state)?).await?;
        }
        self.run(lease, state.machine).await
    }

    /// Takes over a run and drives it until it ends or waits for a person.
    pub(crate) async fn resume(&self, run: &RunId) -> Result<DriveOutcome, DriveError> {
        let lease = self.driver.acquire(run).await?;
        let state = match self.load(&lease).await {
            Ok(state) => state,
            Err(DriveError::Restore(error)) => {
                self.driver.park(&lease, &error).await?;
                return Err(error.into());
            }
            Err(error) => return Err(error),
        };
        let this = Self::new(self.driver.clone().for_machine(&state.machine).await?);
        let (events, consumed) = this.driver.events_on_resume(run, &state).await?;
        let run = this.segment(&lease, events, consumed).await?;
        this.run(lease, run).await
    }

    async fn run(&self, mut lease: Lease, mut run: Machine) -> Result<DriveOutcome, DriveError> {
        let mut tasks: JoinSet<(EffectId, EffectOutcome)> = JoinSet::new();
        let mut spawned: HashSet<EffectId> = HashSet::new();
        let mut mailbox = self.driver.executor().journal.mailbox(lease.run());
        let mut sent = SentSignals::default();
        let mut delivered_again: Vec<EventKind> = Vec::new();
        loop {
            if let Some(ending) = run.ending() {
                tasks.abort_all();
                let abandoned = self.driver.cancel_sessions(run.abandoned_sessions()).await;
                self.driver.end_sessions(abandoned).await;
                return Ok(ending.into());
            }
            if self.driver.executor().clock.now_ms() >= lease.until_ms() - RENEW_BEFORE_MS {
                lease = self.driver.executor().journal.renew(&lease, self.driver.term()).await?;
            }
            let mut batch = std::mem::take(&mut delivered_again);
            for effect in run.pending() {
                match effect {
                    // This driver cannot reach an effect that it has spawned, so the outcome is unknown.
                    Effect::Abort { effect, .. } => batch.push(EventKind::Interrupted { effect }),
                    Effect::AskPerson(_) | Effect::Finish(_) | Effect::Report(_) => {}
                    effect => self.spawn(effect, &run, &lease, (&mut tasks, &mut spawned)),
                }
            }
            let inbox = self.driver.executor().journal.inbox(lease.run()).await?;
            let now_ms = self.driver.executor().clock.now_ms();
            let is_over = |effect: &Effect| matches!(effect, Effect::Sleep { until_ms, .. } if *until_ms <= now_ms);
            let waits = run.is_waiting_for_person() && !run.pending().iter().any(is_over);
            if waits && inbox.is_empty() && batch.is_empty() {
                self.driver.executor().journal.release(&lease).await?;
                return Ok(DriveOutcome::Waiting);
            }
            batch.extend(to_events(&inbox));
            let consumed = inbox.iter().map(|message| message.id).collect();
            if batch.is_empty() {
                let renew = self.driver.executor().clock.sleep_until(lease.until_ms() - RENEW_BEFORE_MS);
                let outcome = tokio::select! {
                    outcome = self.next(&mut tasks, &mut mailbox, &mut sent) => outcome?,
                    () = renew => None,
                };
                delivered_again.extend(outcome.clone());
                batch.extend(outcome);
            }
            if !batch.is_empty() {
                run = self.segment(&lease, batch, consumed).await?;
            }
        }
    }

    fn spawn(
        &self,
        effect: Effect,
        run: &Machine,
        lease: &Lease,
        (tasks, spawned): (&mut JoinSet<(EffectId, EffectOutcome)>, &mut HashSet<EffectId>),
    ) {
        let Some(id) = effect.id().cloned() else { return };
        if spawned.insert(id.clone()) {
            let (executor, lease) = (self.driver.executor().clone(), lease.clone());
            let traceparent = executor.telemetry.traceparent(run, &effect);
            let stops = CallStops { abandoned: CancellationToken::new(), aborted: CancellationToken::new() };
            if let Effect::CallTool(call) = &effect
                && let Some(request) = run.session_call(call)
            {
                let call =
                    call_agent(&self.driver, lease.run(), (call, request), traceparent.as_deref(), stops.aborted);
                tasks.spawn(async move { (id, Ok(Some(call.await))) });
                return;
            }
            tasks.spawn(
                async move { (id, executor.execute(&effect, &lease, traceparent.as_deref(), None, &stops).await) },
            );
        }
    }

    /// Waits for the next outcome, cancellation or stop; returns `None` if a message arrives first.
    async fn next(
        &self,
        tasks: &mut JoinSet<(EffectId, EffectOutcome)>,
        mailbox: &mut Mailbox,
        sent: &mut SentSignals,
    ) -> Result<Option<EventKind>, DriveError> {
        tokio::select! {
            joined = tasks.join_next(), if !tasks.is_empty() => match joined {
                Some(Ok((_, outcome))) => Ok(outcome?),
                Some(Err(error)) => Err(DriveError::Task(error.to_string())),
                None => Ok(None),
            },
            message = mailbox.next() => message.map(|_| None).map_err(Into::into),
            () = self.driver.shared.cancel.cancelled(), if !sent.cancel => {
                sent.cancel = true;
                Ok(Some(EventKind::Cancelled))
            }
            () = self.driver.shared.stop.cancelled(), if !sent.stop => {
                sent.stop = true;
                Ok(Some(EventKind::Stopped))
            }
        }
    }

    /// Runs one segment: loads the run, applies events, and saves them with a snapshot in one transaction.
    async fn segment(
        &self,
        lease: &Lease,
        batch: Vec<EventKind>,
        consumed: Vec<SignalId>,
    ) -> Result<Machine, DriveError> {
        let mut state = self.load(lease).await?;
        let (mut append, events) = self.driver.apply(&mut state, batch, consumed)?;
        if state.machine.ending().is_none() {
            append.snapshot = Some(snapshot_of(&state)?);
        }
        self.driver.executor().journal.append(lease, append).await?;
        self.driver.notify(&mut state, &events);
        Ok(state.machine)
    }

    async fn load(&self, lease: &Lease) -> Result<DrivenMachine, DriveError> {
        let (journal, telemetry) = (&self.driver.executor().journal, &self.driver.executor().telemetry);
        if let Some(snapshot) = journal.snapshot(lease.run()).await? {
            // Another driver may have appended events without a snapshot.
            let newer = journal.events(lease.run(), snapshot.len).await?;
            let checks = DueChecks::load(journal, lease.run(), Changes::Refused).await?;
            let mut state = restore_snapshot(&snapshot, &newer, &checks, journal, MIGRATIONS)?;
            // The snapshot does not contain the state of the telemetry, which follows from the events.
            if let Some(reporter) = telemetry.reporter(&state.machine) {
                state.reporter = Some(observe_stored(reporter, &journal.events(lease.run(), 0).await?)?);
            }
            return Ok(state);
        }
        let unwatched = Watcher::default();
        restore(journal, lease.run(), telemetry, &unwatched, (Changes::Refused, MIGRATIONS)).await
    }
}

/// Lets a reporter observe stored events, and discards their signals: another process has delivered them.
fn observe_stored(
    mut reporter: Box<TelemetryReporter>,
    stored: &[StoredEvent],
) -> Result<Box<TelemetryReporter>, RestoreError> {
    let events = stored.iter().map(from_row).collect::<Result<Vec<_>, RestoreError>>()?;
    let replayed = Machine::replay(&events).map_err(|source| RestoreError::Refused { seq: 0, source })?;
    let decided = replayed.map(|replayed| replayed.1).unwrap_or_default();
    for (event, records) in events.iter().zip(&decided) {
        reporter.observe(event.at_ms, records);
    }
    reporter.forget();
    Ok(reporter)
}
