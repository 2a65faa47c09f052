//! The driver: executes the effects that a run asks for, and journals their outcomes.
//!
//! Commit, then act: an effect starts only after the event that made it due is in the journal.

pub(crate) mod agent_call;
mod construct;
mod drain;
mod due_calls;
mod fork;
mod join;
mod remote_loop;
mod reopen;
mod reservation;
mod restore;
mod run_loop;

pub use join::started_before;
pub(crate) use reopen::check_reopening;
pub(crate) use restore::restore;

use std::sync::Arc;

use reknit_engine::{Answer, Effect, Ending, EngineKind, Event, EventKind, Overview, Report, SnapshotMigration};
use reknit_journal::{Append, CreateError, Holder, Lease, LeaseError, LeaseTerm, Mailbox, NewRun, SignalId};
use reknit_model_api::Money;
use reknit_protocol::RunId;
use reknit_tools::BoxFuture;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::approval_webhook::ApprovalWebhook;
use crate::business_keys::key_changes;
use crate::clock::ShiftedClock;
use crate::effect_executor::EffectExecutor;
use crate::error::DriveError;
use crate::learned_mappings;
use crate::parking::ParkReason;
use crate::pruner::Pruner;
use crate::remote_engine::RemoteEngine;
use crate::replay::{CHANGES_ACCEPTED, DrivenMachine, RestoreError, due_effect, to_row};
use crate::rule_store::RuleStore;
use crate::run_owner::RunOwner;
use crate::run_start::RunStart;
use crate::signals::events_of_inbox;
use crate::snapshot::{Changes, snapshot_of};
use crate::telemetry::log::TARGET;
use crate::watcher::{Committed, EventOrigin, Watcher};
use drain::{Entry, in_own_task};
use remote_loop::RemoteLoop;
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
    Finished(Box<Answer>),
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

/// Drives runs and sessions. Cloning is cheap.
#[derive(Clone)]
pub struct Driver {
    pub(crate) shared: Arc<DriverParts>,
}

/// What all runs of a driver share.
#[derive(Clone)]
pub(crate) struct DriverParts {
    pub(crate) executor: EffectExecutor,
    holder: Holder,
    watcher: Watcher,
    pub(crate) cancel: CancellationToken,
    pub(crate) stop: CancellationToken,
    webhook: Option<Arc<ApprovalWebhook>>,
    pruner: Option<Arc<Pruner>>,
    owner: Option<Arc<RunOwner>>,
    rules: Option<Arc<RuleStore>>,
    remote: Option<Arc<dyn RemoteEngine>>,
    migrations: &'static [SnapshotMigration],
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Driver")
            .field("executor", self.executor())
            .field("holder", &self.shared.holder)
            .finish_non_exhaustive()
    }
}

