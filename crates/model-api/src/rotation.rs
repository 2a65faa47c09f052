//! State machine that chooses the model target of each attempt.

mod advance;
mod prefer_primary;
mod rules;
#[cfg(test)]
mod tests;
mod wait;

use serde::{Deserialize, Serialize};

pub use rules::{AfterRefusal, GiveUpReason, Next, OnAuthError, RotationPolicy, RotationRules};
pub use wait::{BlockedBy, ModelWaitReason, WaitCause, WaitSource, WaitSourceError};

use crate::{ErrorClass, ModelFailure, TargetName, is_default};

/// Chooses the target of each attempt at one request, and the waits between attempts.
///
/// What follows from a failure, with [`RotationPolicy::Advance`] first and [`RotationPolicy::PreferPrimary`] second:
///
/// * a rate limit
///   1. the next target; if all are rate limited, a wait for the longest `Retry-After`
///   2. the same target after its wait, once, if that is short; else the next
/// * a network error
///   1. the next target; a single target, or one that states a `Retry-After`, after a wait
///   2. the same target, once, unless a part of the answer had arrived; else the next
/// * a timeout, an invalid response
///   1. the next target
///   2. the same
/// * a refused request
///   1. the next target; this one is excluded while another is eligible
///   2. the next target; this one is excluded
/// * a request longer than the context window
///   1. the next target; this one is excluded while another is eligible
///   2. the next target that is not known to have as small a window
/// * a content filter
///   1. the next target; this one is excluded while another is eligible
///   2. give up
/// * a refused key, an exceeded quota
///   1. give up, or drop the target for good
///   2. the same
/// * an open breaker ([`Rotation::breaker_open`])
///   1. the next target; if all are open or rate limited, a wait; if all others failed, a wait before the last attempt
///   2. the next target; if all are open, a wait for the first that half-opens
///
/// Both policies wrap around until the attempts are spent, and never wait without an attempt to follow. The next
/// request starts at the first target again, or at the first that has not refused a request
/// ([`RotationRules::after_refusal`]).
///
/// The caller reports what happened, and the rotation says what to do. It is pure, and can be serialized at any point
/// and continued from there.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rotation {
    rules: RotationRules,
    slots: Vec<RotationSlot>,
    cursor: usize,
    attempts: u32,
    /// The number of waits for open breakers. Limited by `max_attempts`, so that the rotation ends.
    breaker_waits: u32,
    deadline_ms: Option<u64>,
    gave_up: Option<GiveUpReason>,
    /// Why the last wait was made.
    #[serde(default, skip_serializing_if = "is_default")]
    wait_cause: WaitCause,
    /// Whether [`Rotation::target`] is asked after the longest wait although its cool-down is longer.
    #[serde(default, skip_serializing_if = "is_default")]
    asks_while_blocked: bool,
}

/// One position in the round, with the state of its target for the current request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RotationSlot {
    target: TargetName,
    /// The wait before the next attempt, if the last attempt asked for one and no wait has been made since.
    due_wait_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "is_default")]
    wait_cause: WaitCause,
    /// The target's breaker blocks it for longer than the longest wait.
    #[serde(default, skip_serializing_if = "is_default")]
    blocked_beyond_wait: bool,
    attempts: u32,
    ready_at_ms: u64,
    /// The target refused this request, or its context window is known to be too small.
    excluded: bool,
    /// The target refused a request in a way in which it will refuse the next one, too.
    #[serde(default, skip_serializing_if = "is_default")]
    refused: bool,
}

/// A wait before a target is asked again.
#[derive(Debug)]
struct DueWait {
    ms: u64,
    cause: WaitCause,
    is_blocked_beyond: bool,
}

impl RotationSlot {
    fn new(target: TargetName) -> Self {
        Self {
            target,
            due_wait_ms: None,
            wait_cause: WaitCause::default(),
            blocked_beyond_wait: false,
            attempts: 0,
            ready_at_ms: 0,
            excluded: false,
            refused: false,
        }
    }

    fn for_next_request(&self) -> Self {
        Self { excluded: self.refused, refused: self.refused, ..Self::new(self.target.clone()) }
    }
}

impl Rotation {
    /// Starts at the first target. A target that is listed twice is asked twice in a round.
    pub fn new(targets: Vec<TargetName>, rules: RotationRules) -> Self {
        let slots = targets.into_iter().map(RotationSlot::new).collect();
        let mut rotation = Self { rules, slots, ..Self::default() };
        rotation.restart();
        rotation
    }

    /// Gives up rather than starting an attempt at or after this time of the clock that [`Rotation::failed`] is given.
    pub fn set_deadline_ms(&mut self, deadline_ms: u64) {
        self.deadline_ms = Some(deadline_ms);
    }

