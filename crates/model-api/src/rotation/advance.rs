//! `RotationPolicy::Advance`: every failed attempt moves on to the next target.

use super::{ErrorClass, GiveUpReason, ModelFailure, Next, Rotation};

impl Rotation {
    pub(super) fn advance_after_failure(&mut self, failure: &ModelFailure, now_ms: u64) -> Next {
        if failure.class.is_fatal() {
            // The target was dropped, and the slot that moved up into its place may be excluded.
            self.readmit_if_all_excluded();
            if self.slots.get(self.cursor).is_some_and(|slot| slot.excluded) {
                self.move_to_next_slot();
            }
        } else {
            if failure.is_target_specific() {
                self.exclude_current(|_, _| false);
            }
            self.set_due_wait(self.needs_wait(failure.class).then(|| self.wait_for(failure, self.attempts)));
            self.move_to_next_slot();
        }
        if let Some(spent) = self.attempts_spent() {
            return self.give_up(spent);
        }
        let wait = self.longest_wait_if_all_wait();
        let next = self.next_after(wait.unwrap_or(0), now_ms);
        if let Next::Wait { .. } = next {
            self.clear_due_waits();
        }
        next
    }

    /// Whether the target needs a wait before its next attempt. After a network error the next target is asked without a
    /// wait; a single target would only spend its attempts before the server has recovered.
    fn needs_wait(&self, class: ErrorClass) -> bool {
        class == ErrorClass::RateLimit || (class == ErrorClass::NetworkError && !self.has_other_target())
    }

    /// Treats the target with the open breaker like a rate-limited one.
    pub(super) fn advance_past_breaker(&mut self, until_ms: u64, now_ms: u64) -> Next {
        self.set_due_wait(Some(until_ms.saturating_sub(now_ms).max(1).min(self.rules.max_wait_ms)));
        self.move_to_next_slot();
        let Some(wait) = self.longest_wait_if_all_wait() else { return self.next_after(0, now_ms) };
        if !self.may_wait_for_breaker() {
            return self.give_up(GiveUpReason::BreakersOpen);
        }
        self.clear_due_waits();
        self.next_after(wait, now_ms)
    }

    /// Moves past a target that was excluded without an attempt.
    pub(super) fn advance_past_excluded(&mut self, now_ms: u64) -> Next {
        self.move_to_next_slot();
        let wait = self.longest_wait_if_all_wait();
        if wait.is_some() {
            self.clear_due_waits();
        }
        self.next_after(wait.unwrap_or(0), now_ms)
    }

    fn set_due_wait(&mut self, wait_ms: Option<u64>) {
        if let Some(slot) = self.slots.get_mut(self.cursor) {
            slot.due_wait_ms = wait_ms;
        }
    }

    /// Moves to the next eligible slot. If all are excluded, all become eligible again, because a retry is better than an
    /// unused attempt.
    fn move_to_next_slot(&mut self) {
        self.readmit_if_all_excluded();
        let count = self.slots.len().max(1);
        let mut following = (1..=count).map(|step| (self.cursor + step) % count);
        let is_eligible = |index: &usize| self.slots.get(*index).is_some_and(|slot| !slot.excluded);
        self.cursor = following.find(is_eligible).unwrap_or(0);
    }

    fn readmit_if_all_excluded(&mut self) {
        if self.all_excluded() {
            self.readmit();
        }
    }

    /// The longest due wait, if every eligible slot has one.
    fn longest_wait_if_all_wait(&self) -> Option<u64> {
        let waits = self.slots.iter().filter(|slot| !slot.excluded).map(|slot| slot.due_wait_ms);
        waits.reduce(|longest, wait| longest.zip(wait).map(|(longest, wait)| longest.max(wait))).flatten()
    }

    fn clear_due_waits(&mut self) {
        for slot in &mut self.slots {
            slot.due_wait_ms = None;
        }
    }
}
