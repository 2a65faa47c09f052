//! `RotationPolicy::PreferPrimary`: a target gets a second attempt where that can help, before the next one is tried.

use super::{BlockedBy, ErrorClass, GiveUpReason, ModelFailure, Next, Rotation, RotationSlot, WaitCause, WaitSource};

impl Rotation {
    pub(super) fn prefer_after_failure(&mut self, failure: &ModelFailure, now_ms: u64) -> Next {
        let attempts = self.count_attempt(failure);
        match failure.class {
            // `Rotation::failed` has dropped the target.
            ErrorClass::AuthError | ErrorClass::QuotaExceeded => {}
            // Another target must not be used to get around a content filter. The caller is told why.
            ErrorClass::ContentFilter => return self.give_up(GiveUpReason::Fatal(failure.class)),
            ErrorClass::ModelError => self.exclude_current(|_, _| false),
            ErrorClass::ContextLength => self.exclude_current(|window, too_small| window <= too_small),
            ErrorClass::RateLimit => {
                let wait = self.due_wait(failure, attempts);
                if self.may_retry_target(attempts) && wait.ms <= self.rules.short_wait_ms {
                    self.wait_cause = wait.cause;
                    return self.next_after(wait.ms, now_ms);
                }
                self.postpone_target(now_ms.saturating_add(wait.ms), wait.cause, wait.is_blocked_beyond);
            }
            ErrorClass::NetworkError => {
                let wait = failure.retry_after_ms.unwrap_or(0);
                if self.may_retry_target(attempts) && !has_begun(failure) && wait <= self.rules.short_wait_ms {
                    self.wait_cause = WaitCause::of_failure(failure);
                    return self.next_after(wait, now_ms);
                }
                self.postpone_target(now_ms.saturating_add(wait), WaitCause::of_failure(failure), false);
            }
            // The attempt has cost time already, and another target is likelier to answer than this one.
            ErrorClass::Timeout | ErrorClass::InvalidResponse => {
                let wait = failure.retry_after_ms.unwrap_or(0);
                self.postpone_target(now_ms.saturating_add(wait), WaitCause::of_failure(failure), false);
            }
        }
        if self.all_excluded() {
            return self.give_up(GiveUpReason::Fatal(failure.class));
        }
        if let Some(spent) = self.attempts_spent() {
            return self.give_up(spent);
        }
        let wait = self.switch_target(now_ms);
        self.next_after(wait, now_ms)
    }

    /// Tries another target, or waits for the first breaker that half-opens.
    pub(super) fn prefer_past_breaker(&mut self, until_ms: u64, by: BlockedBy, now_ms: u64) -> Next {
        let is_blocked_beyond = until_ms.saturating_sub(now_ms) > self.rules.max_wait_ms;
        self.postpone_target(until_ms.max(now_ms.saturating_add(1)), WaitCause::of_blocked(by), is_blocked_beyond);
        let wait = self.switch_target(now_ms);
        if wait > 0 && !self.may_wait_for_breaker() {
            return self.give_up(GiveUpReason::BreakersOpen);
        }
        self.next_after(wait, now_ms)
    }

    /// Counts the attempt and returns how many the target has had in this round; 0 for a dropped target.
    fn count_attempt(&mut self, failure: &ModelFailure) -> u32 {
        match self.slots.get_mut(self.cursor) {
            Some(slot) if !failure.class.is_fatal() => {
                slot.attempts = slot.attempts.saturating_add(1);
                slot.attempts
            }
            _ => 0,
        }
    }

    /// Whether the target may have its second attempt, and every untried target still gets its first.
    fn may_retry_target(&self, attempts: u32) -> bool {
        let untried = self.slots.iter().filter(|slot| !slot.excluded && slot.attempts == 0).count();
        let left = self.rules.max_attempts.saturating_sub(self.attempts);
        attempts < 2 && usize::try_from(left).unwrap_or(usize::MAX) > untried
    }

    fn postpone_target(&mut self, ready_at_ms: u64, cause: WaitCause, is_blocked_beyond: bool) {
        if let Some(slot) = self.slots.get_mut(self.cursor) {
            (slot.ready_at_ms, slot.wait_cause, slot.blocked_beyond_wait) = (ready_at_ms, cause, is_blocked_beyond);
        }
    }

    /// Moves to the first target that is ready and untried in this round; if there is none, starts a new round with the
    /// target that is ready first. Returns the wait until then.
    pub(super) fn switch_target(&mut self, now_ms: u64) -> u64 {
        let is_ready = |slot: &RotationSlot| !slot.excluded && slot.attempts == 0 && slot.ready_at_ms <= now_ms;
        if let Some(index) = self.slots.iter().position(is_ready) {
            self.cursor = index;
            return 0;
        }
        let pause = u64::from(self.attempts).saturating_mul(1000).max(self.rules.min_wait_ms);
        let ready_at = |slot: &RotationSlot| match slot.attempts {
            0 => slot.ready_at_ms,
            _ => slot.ready_at_ms.max(now_ms.saturating_add(pause)),
        };
        let eligible = self.slots.iter().enumerate().filter(|(_, slot)| !slot.excluded);
        let first = eligible.map(|(index, slot)| (ready_at(slot), index)).min();
        for slot in &mut self.slots {
            slot.attempts = 0;
        }
        let Some((ready_at_ms, index)) = first else { return 0 };
        self.cursor = index;
        if let Some(slot) = self.slots.get(index) {
            self.wait_cause = slot.wait_cause.clone();
            self.asks_while_blocked = slot.blocked_beyond_wait;
            if slot.ready_at_ms < ready_at_ms {
                self.wait_cause.source = WaitSource::Backoff;
            }
        }
        ready_at_ms.saturating_sub(now_ms).min(self.rules.max_wait_ms)
    }
}

/// Whether a part of the answer had arrived. Its time is spent, and the answer may break off again.
fn has_begun(failure: &ModelFailure) -> bool {
    !failure.partial.is_empty() || failure.usage.is_some_and(|usage| usage.output_tokens > 0)
}
