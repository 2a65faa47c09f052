//! What happens to a run whose driver fails, or whose future is dropped: calls that may have taken effect are waited for, their
//! outcomes are stored, and the lease is given back, so that the run can be resumed at once.

use reknit_engine::{Effect, EventKind};
use reknit_protocol::{CallTool, EffectId};
use tokio_util::sync::CancellationToken;

use super::due_calls::Claims;
use super::run_loop::RunLoop;
use super::{DriveOutcome, LEASE_MS, restore};
use crate::error::DriveError;
use crate::snapshot::Changes;
use crate::telemetry::log::TARGET;
use crate::watcher::Watcher;

/// How long calls in progress are waited for. Shorter than a lease, which is not renewed meanwhile.
const DRAIN_MS: i64 = 20_000;
const _: () = assert!(DRAIN_MS.unsigned_abs() < LEASE_MS);

/// How a driver comes to a run.
#[derive(Debug, Clone)]
pub(super) enum Entry {
    /// It has just created it.
    New,
    /// Another process, or an earlier driver, left it.
    TakenOver,
    /// It had ended, and a person wants it to go on, as these events say.
    Reopened(Vec<EventKind>),
}

/// Drives a run in a task of its own. If this future is dropped, the token is cancelled, and the task gives the run up in good
/// order.
pub(super) async fn in_own_task<T, F>(drive: impl FnOnce(CancellationToken) -> F) -> Result<T, DriveError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, DriveError>> + Send + 'static,
{
    let abandoned = CancellationToken::new();
    let _stop = abandoned.clone().drop_guard();
    match tokio::spawn(drive(abandoned)).await {
        Ok(result) => result,
        Err(error) => Err(DriveError::Task(error.to_string())),
    }
}

impl RunLoop {
    /// Drives the run until it ends or waits for a person. After an error its calls are waited for.
    pub(super) async fn drive_or_drain(mut self: Box<Self>, entry: Entry) -> Result<DriveOutcome, DriveError> {
        // Boxed: these futures are done before the run is driven, and would enlarge the future of every run.
        let entered = match entry {
            Entry::New => Ok(()),
            Entry::TakenOver => Box::pin(self.take_over()).await,
            Entry::Reopened(events) => Box::pin(self.reopen(events)).await,
        };
        let result = match entered {
            Ok(()) => self.run().await,
            Err(error) => Err(error),
        };
        let (driver, rule_change) = (self.driver.clone(), self.state.rule_change);
        if result.is_err() {
            Box::pin(self.drain()).await;
        }
        Box::pin(driver.wait_for_rules(rule_change)).await;
        result
    }

    /// Waits for the calls that may have taken effect, stores their outcomes, and gives the lease back. No new call is made.
    async fn drain(mut self: Box<Self>) {
        // No call is made from now on, also by a task that still waits for its turn.
        self.abandoned.cancel();
        // The session of an agent gives its own run up, and is joined when this one goes on.
        let is_session = |call: &CallTool| self.state.machine.is_session_call(call);
        let call_of = |effect: &Effect| match effect {
            Effect::CallTool(call) if call.needs_claim() && !is_session(call) => Some(call.id.clone()),
            Effect::Abort { effect, .. } => Some(effect.clone()),
            _ => None,
        };
        let calls: Vec<EffectId> = self.state.pending.iter().filter_map(call_of).collect();
        self.in_progress.retain(|id, task| {
            let is_kept = calls.contains(id) || self.aborting.contains_key(id);
            if !is_kept {
                task.handle.abort();
            }
            is_kept
        });
        let clock = self.driver.executor().clock.clone();
        let end = clock.sleep_until(clock.now_ms().saturating_add(DRAIN_MS));
        tokio::pin!(end);
        let mut events: Vec<EventKind> = Vec::new();
        while !self.in_progress.is_empty() {
            let joined = tokio::select! {
                biased;
                joined = self.tasks.join_next() => joined,
                () = &mut end => None,
            };
            let Some(joined) = joined else { break };
            // A task that was aborted or panicked has no outcome: its call is in doubt, as after a crash.
            if let Ok((id, outcome)) = joined
                && self.in_progress.remove(&id).is_some()
            {
                events.extend(outcome.unwrap_or_default());
            }
        }
        let run = self.lease.run().clone();
        if let Err(error) = self.store_outcomes(events).await {
            tracing::error!(target: TARGET, run = %run, "outcomes of calls could not be stored: {error}");
        }
        // A run that has ended has no lease any more, and one that another process took over has another one.
        if self.has_ended {
            return;
        }
        // After a failed commit the machine is ahead of the journal, and its state must not be saved.
        if self.unstored.is_some() || self.driver.release(&self.lease, &self.state).await.is_err() {
            self.driver.give_back(&self.lease).await;
        }
    }

    /// Stores outcomes, after the events whose append failed. The machine is ahead of the journal then, so it is restored first.
    async fn store_outcomes(&mut self, mut events: Vec<EventKind>) -> Result<(), DriveError> {
        let mut consumed = Vec::new();
        if let Some(unstored) = &self.unstored {
            let executor = &self.driver.executor();
            let unwatched = Watcher::default();
            let how = (Changes::Refused, self.driver.shared.migrations);
            let state = restore(&executor.journal, self.lease.run(), &executor.telemetry, &unwatched, how).await?;
            // An append may fail after it was written.
            if state.machine.event_count() == unstored.len {
                consumed.clone_from(&unstored.consumed);
                events.splice(0..0, unstored.kinds.iter().cloned());
            }
            (self.state, self.unstored) = (state, None);
        }
        self.commit(events, consumed, Claims::None).await
    }
}
