//! `RotationPolicy::Advance`: every failed attempt moves on to the next target.

use super::{BlockedBy, DueWait, ErrorClass, GiveUpReason, ModelFailure, Next, Rotation, RotationSlot, WaitCause};

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
            self.set_due_wait(self.needs_wait(failure).then(|| self.due_wait(failure, self.attempts)));
            if let Some(slot) = self.slots.get_mut(self.cursor) {
                slot.attempts = slot.attempts.saturating_add(1);
            }
            self.move_to_next_slot();
        }
        if let Some(spent) = self.attempts_spent() {
            return self.give_up(spent);
        }
        match self.longest_wait_if_all_wait() {
            Some(slot) => self.wait_for_slot(slot, now_ms),
            None => self.next_after(0, now_ms),
        }
    }

    /// Whether the target needs a wait before its next attempt. After a network error the next target is asked without a
    /// wait; a single target would only spend its attempts before the server has recovered, and so would one that states
    /// when it will have.
    fn needs_wait(&self, failure: &ModelFailure) -> bool {
        match failure.class {
            ErrorClass::RateLimit => true,
            ErrorClass::NetworkError => failure.retry_after_ms.is_some() || !self.has_other_target(),
            _ => false,
        }
    }

    /// Treats the target with the open breaker like a rate-limited one.
    pub(super) fn advance_past_breaker(&mut self, until_ms: u64, by: BlockedBy, now_ms: u64) -> Next {
        let blocked_ms = until_ms.saturating_sub(now_ms).max(1);
        self.set_due_wait(Some(DueWait {
            ms: blocked_ms.min(self.rules.max_wait_ms),
            cause: WaitCause::of_blocked(by),
            is_blocked_beyond: blocked_ms > self.rules.max_wait_ms,
        }));
        self.move_to_next_slot();
        let slot = self.longest_wait_if_all_wait().or_else(|| self.wait_of_last_attempt(now_ms));
        let Some(slot) = slot else { return self.next_after(0, now_ms) };
        if !self.may_wait_for_breaker() {
            return self.give_up(GiveUpReason::BreakersOpen);
        }
        self.wait_for_slot(slot, now_ms)
    }

    /// Moves past a target that was excluded without an attempt.
    pub(super) fn advance_past_excluded(&mut self, now_ms: u64) -> Next {
        self.move_to_next_slot();
        match self.longest_wait_if_all_wait() {
            Some(slot) => self.wait_for_slot(slot, now_ms),
            None => self.next_after(0, now_ms),
        }
    }

    /// The slot that can be asked first, if only one attempt is left and the next target has failed already: the attempt is worth more
    /// with a target that only cools down. The cursor moves to that slot.
    fn wait_of_last_attempt(&mut self, now_ms: u64) -> Option<usize> {
        let is_last = self.attempts.saturating_add(1) >= self.rules.max_attempts;
        let has_failed = self.slots.get(self.cursor).is_some_and(|slot| slot.attempts > 0);
        if !is_last || !has_failed {
            return None;
        }
        let waits = self.slots.iter().enumerate().filter(|(_, slot)| !slot.excluded);
        let (ms, first) = waits.filter_map(|(index, slot)| Some((slot.due_wait_ms?, index))).min()?;
        let is_in_time = self.deadline_ms.is_none_or(|deadline| now_ms.saturating_add(ms) < deadline);
        is_in_time.then(|| {
            self.cursor = first;
            first
        })
    }

    /// Waits as long as a slot asks, before the target at the cursor is asked.
    fn wait_for_slot(&mut self, slot: usize, now_ms: u64) -> Next {
        self.asks_while_blocked = self.slots.get(self.cursor).is_some_and(|slot| slot.blocked_beyond_wait);
        let Some(waited) = self.slots.get(slot) else { return self.next_after(0, now_ms) };
        let ms = waited.due_wait_ms.unwrap_or(0);
        self.wait_cause = waited.wait_cause.clone();
        for slot in &mut self.slots {
            slot.set_due_wait(None);
        }
        self.next_after(ms, now_ms)
    }

    fn set_due_wait(&mut self, wait: Option<DueWait>) {
        if let Some(slot) = self.slots.get_mut(self.cursor) {
            slot.set_due_wait(wait);
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

    /// The slot with the longest due wait, if every eligible one has one.
    fn longest_wait_if_all_wait(&self) -> Option<usize> {
        let waits = self.slots.iter().enumerate().filter(|(_, slot)| !slot.excluded);
        let waits = waits.map(|(index, slot)| slot.due_wait_ms.map(|ms| (ms, index)));
        let longest = waits.reduce(|longest, wait| match (longest?, wait?) {
            (longest, wait) if wait.0 > longest.0 => Some(wait),
            (longest, _) => Some(longest),
        });
        longest.flatten().map(|(_, index)| index)
    }
}

impl RotationSlot {
    fn set_due_wait(&mut self, wait: Option<DueWait>) {
        let (ms, cause, blocked) = match wait {
            Some(wait) => (Some(wait.ms), wait.cause, wait.is_blocked_beyond),
            None => (None, WaitCause::default(), false),
        };
        (self.due_wait_ms, self.wait_cause, self.blocked_beyond_wait) = (ms, cause, blocked);
    }
}
