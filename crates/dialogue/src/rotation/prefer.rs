//! Each target gets a second attempt where that can help; the next one is asked only then.

use super::seat::Fit;
use super::{ErrorClass, Failure, GiveUp, Next, Rotation};

impl Rotation {
    pub(super) fn prefer(&mut self, failure: &Failure, now_ms: u64) -> Next {
        let tries = self.count_try(failure);
        match failure.class {
            // It has been dropped.
            ErrorClass::AuthError | ErrorClass::QuotaExceeded => {}
            // Others would be asked to say what this one must not. Who asks is told why.
            ErrorClass::ContentFilter => return self.give_up(GiveUp::Fatal(failure.class)),
            ErrorClass::ModelError => self.mark_unfit(|_, _| false),
            ErrorClass::ContextLength => self.mark_unfit(|window, too_small| window <= too_small),
            ErrorClass::RateLimit => {
                let wait = self.wait_for(failure, tries);
                if self.may_stay(tries) && wait <= self.rules.short_wait_ms {
                    return self.next_after(wait, now_ms);
                }
                self.leave_until(now_ms.saturating_add(wait));
            }
            ErrorClass::NetworkError => {
                let wait = failure.retry_after_ms.unwrap_or(0);
                if self.may_stay(tries) && !has_begun(failure) && wait <= self.rules.short_wait_ms {
                    return self.next_after(wait, now_ms);
                }
                self.leave_until(now_ms.saturating_add(wait));
            }
            // It has taken its time already. Another is likelier to answer than the same one.
            ErrorClass::Timeout | ErrorClass::InvalidResponse => {
                self.leave_until(now_ms.saturating_add(failure.retry_after_ms.unwrap_or(0)));
            }
        }
        if self.seats.iter().all(|seat| seat.fit == Fit::No) {
            return self.give_up(GiveUp::Fatal(failure.class));
        }
        if let Some(spent) = self.spent() {
            return self.give_up(spent);
        }
        let wait = self.hand_over(now_ms);
        self.next_after(wait, now_ms)
    }

    /// The target rests: another is asked, or the first one that wakes.
    pub(super) fn prefer_another(&mut self, until_ms: u64, now_ms: u64) -> Next {
        self.leave_until(until_ms.max(now_ms.saturating_add(1)));
        let wait = self.hand_over(now_ms);
        if wait > 0 && !self.may_rest() {
            return self.give_up(GiveUp::Resting);
        }
        self.next_after(wait, now_ms)
    }

    /// How often the target was asked in this round, this time included. One that was dropped does not count.
    fn count_try(&mut self, failure: &Failure) -> u32 {
        match self.seats.get_mut(self.cursor) {
            Some(seat) if !failure.class.fatal() => {
                seat.tries = seat.tries.saturating_add(1);
                seat.tries
            }
            _ => 0,
        }
    }

    /// Whether the same target may be asked again at once: a second time, and not if that took the first from another.
    fn may_stay(&self, tries: u32) -> bool {
        let others = self.seats.iter().filter(|seat| seat.fit == Fit::Yes && seat.tries == 0).count();
        let left = self.rules.attempts.saturating_sub(self.attempts);
        tries < 2 && usize::try_from(left).unwrap_or(usize::MAX) > others
    }

    fn leave_until(&mut self, ready_ms: u64) {
        if let Some(seat) = self.seats.get_mut(self.cursor) {
            seat.ready_ms = ready_ms;
        }
    }

    /// The question is not for this target, wherever it stands, nor for others that are known to be no better: those whose
    /// window and that of this one say so.
    pub(super) fn mark_unfit(&mut self, no_better: fn(u32, u32) -> bool) {
        let Some(asked) = self.seats.get(self.cursor).map(|seat| seat.target.clone()) else { return };
        let windows = &self.rules.windows;
        let own = windows.get(&asked).copied();
        for seat in &mut self.seats {
            let too_small = windows.get(&seat.target).zip(own).is_some_and(|(window, own)| no_better(*window, own));
            if seat.target == asked || too_small {
                seat.fit = Fit::No;
            }
        }
    }

    /// Goes to the first target that is ready and has not been asked in this round. If there is none, a new round begins
    /// with whoever is ready first; says how long that is.
    pub(super) fn hand_over(&mut self, now_ms: u64) -> u64 {
        let fresh = |seat: &super::Seat| seat.fit == Fit::Yes && seat.tries == 0 && seat.ready_ms <= now_ms;
        if let Some(index) = self.seats.iter().position(fresh) {
            self.cursor = index;
            return 0;
        }
        let pause = u64::from(self.attempts).saturating_mul(1000).max(self.rules.min_wait_ms);
        let ready = |seat: &super::Seat| match seat.tries {
            0 => seat.ready_ms,
            _ => seat.ready_ms.max(now_ms.saturating_add(pause)),
        };
        let fit = self.seats.iter().enumerate().filter(|(_, seat)| seat.fit == Fit::Yes);
        let first = fit.map(|(index, seat)| (ready(seat), index)).min();
        for seat in &mut self.seats {
            seat.tries = 0;
        }
        let Some((ready_ms, index)) = first else { return 0 };
        self.cursor = index;
        ready_ms.saturating_sub(now_ms).min(self.rules.max_wait_ms)
    }
}

/// Whether a part of the answer had come. The time for it is spent, and what broke off once may do so again.
fn has_begun(failure: &Failure) -> bool {
    !failure.partial.is_empty() || failure.usage.is_some_and(|usage| usage.output_tokens > 0)
}