impl Driver {
    /// Starts a run or a session and drives it until it ends or waits for a person.
    ///
    /// The id decides whether it is a new one. If the journal has a run with this id and the same request, this is
    /// [`join`](Self::join); with another request it is an error. So a program that is started again with the id that it chose
    /// does nothing twice.
    ///
    /// ```no_run
    /// # async fn example(reknit: reknit_runtime::Runtime) -> Result<(), Box<dyn std::error::Error>> {
    /// use reknit_protocol::RunId;
    ///
    /// let started = reknit.started("Refund order 7", None).with_id(RunId::parse("refund-order-7")?);
    /// println!("{:?}", reknit.driver().start(started).await?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn start(&self, started: impl Into<RunStart>) -> impl Future<Output = Result<DriveOutcome, DriveError>> + Send {
        // Not inside the future, which would have space for the value that it is made from as long as the run lasts.
        self.start_run(started.into())
    }

    async fn start_run(&self, started: RunStart) -> Result<DriveOutcome, DriveError> {
        let driver = self.clone();
        let run = started.run().clone();
        let outcome = in_own_task(async move |abandoned| {
            // Boxed, and freed before the run is driven: otherwise this future would reserve the space for as long as the run
            // lasts.
            let mailbox = driver.mailbox(started.run());
            let Some((lease, state)) = Box::pin(driver.create_unless_started(started, &abandoned)).await? else {
                return Ok(None);
            };
            driver.drive((lease, *state), mailbox, abandoned, Entry::New).await.map(Some)
        });
        match outcome.await? {
            Some(outcome) => Ok(outcome),
            None => Box::pin(self.join(&run)).await,
        }
    }

    fn engine(&self) -> EngineKind {
        if self.shared.remote.is_some() { EngineKind::Remote } else { EngineKind::Embedded }
    }

    /// Drives a leased run here, or follows it if an engine elsewhere drives the runs. A run of the other kind of engine is refused.
    fn drive(
        self,
        (lease, state): (Lease, DrivenMachine),
        mailbox: Mailbox,
        abandoned: CancellationToken,
        entry: Entry,
    ) -> BoxFuture<'static, Result<DriveOutcome, DriveError>> {
        let engine = state.machine.policy().engine;
        if engine != self.engine() {
            return Box::pin(async move {
                self.give_back(&lease).await;
                Err(DriveError::OtherEngine { run: lease.run().clone(), engine })
            });
        }
        match self.shared.remote.clone() {
            Some(engine) => Box::pin(RemoteLoop::new(self, engine, (lease, state), mailbox, abandoned).follow(entry)),
            None => Box::pin(RunLoop::new(self, lease, state, mailbox, abandoned).drive_or_drain(entry)),
        }
    }

    /// The mailbox of a run that is created next, or whose inbox is read next.
    fn mailbox(&self, run: &RunId) -> Mailbox {
        let mut mailbox = self.executor().journal.mailbox(run);
        mailbox.skip_first_read();
        mailbox
    }

    /// Creates a run. `None` if it was started before, with the same request.
    async fn create_unless_started(
        &self,
        started: RunStart,
        abandoned: &CancellationToken,
    ) -> Result<Option<(Lease, Box<DrivenMachine>)>, DriveError> {
        let (run, request) = (started.run().clone(), started.request_digest().clone());
        match self.create_and_notify(started, abandoned).await {
            Ok((lease, state)) => Ok(Some((lease, Box::new(state)))),
            Err(DriveError::Create(CreateError::Exists(_))) => {
                self.check_request(&run, &request).await?;
                Ok(None)
            }
            // The journal does not say whose the removed run was. An id that follows from its owner can only be of this one.
            Err(DriveError::Create(CreateError::Pruned(_)))
                if self.shared.owner.is_some() && run.derived_prefix().is_none() =>
            {
                Err(DriveError::OtherOwner(run))
            }
            Err(DriveError::Create(CreateError::Pruned(pruned)))
                if pruned.request.as_deref() != Some(request.as_str()) =>
            {
                Err(DriveError::other_request(&run, pruned.request, &request))
            }
            Err(error) => Err(error),
        }
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
        if let Some(pruner) = &self.shared.pruner {
            pruner.on_start(event.at_ms);
        }
        self.notify(&mut state, &[event]);
        Ok((lease, state))
    }

    /// Creates a run in the journal without driving it.
    pub(crate) async fn create(&self, mut started: RunStart) -> Result<(Lease, DrivenMachine, Event), DriveError> {
        if let Some(run) = started.as_run_mut() {
            learned_mappings::add(run, &self.executor().journal, self.shared.owner.as_deref()).await?;
        }
        started.set_trace_parent(self.executor().telemetry.parent());
        started.set_engine(self.engine());
        let reservation = self.reservation(started.money_limit()).await?;
        if let Some(reservation) = &reservation {
            started.set_budget(Some(Money::from_nanos(reservation.amount)));
        }
        let (run, title) = (started.run().clone(), started.title().to_owned());
        let request = started.request_digest().to_string();
        let event = Event { at_ms: self.executor().clock.now_ms(), kind: started.into_event() };
        let (mut state, due) = DrivenMachine::begin(&event, &self.executor().journal, &self.executor().telemetry)?;
        let ending = state.machine.ending().map(Ending::status);
        let owner = self.shared.owner.as_ref().map(|owner| owner.name.clone());
        state.has_owner = owner.is_some();
        let new = NewRun { owner, reservation, ..NewRun::new(run, title, request, to_row(&event, due)?) };
        let lease = self.executor().journal.create(new, &self.shared.holder, self.term()).await?;
        if let Some(status) = ending {
            // The run ended with its first event, for example because its plan cannot be run.
            let append = Append::at(1)
                .ending(status.as_str(), event.at_ms)
                .result(state.result_to_store()?)
                .cost(state.machine.spent().cost.nanos());
            if let Err(error) = self.executor().journal.append(&lease, append).await {
                self.give_back(&lease).await;
                return Err(error.into());
            }
        }
        Ok((lease, state, event))
    }

    /// Whether a run belongs to one of several owners.
    async fn has_owner(&self, lease: &Lease) -> Result<bool, DriveError> {
        match self.executor().journal.summary(lease.run()).await {
            Ok(summary) => Ok(summary.owner.is_some()),
            Err(error) => {
                self.give_back(lease).await;
                Err(error.into())
            }
        }
    }

    /// Releases the lease of a run that is not driven any more because of an error.
    async fn give_back(&self, lease: &Lease) {
        if let Err(error) = self.executor().journal.release(lease).await {
            let run = lease.run();
            tracing::warn!(target: TARGET, run = %run, "the lease could not be released; it expires by itself: {error}");
        }
    }

    /// The outcome that was stored when the run ended. `None` if it has not ended, or an older build ended it without storing
    /// anything.
    pub async fn stored_outcome(&self, run: &RunId) -> Result<Option<DriveOutcome>, DriveError> {
        let Some(text) = self.executor().journal.ending(run).await? else { return Ok(None) };
        let unreadable = |source| RestoreError::Ending { source };
        let overview: Overview = serde_json::from_str(&text).map_err(unreadable)?;
        Ok(overview.ending().map(DriveOutcome::from))
    }

    /// Takes over a run and drives it until it ends or waits for a person. Fails if another process drives the run. A run that
    /// has ended returns the outcome that was stored then.
    ///
    /// A run that this build cannot restore is parked: another build can continue it, or a person closes it.
    pub async fn resume(&self, run: &RunId) -> Result<DriveOutcome, DriveError> {
        self.resume_with(run, Changes::Refused).await
    }

    /// Resumes a run as [`resume`](Self::resume) does. If [`Changes::Accepted`], it goes on from what this build decides for its
    /// events, even if that is not what was decided before. A call that was about to be made and has no outcome counts as
    /// interrupted.
    pub async fn resume_with(&self, run: &RunId, changes: Changes) -> Result<DriveOutcome, DriveError> {
        let (driver, run) = (self.clone(), run.clone());
        in_own_task(async move |abandoned| {
            let (driver, lease, state) = match Box::pin(driver.acquire_and_restore(&run, changes)).await {
                Err(error @ DriveError::Lease(LeaseError::Ended { .. })) => {
                    return driver.stored_outcome(&run).await?.ok_or(error);
                }
                restored => restored?,
            };
            let mailbox = driver.mailbox(&run);
            driver.drive((lease, state), mailbox, abandoned, Entry::TakenOver).await
        })
        .await
    }

    /// Leases a run and restores it. Also returns this driver with a clock that is not behind the run.
    async fn acquire_and_restore(
        &self,
        run: &RunId,
        changes: Changes,
    ) -> Result<(Self, Lease, DrivenMachine), DriveError> {
        let lease = self.acquire(run).await?;
        let (journal, telemetry) = (&self.executor().journal, &self.executor().telemetry);
        let mut state =
            match restore(journal, run, telemetry, &self.shared.watcher, (changes, self.shared.migrations)).await {
                Ok(state) => state,
                Err(DriveError::Restore(error)) => {
                    self.park(&lease, &error).await?;
                    return Err(error.into());
                }
                Err(error) => {
                    self.give_back(&lease).await;
                    return Err(error);
                }
            };
        state.restored.changes_accepted = changes == Changes::Accepted;
        state.has_owner = self.has_owner(&lease).await?;
        // The process before may have been killed before it could say so.
        state.rule_change = self.shared.rules.as_ref().and_then(|rules| rules.note_rejections(&state.machine));
        let driver = match self.not_before(state.machine.now_ms()).for_machine(&state.machine).await {
            Ok(driver) => driver,
            Err(error) => {
                self.give_back(&lease).await;
                return Err(error);
            }
        };
        Ok((driver, lease, state))
    }

    /// This driver with a clock that is not behind `last_ms`, the time of a run's last event.
    pub(crate) fn not_before(&self, last_ms: i64) -> Self {
        let mut driver = self.clone();
        let ahead_ms = last_ms.saturating_sub(self.executor().clock.now_ms());
        if ahead_ms > 0 {
            driver.parts_mut().executor.ahead_ms = self.executor().ahead_ms.saturating_add(ahead_ms);
            driver.parts_mut().executor.clock =
                Arc::new(ShiftedClock { clock: Arc::clone(&self.executor().clock), ahead_ms });
        }
        driver
    }

    /// Parks a run that cannot be restored: its further course would be a guess.
    pub(crate) async fn park(&self, lease: &Lease, error: &RestoreError) -> Result<(), DriveError> {
        Ok(self.executor().journal.park(lease, &ParkReason::of(error).to_text()?).await?)
    }

    /// Gives the lease back, with a snapshot from which a later build can continue the run.
    pub(crate) async fn release(&self, lease: &Lease, state: &DrivenMachine) -> Result<(), DriveError> {
        Ok(self.executor().journal.release_with(lease, snapshot_of(state)?).await?)
    }

    /// The events with which a process takes over a run: the resumption, the messages in the inbox, and an interruption of
    /// each claimed call. Also returns the ids of the messages.
    pub(crate) async fn events_on_resume(
        &self,
        run: &RunId,
        state: &DrivenMachine,
    ) -> Result<(Vec<EventKind>, Vec<SignalId>), DriveError> {
        let inbox = self.executor().journal.inbox(run).await?;
        let claims = self.executor().journal.claims(run).await?;
        let interrupted = state.pending.iter().filter_map(|effect| match effect {
            Effect::CallTool(call) if claims.iter().any(|claim| *claim == call.id.to_string()) => {
                Some(EventKind::Interrupted { effect: call.id.clone() })
            }
            _ => None,
        });
        let messages = events_of_inbox(&state.pending, &inbox, self.executor().clock.now_ms());
        // The messages come before the interruptions: a run that is cancelled must not prepare to send its calls again.
        let events = std::iter::once(EventKind::Resumed).chain(messages).chain(interrupted).collect();
        Ok((events, inbox.iter().map(|message| message.id).collect()))
    }

    /// Applies events to a machine, and prepares to append them together with the messages that they consume.
    pub(crate) fn apply(
        &self,
        state: &mut DrivenMachine,
        kinds: Vec<EventKind>,
        consumed: Vec<SignalId>,
    ) -> Result<(Append, Vec<Event>), DriveError> {
        let at_ms = self.executor().clock.now_ms();
        let events: Vec<Event> = kinds.into_iter().map(|kind| Event { at_ms, kind }).collect();
        let append = self.apply_events(state, &events, consumed)?;
        Ok((append, events))
    }

    /// The same for events that have a time.
    pub(crate) fn apply_events(
        &self,
        state: &mut DrivenMachine,
        events: &[Event],
        consumed: Vec<SignalId>,
    ) -> Result<Append, DriveError> {
        let mut append = Append::at(state.machine.event_count());
        append.consumed = consumed;
        for event in events {
            let due = state.apply(event)?;
            state.check_results()?;
            if self.executor().claims_keys {
                append.keys.extend(state.decided.last().into_iter().flat_map(|records| key_changes(records)));
            }
            let mut row = to_row(event, due)?;
            if std::mem::take(&mut state.restored.changes_accepted) {
                CHANGES_ACCEPTED.clone_into(&mut row.kind);
                row.due = state.pending.iter().filter_map(due_effect).collect();
            }
            append = append.event(row);
        }
        if let Some(ending) = state.machine.ending() {
            let now_ms = self.executor().clock.now_ms();
            let cost = state.machine.spent().cost.nanos();
            append = append.ending(ending.status().as_str(), now_ms).result(state.result_to_store()?).cost(cost);
            state.check_results()?;
            append.learned_mappings = learned_mappings::of(&state.machine);
        } else if std::mem::take(&mut state.restored.migrated) {
            append.snapshot = Some(snapshot_of(state)?);
        }
        Ok(append)
    }

    /// Acquires the lease of a run. Takes it over at once if its process is dead.
    pub(crate) async fn acquire(&self, run: &RunId) -> Result<Lease, DriveError> {
        Ok(self.executor().journal.acquire_or_take_over(run, &self.shared.holder, self.term()).await?)
    }

    pub(crate) fn term(&self) -> LeaseTerm {
        // Other processes compare the lease with the system clock.
        let now_ms = self.executor().clock.now_ms().saturating_sub(self.executor().ahead_ms);
        LeaseTerm { now_ms, ttl_ms: LEASE_MS }
    }

    /// Waits until what a run changes in the file with rules is written, so that it is not lost when the program ends.
    pub(crate) async fn wait_for_rules(&self, change: Option<u64>) {
        if let (Some(rules), Some(change)) = (&self.shared.rules, change) {
            rules.wait_until_written(change).await;
        }
    }

    /// Passes committed events to the telemetry sinks and to the watcher.
    pub(crate) fn notify(&self, state: &mut DrivenMachine, events: &[Event]) {
        state.release_results();
        self.executor().telemetry.deliver(state.reporter.as_deref_mut());
        if let Some(webhook) = &self.shared.webhook {
            webhook.send_questions(state.machine.id(), &state.pending, &self.executor().journal);
        }
        let decided = std::mem::take(&mut state.decided);
        if let Some(rules) = &self.shared.rules {
            let is_rejected = decided.iter().flatten().any(|record| record.rejected_rule().is_some());
            let rejected = is_rejected.then(|| rules.note_rejections(&state.machine)).flatten();
            // One of several owners does not decide which rules the runs of all others use.
            let ended = state.machine.as_run().filter(|run| run.answer().is_some() && !state.has_owner);
            let learned = ended.and_then(|run| rules.learn_from(run));
            state.rule_change = learned.or(rejected).or(state.rule_change);
        }
        for (event, records) in events.iter().zip(&decided) {
            let origin = EventOrigin::New;
            self.shared.watcher.call(&Committed { machine: &state.machine, event, records, origin });
        }
    }
}
