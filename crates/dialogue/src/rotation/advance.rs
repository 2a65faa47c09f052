//! Every failed attempt moves on to the next target.

use super::{ErrorClass, Failure, GiveUp, Next, Rotation};

impl Rotation {
    pub(super) fn advance(&mut self, failure: &Failure, now_ms: u64) -> Next {
        // One whose key was refused is gone: the next has moved up into its place.
        if !failure.class.fatal() {
            let limited = failure.class == ErrorClass::RateLimit;
            self.move_on(limited.then(|| self.wait_for(failure, self.attempts)));
        }
        if let Some(spent) = self.spent() {
            return self.give_up(spent);
        }
        let wait = self.wait_due();
        let next = self.next_after(wait.unwrap_or(0), now_ms);
        if let Next::Wait { .. } = next {
            self.clear_limits();
        }
        next
    }

    /// A target that rests counts as one that is at its limit.
    pub(super) fn advance_past(&mut self, until_ms: u64, now_ms: u64) -> Next {
        self.move_on(Some(until_ms.saturating_sub(now_ms).max(1).min(self.rules.max_wait_ms)));
        let Some(wait) = self.wait_due() else { return self.next_after(0, now_ms) };
        if !self.may_rest() {
            return self.give_up(GiveUp::Resting);
        }
        self.clear_limits();
        self.next_after(wait, now_ms)
    }

    /// Notes what the target has said and goes on to the next seat.
    fn move_on(&mut self, limited_ms: Option<u64>) {
        if let Some(seat) = self.seats.get_mut(self.cursor) {
            seat.limited_ms = limited_ms;
        }
        self.cursor = if self.cursor + 1 < self.seats.len() { self.cursor + 1 } else { 0 };
    }

    /// The longest wait, if every target in the round is at its limit.
    fn wait_due(&self) -> Option<u64> {
        self.seats.iter().map(|seat| seat.limited_ms).try_fold(0, |longest, wait| wait.map(|wait| longest.max(wait)))
    }

    fn clear_limits(&mut self) {
        for seat in &mut self.seats {
            seat.limited_ms = None;
        }
    }
}
