//! What ends a session from outside, and what another process finds when it goes on.

use super::Session;
use super::record::{ForcedReason, TurnOutcome, WaitEnd};
use super::state::{Halt, Phase};
use crate::event::What;

impl Session {
    /// Somebody wants it to come to its end: the next turn is the last one. In the last turn that is so already, but nobody
    /// is made to wait in it any more.
    pub(super) fn stop(&mut self) {
        if self.is_last_turn() {
            if let Phase::Waiting { attempt, .. } = self.state.phase {
                self.state.forced = Some(ForcedReason::UserStop);
                self.end_wait(WaitEnd::AbortedStop);
                self.end_turn(TurnOutcome::Stopped, attempt);
                self.end_without_report();
            }
            return;
        }
        self.state.forced = Some(ForcedReason::UserStop);
        match &self.state.phase {
            Phase::Asking { .. } => {
                self.abandon();
                self.begin_turn();
            }
            Phase::Counting { attempt } => {
                let attempts = *attempt - 1;
                self.end_turn(TurnOutcome::Stopped, attempts);
                self.begin_turn();
            }
            Phase::Waiting { attempt, .. } => {
                let attempts = *attempt;
                self.end_wait(WaitEnd::AbortedStop);
                self.end_turn(TurnOutcome::Stopped, attempts);
                self.begin_turn();
            }
            // What is under way may come to its end for a moment, an agent to its report; nothing else begins.
            Phase::Calling(_) => self.tell_all(self.state.now_ms, &What::Stopped),
            Phase::Ended(_) => {}
        }
    }

    /// It ends at once. Only calls under way are waited for, for as long as a call may drain.
    pub(super) fn halt(&mut self, halt: Halt) {
        self.state.halt.get_or_insert(halt);
        match &self.state.phase {
            Phase::Asking { .. } => {
                self.abandon();
                self.end_without_report();
            }
            Phase::Counting { attempt } => {
                let attempts = *attempt - 1;
                self.end_turn(TurnOutcome::Stopped, attempts);
                self.end_without_report();
            }
            Phase::Waiting { attempt, .. } => {
                let attempts = *attempt;
                self.end_wait(WaitEnd::AbortedCancel);
                self.end_turn(TurnOutcome::Stopped, attempts);
                self.end_without_report();
            }
            Phase::Calling(_) => self.tell_all(self.state.now_ms, &What::Cancelled),
            Phase::Ended(_) => {}
        }
    }

    /// Another process goes on: what nobody claimed is simply done again, and paid for again.
    pub(super) fn on_resumed(&mut self, last_ms: i64) {
        let now_ms = self.state.now_ms;
        self.state.clock.resume(last_ms, now_ms);
        match &self.state.phase {
            // The same attempt; only the question is paid for twice.
            Phase::Asking { .. } => {
                let forced = self.state.forced;
                self.pay_for_attempt();
                // With the last call that is left it becomes another question, so it has another name.
                self.state.asked += u32::from(self.state.forced != forced);
            }
            Phase::Calling(_) => self.tell_all(now_ms, &What::Resumed),
            Phase::Counting { .. } | Phase::Waiting { .. } | Phase::Ended(_) => {}
        }
    }
}
