//! What happens to a run whose driver fails, or whose future is dropped: calls that may have taken effect are waited for, their
//! outcomes are stored, and the lease is given back, so that the run can be resumed at once.

use reknit_engine::{Effect, EventKind};
use reknit_protocol::EffectId;

use super::run_loop::RunLoop;
use super::{DriveOutcome, LEASE_MS};
use crate::error::DriveError;
use crate::telemetry::log::TARGET;

/// How long calls in progress are waited for. Shorter than a lease, which is not renewed meanwhile.
const DRAIN_MS: i64 = 20_000;
const _: () = assert!(DRAIN_MS.unsigned_abs() < LEASE_MS);

/// How a driver comes to a run.
#[derive(Debug, Clone, Copy)]
pub(super) enum Entry {
    /// It has just created it.
    New,
    /// Another process, or an earlier driver, left it.
    TakenOver,
    /// It had ended, and a person wants it to go on.
    Retried,
}

impl RunLoop {
    /// Drives the run in a task of its own until it ends or waits for a person. If this future is dropped, the task stops.
    pub(super) async fn drive(self, entry: Entry) -> Result<DriveOutcome, DriveError> {
        let _stop = self.abandoned.clone().drop_guard();
        match tokio::spawn(self.drive_or_drain(entry)).await {
            Ok(result) => result,
            Err(error) => Err(DriveError::Task(error.to_string())),
        }
    }

    async fn drive_or_drain(mut self, entry: Entry) -> Result<DriveOutcome, DriveError> {
        let result = match entry {
            Entry::New => self.run().await,
            Entry::TakenOver => match self.take_over().await {
                Ok(()) => self.run().await,
                Err(error) => Err(error),
            },
            Entry::Retried => match self.retry().await {
                Ok(()) => self.run().await,
                Err(error) => Err(error),
            },
        };
        if result.is_err() {
            self.drain().await;
        }
        result
    }

    /// Waits for the calls that may have taken effect, stores their outcomes, and gives the lease back. No new call is made.
    async fn drain(mut self) {
        // No call is made from now on, also by a task that still waits for its turn.
        self.abandoned.cancel();
        let is_call = |effect: &Effect| matches!(effect, Effect::CallTool(call) if call.needs_claim());
        let calls: Vec<EffectId> = self
            .state
            .pending
            .iter()
            .filter(|effect| is_call(effect))
            .filter_map(|effect| effect.id().cloned())
            .collect();
        self.in_progress.retain(|id, task| {
            let is_kept = calls.contains(id) || self.aborting.contains_key(id);
            if !is_kept {
                task.abort();
            }
            is_kept
        });
        let clock = self.driver.executor.clock.clone();
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
        if let Err(error) = self.commit(events, Vec::new()).await {
            tracing::error!(target: TARGET, run = %run, "outcomes of calls could not be stored: {error}");
        }
        // A run that has ended has no lease any more, and one that another process took over has another one.
        if self.state.machine.ending().is_none()
            && let Err(error) = self.driver.release(&self.lease, &self.state).await
        {
            // After a failed commit the machine is ahead of the journal, and its state must not be saved.
            if self.driver.executor.journal.release(&self.lease).await.is_ok() {
                return;
            }
            tracing::warn!(target: TARGET, run = %run, "the lease could not be released; it expires by itself: {error}");
        }
    }
}
