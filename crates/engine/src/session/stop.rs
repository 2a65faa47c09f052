//! Requests to stop or cancel a session, and resumption by another process.

use super::Session;
use super::state::{AbortReason, Phase};
use crate::event::EventKind;
use crate::record::{SessionRecord, TurnOutcome, WaitEnd};
use crate::report::FinalTurnReason;

/// The most time that is reserved for the final turn.
const MAX_RESERVE_MS: u64 = 60_000;

/// The part of a time limit that is reserved for the final turn.
pub(super) fn final_turn_reserve_ms(limit_ms: u64) -> u64 {
    (limit_ms / 4).min(MAX_RESERVE_MS)
}

impl Session {
    /// The active time after which the deadline is due: earlier before the final turn, so that time is left for it.
    pub(super) fn time_limit_ms(&self) -> Option<u64> {
        let limit_ms = self.started.rules.max_time_ms?;
        Some(if self.is_final_turn() { limit_ms } else { limit_ms - final_turn_reserve_ms(limit_ms) })
    }

    /// Forces the final turn when only the time for it is left, and ends the session at the time limit.
    pub(super) fn on_deadline(&mut self) {
        if self.is_final_turn() {
            return self.abort(AbortReason::TimeLimit);
        }
        self.set_final_turn(FinalTurnReason::TimeLimit);
        if matches!(self.state.phase, Phase::Calling(_)) {
            return self.apply_to_all_calls(self.state.now_ms, &EventKind::Cancelled);
        }
        self.interrupt_turn(WaitEnd::AbortedStop);
        self.begin_turn();
    }

    /// Makes the next turn the final one. In the final turn, ends a wait for rate limits.
    pub(super) fn stop(&mut self) {
        let was_final_turn = self.is_final_turn();
        if was_final_turn && !matches!(self.state.phase, Phase::Waiting { .. }) {
            return;
        }
        self.set_final_turn(FinalTurnReason::UserStop);
        // Calls in progress may drain, and a called agent may report; nothing else starts.
        if matches!(self.state.phase, Phase::Calling(_)) {
            return self.apply_to_all_calls(self.state.now_ms, &EventKind::Stopped);
        }
        self.interrupt_turn(WaitEnd::AbortedStop);
        if was_final_turn { self.end_with_fallback_report() } else { self.begin_turn() }
    }

    /// Ends the session at once, except that calls in progress may drain.
    pub(super) fn abort(&mut self, reason: AbortReason) {
        self.state.abort_reason.get_or_insert(reason);
        match &self.state.phase {
            Phase::Asking { .. } | Phase::Counting { .. } | Phase::Waiting { .. } => {
                self.interrupt_turn(WaitEnd::AbortedCancel);
                self.end_with_fallback_report();
            }
            Phase::Calling(_) => self.apply_to_all_calls(self.state.now_ms, &EventKind::Cancelled),
            Phase::Ended(_) => {}
        }
    }

    /// Ends a turn whose question is not answered yet. Its notices are about answers of that turn.
    fn interrupt_turn(&mut self, wait_end: WaitEnd) {
        self.state.notices.clear();
        match self.state.phase {
            Phase::Asking { .. } => self.abandon_attempt(),
            Phase::Counting { attempt } => self.end_turn(TurnOutcome::Stopped, attempt - 1),
            Phase::Waiting { attempt, .. } => {
                self.end_wait(wait_end);
                self.end_turn(TurnOutcome::Stopped, attempt);
            }
            Phase::Calling(_) | Phase::Ended(_) => {
                self.end_on_internal_error("a turn was interrupted whose question is answered");
            }
        }
    }

    /// Starts effects in progress again after another process took over, and charges for them again.
    pub(super) fn on_resumed(&mut self, last_ms: i64) {
        let now_ms = self.state.now_ms;
        self.state.clock.resume(last_ms, now_ms);
        self.update_rotation_deadline();
        self.record(SessionRecord::Resumed);
        match &self.state.phase {
            // It is the same attempt; only its question is charged again.
            Phase::Asking { .. } => {
                let before = self.state.final_turn_reason;
                self.pay_for_question();
                // If this was the last question in the budget, its text changes, so it needs a new id.
                self.state.question_ordinal += u32::from(self.state.final_turn_reason != before);
                if matches!(self.state.phase, Phase::Asking { .. }) {
                    self.record_question();
                }
            }
            Phase::Calling(_) => self.apply_to_all_calls(now_ms, &EventKind::Resumed),
            Phase::Counting { .. } | Phase::Waiting { .. } | Phase::Ended(_) => {}
        }
    }
}