    /// The target of the next attempt; none after [`Next::GiveUp`].
    pub fn target(&self) -> Option<&TargetName> {
        match self.gave_up {
            Some(_) => None,
            None => self.slots.get(self.cursor).map(|slot| &slot.target),
        }
    }

    /// All targets but those that were dropped for a refused key or an exceeded quota.
    pub fn targets(&self) -> impl Iterator<Item = &TargetName> {
        self.slots.iter().map(|slot| &slot.target)
    }

    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Why the wait is made that was decided last.
    pub fn wait_cause(&self) -> &WaitCause {
        &self.wait_cause
    }

    /// Whether [`Rotation::target`] is asked although its breaker blocks it: the longest wait is over, and a further
    /// one would only postpone the answer.
    pub fn asks_while_blocked(&self) -> bool {
        self.asks_while_blocked
    }

    pub fn gave_up(&self) -> Option<&GiveUpReason> {
        self.gave_up.as_ref()
    }

    /// Reports that the attempt on [`Rotation::target`] failed.
    ///
    /// Once the rotation has given up, it repeats its reason and counts nothing.
    pub fn failed(&mut self, failure: &ModelFailure, now_ms: u64) -> Next {
        if let Some(reason) = &self.gave_up {
            return Next::GiveUp(reason.clone());
        }
        self.asks_while_blocked = false;
        self.attempts = self.attempts.saturating_add(1);
        if failure.class.is_fatal() {
            if self.rules.on_auth_error == OnAuthError::End || !self.has_other_target() {
                return self.give_up(GiveUpReason::Fatal(failure.class));
            }
            self.drop_target();
        } else if self.is_skipped_after(failure) {
            self.mark_refused();
        }
        match self.rules.policy {
            RotationPolicy::Advance => self.advance_after_failure(failure, now_ms),
            RotationPolicy::PreferPrimary => self.prefer_after_failure(failure, now_ms),
        }
    }

    /// Reports that [`Rotation::target`] answered, and that the same target is to be asked once more. It counts as an
    /// attempt.
    pub fn ask_again(&mut self, now_ms: u64) -> Next {
        if let Some(reason) = &self.gave_up {
            return Next::GiveUp(reason.clone());
        }
        self.asks_while_blocked = false;
        self.attempts = self.attempts.saturating_add(1);
        match self.attempts_spent() {
            Some(spent) => self.give_up(spent),
            None => self.next_after(0, now_ms),
        }
    }

    /// Reports that [`Rotation::target`] was not asked because its [`Breaker`](crate::Breaker) is open.
    ///
    /// This is not an attempt. Only waits for breakers are counted, and their number is limited.
    pub fn breaker_open(&mut self, until_ms: u64, by: BlockedBy, now_ms: u64) -> Next {
        if let Some(reason) = &self.gave_up {
            return Next::GiveUp(reason.clone());
        }
        self.asks_while_blocked = false;
        match self.rules.policy {
            RotationPolicy::Advance => self.advance_past_breaker(until_ms, by, now_ms),
            RotationPolicy::PreferPrimary => self.prefer_past_breaker(until_ms, by, now_ms),
        }
    }

    /// Excludes [`Rotation::target`] from this request without an attempt, because it is known not to be able to serve
    /// it.
    ///
    /// Returns none if every target is excluded now; [`Rotation::readmit`] makes them eligible again.
    pub fn exclude_target(&mut self, now_ms: u64) -> Option<Next> {
        if let Some(reason) = &self.gave_up {
            return Some(Next::GiveUp(reason.clone()));
        }
        self.asks_while_blocked = false;
        self.exclude_current(|_, _| false);
        if self.all_excluded() {
            return None;
        }
        Some(match self.rules.policy {
            RotationPolicy::Advance => self.advance_past_excluded(now_ms),
            RotationPolicy::PreferPrimary => {
                let wait = self.switch_target(now_ms);
                self.next_after(wait, now_ms)
            }
        })
    }

    /// Lets later requests ask a target that refused one, because they will not have what it refused.
    pub fn forget_refusal(&mut self, target: &TargetName) {
        for slot in self.slots.iter_mut().filter(|slot| slot.target == *target) {
            slot.refused = false;
        }
    }

    /// Makes every excluded target eligible again, for a request that has changed.
    pub fn readmit(&mut self) {
        for slot in &mut self.slots {
            (slot.excluded, slot.refused) = (false, false);
        }
    }

    /// Restarts, after an answer or for the next request: at the first target, with all attempts. Targets that were
    /// dropped for their key or their quota stay out, because waiting does not help them; those that refused a request
    /// are skipped while another is eligible.
    pub fn restart(&mut self) {
        self.attempts = 0;
        self.breaker_waits = 0;
        self.wait_cause = WaitCause::default();
        self.asks_while_blocked = false;
        for slot in &mut self.slots {
            *slot = slot.for_next_request();
        }
        if self.all_excluded() {
            self.readmit();
        }
        self.cursor = self.slots.iter().position(|slot| !slot.excluded).unwrap_or(0);
        self.gave_up = if self.slots.is_empty() {
            Some(GiveUpReason::NoTargets)
        } else if self.rules.max_attempts == 0 {
            Some(GiveUpReason::AttemptsSpent { attempts: 0 })
        } else {
            None
        };
    }

