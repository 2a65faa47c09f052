//! Every failed attempt moves on to the next target.

use super::seat::Fit;
use super::{ErrorClass, Failure, GiveUp, Next, Rotation};

impl Rotation {
    pub(super) fn advance(&mut self, failure: &Failure, now_ms: u64) -> Next {
        if failure.class.fatal() {
            // It is gone, and the next has moved up into its place, which may be one that is left out.
            self.readmit_if_all_are_out();
            if self.seats.get(self.cursor).is_some_and(|seat| seat.fit == Fit::No) {
                self.move_on();
            }
        } else {
            if failure.is_for_another() {
                self.mark_unfit(|_, _| false);
            }
            self.note_limit(self.must_rest(failure.class).then(|| self.wait_for(failure, self.attempts)));
            self.move_on();
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

    /// Whether the target is not to be asked again at once. A broken server is left for the next target without a wait; where
    /// there is no other, asking again at once only spends the attempts before it is well.
    fn must_rest(&self, class: ErrorClass) -> bool {
        class == ErrorClass::RateLimit || (class == ErrorClass::NetworkError && !self.has_another())
    }

    /// A target that rests counts as one that is at its limit.
    pub(super) fn advance_past(&mut self, until_ms: u64, now_ms: u64) -> Next {
        self.note_limit(Some(until_ms.saturating_sub(now_ms).max(1).min(self.rules.max_wait_ms)));
        self.move_on();
        let Some(wait) = self.wait_due() else { return self.next_after(0, now_ms) };
        if !self.may_rest() {
            return self.give_up(GiveUp::Resting);
        }
        self.clear_limits();
        self.next_after(wait, now_ms)
    }

    /// Goes past a target that was not asked because the question is not for it.
    pub(super) fn advance_without(&mut self, now_ms: u64) -> Next {
        self.move_on();
        let wait = self.wait_due();
        if wait.is_some() {
            self.clear_limits();
        }
        self.next_after(wait.unwrap_or(0), now_ms)
    }

    fn note_limit(&mut self, limited_ms: Option<u64>) {
        if let Some(seat) = self.seats.get_mut(self.cursor) {
            seat.limited_ms = limited_ms;
        }
    }

    /// Goes on to the next seat that is not left out. When all are, they all come into question again: the attempts that are
    /// left are better used than not.
    fn move_on(&mut self) {
        self.readmit_if_all_are_out();
        let count = self.seats.len().max(1);
        let next = (1..=count).map(|step| (self.cursor + step) % count);
        let fit = |index: &usize| self.seats.get(*index).is_some_and(|seat| seat.fit == Fit::Yes);
        self.cursor = next.into_iter().find(fit).unwrap_or(0);
    }

    fn readmit_if_all_are_out(&mut self) {
        if self.seats.iter().all(|seat| seat.fit == Fit::No) {
            self.readmit();
        }
    }

    /// The longest wait, if every target that is not left out is at its limit.
    fn wait_due(&self) -> Option<u64> {
        let asked = self.seats.iter().filter(|seat| seat.fit == Fit::Yes).map(|seat| seat.limited_ms);
        asked.reduce(|longest, wait| longest.zip(wait).map(|(longest, wait)| longest.max(wait))).flatten()
    }

    fn clear_limits(&mut self) {
        for seat in &mut self.seats {
            seat.limited_ms = None;
        }
    }
}