    fn attempts_spent(&self) -> Option<GiveUpReason> {
        (self.attempts >= self.rules.max_attempts).then_some(GiveUpReason::AttemptsSpent { attempts: self.attempts })
    }

    /// The provider's `Retry-After`, else a second for each attempt, within the bounds of the rules. The target's
    /// cool-down counts if it is longer, so that there is one wait.
    fn due_wait(&self, failure: &ModelFailure, attempts: u32) -> DueWait {
        let own_ms = self.wait_for(failure, attempts);
        let cool_down_ms = failure.cool_down_ms.unwrap_or(0);
        let is_longer = cool_down_ms.min(self.rules.max_wait_ms) > own_ms;
        let cause = if is_longer { WaitCause::of_cool_down(failure.class) } else { WaitCause::of_failure(failure) };
        DueWait {
            ms: own_ms.max(cool_down_ms.min(self.rules.max_wait_ms)),
            cause,
            is_blocked_beyond: cool_down_ms > self.rules.max_wait_ms,
        }
    }

    fn wait_for(&self, failure: &ModelFailure, attempts: u32) -> u64 {
        let wait_ms = failure.retry_after_ms.unwrap_or_else(|| u64::from(attempts).saturating_mul(1000));
        // Not `clamp`, which panics if `min_wait_ms` is set above `max_wait_ms`.
        wait_ms.max(self.rules.min_wait_ms).min(self.rules.max_wait_ms)
    }

    /// Asks or waits, unless the attempt would begin after the deadline.
    fn next_after(&mut self, wait_ms: u64, now_ms: u64) -> Next {
        if self.deadline_ms.is_some_and(|deadline| now_ms.saturating_add(wait_ms) >= deadline) {
            return self.give_up(GiveUpReason::Deadline);
        }
        if wait_ms == 0 { Next::Ask } else { Next::Wait { ms: wait_ms } }
    }

    /// Counts a wait for open breakers; false if there were too many.
    fn may_wait_for_breaker(&mut self) -> bool {
        self.breaker_waits = self.breaker_waits.saturating_add(1);
        self.breaker_waits <= self.rules.max_attempts
    }

    fn has_other_target(&self) -> bool {
        self.slots.get(self.cursor).is_some_and(|current| self.slots.iter().any(|slot| slot.target != current.target))
    }

    fn all_excluded(&self) -> bool {
        self.slots.iter().all(|slot| slot.excluded)
    }

    /// Excludes the current target from this request, and every other whose context window `is_too_small` next to the
    /// current one's.
    fn exclude_current(&mut self, is_too_small: fn(u32, u32) -> bool) {
        let Some(current) = self.slots.get(self.cursor).map(|slot| slot.target.clone()) else { return };
        let windows = &self.rules.context_windows;
        let own = windows.get(&current).copied();
        for slot in &mut self.slots {
            let too_small = windows.get(&slot.target).zip(own).is_some_and(|(window, own)| is_too_small(*window, own));
            slot.excluded |= slot.target == current || too_small;
        }
    }

    /// Whether later requests skip the target. [`RotationPolicy::PreferPrimary`] uses no other target to get around a
    /// content filter.
    fn is_skipped_after(&self, failure: &ModelFailure) -> bool {
        let is_filter_kept =
            self.rules.policy == RotationPolicy::PreferPrimary && failure.class == ErrorClass::ContentFilter;
        self.rules.after_refusal == AfterRefusal::Skip && failure.is_refusal() && !is_filter_kept
    }

    fn mark_refused(&mut self) {
        let Some(current) = self.slots.get(self.cursor).map(|slot| slot.target.clone()) else { return };
        for slot in self.slots.iter_mut().filter(|slot| slot.target == current) {
            slot.refused = true;
        }
    }

    /// Removes all slots of the current target; the cursor then points to the slot after it.
    fn drop_target(&mut self) {
        let Some(dropped) = self.slots.get(self.cursor).map(|slot| slot.target.clone()) else { return };
        let before = self.slots.iter().take(self.cursor).filter(|slot| slot.target == dropped).count();
        self.slots.retain(|slot| slot.target != dropped);
        self.cursor -= before;
        if self.cursor >= self.slots.len() {
            self.cursor = 0;
        }
    }

    fn give_up(&mut self, reason: GiveUpReason) -> Next {
        self.gave_up = Some(reason.clone());
        Next::GiveUp(reason)
    }
}
