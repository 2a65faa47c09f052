//! Who is asked next.

mod advance;
mod outcome;
mod prefer;
mod rules;
mod seat;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use outcome::{GiveUp, Next};
pub use rules::{OnAuthError, Policy, Rules};
use seat::{Fit, Seat};

use crate::{ErrorClass, Failure, TargetName};

/// Who is asked next, over several attempts at one question.
///
/// | after | [`Policy::Advance`] | [`Policy::PreferPrimary`] |
/// |---|---|---|
/// | a rate limit | the next target; when all are at their limit, the longest wait that any of them is due | the same target after its wait, once, if that is short; else the next |
/// | a broken connection, a broken server | the next target; a lone one after a wait | the same target, once, unless a part of the answer had come; else the next |
/// | a limit of time, an answer that is none | the next target | the next target |
/// | a refused request | the next target; this one is left out while another is left | the next target; this one is not asked that question again |
/// | a question that is too long | the same | the next target that is not known to be as small |
/// | a refusal for the content | the same | the end |
/// | a refused key, an empty account | the end, or the next target for good | the same |
/// | a target that rests ([`Rotation::closed`]) | the next target; when all rest or are at their limit, a wait | the next target; when all rest, a wait for the first that wakes |
///
/// Both wrap round until the attempts are spent, and no wait is ever made without an attempt behind it. The next
/// question begins at the first target again.
///
/// It is told what happened and says what to do; it never acts. It can be written down at any point and goes on from
/// there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    rules: Rules,
    seats: Vec<Seat>,
    cursor: usize,
    attempts: u32,
    /// How often all targets were waited for because they rested. As many as attempts are allowed, so that it ends.
    rests: u32,
    deadline_ms: Option<u64>,
    gave_up: Option<GiveUp>,
}

impl Rotation {
    /// Starts at the first target. A name may stand twice; it is then asked twice in a round.
    pub fn new(targets: Vec<TargetName>, rules: Rules) -> Self {
        let seats = targets.into_iter().map(Seat::new).collect();
        let mut rotation = Self { rules, seats, cursor: 0, attempts: 0, rests: 0, deadline_ms: None, gave_up: None };
        rotation.restart();
        rotation
    }

    /// The same, ending rather than waiting past this moment of the clock that [`Rotation::failed`] is told.
    #[must_use]
    pub fn with_deadline_ms(self, deadline_ms: u64) -> Self {
        Self { deadline_ms: Some(deadline_ms), ..self }
    }

    /// Sets that moment anew, for a clock that stands still at times.
    pub fn set_deadline_ms(&mut self, deadline_ms: u64) {
        self.deadline_ms = Some(deadline_ms);
    }

    /// Who is to be asked next; nobody after [`Next::GiveUp`].
    pub fn target(&self) -> Option<&TargetName> {
        match self.gave_up {
            Some(_) => None,
            None => self.seats.get(self.cursor).map(|seat| &seat.target),
        }
    }

    /// Everybody who can still be asked, now or later; not those whose key was refused.
    pub fn targets(&self) -> impl Iterator<Item = &TargetName> {
        self.seats.iter().map(|seat| &seat.target)
    }

    /// How many attempts at this question have failed.
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Why nobody is asked any more, if that is so.
    pub fn gave_up(&self) -> Option<&GiveUp> {
        self.gave_up.as_ref()
    }

    /// The attempt on [`Rotation::target`] has failed. What now?
    ///
    /// After it has given up it says so again, and counts nothing.
    pub fn failed(&mut self, failure: &Failure, now_ms: u64) -> Next {
        if let Some(reason) = &self.gave_up {
            return Next::GiveUp(reason.clone());
        }
        self.attempts = self.attempts.saturating_add(1);
        if failure.class.fatal() {
            if self.rules.on_auth_error == OnAuthError::End || !self.has_another() {
                return self.give_up(GiveUp::Fatal(failure.class));
            }
            self.drop_target();
        }
        match self.rules.policy {
            Policy::Advance => self.advance(failure, now_ms),
            Policy::PreferPrimary => self.prefer(failure, now_ms),
        }
    }

    /// [`Rotation::target`] was not asked, for it rests until that moment: its [`Gate`](crate::Gate) is closed. What now?
    ///
    /// This is no attempt. Only waiting until anybody can be asked again is counted, and not endless.
    pub fn closed(&mut self, until_ms: u64, now_ms: u64) -> Next {
        if let Some(reason) = &self.gave_up {
            return Next::GiveUp(reason.clone());
        }
        match self.rules.policy {
            Policy::Advance => self.advance_past(until_ms, now_ms),
            Policy::PreferPrimary => self.prefer_another(until_ms, now_ms),
        }
    }

    /// [`Rotation::target`] is not asked at all: it is known that the question is not for it. Nobody is left if there is no
    /// answer; [`Rotation::readmit`] takes them all in again. This is no attempt.
    pub fn leave_out(&mut self, now_ms: u64) -> Option<Next> {
        if let Some(reason) = &self.gave_up {
            return Some(Next::GiveUp(reason.clone()));
        }
        self.mark_unfit(|_, _| false);
        if self.seats.iter().all(|seat| seat.fit == Fit::No) {
            return None;
        }
        Some(match self.rules.policy {
            Policy::Advance => self.advance_without(now_ms),
            Policy::PreferPrimary => {
                let wait = self.hand_over(now_ms);
                self.next_after(wait, now_ms)
            }
        })
    }

    /// Every target comes into question again: the question has changed.
    pub fn readmit(&mut self) {
        for seat in &mut self.seats {
            seat.fit = Fit::Yes;
        }
    }

    /// The attempt on [`Rotation::target`] was answered. The next question starts afresh.
    pub fn succeeded(&mut self) {
        self.restart();
    }

    /// Starts afresh with the next question: at the first target, with all attempts. Targets that were dropped because
    /// of their key or their account stay out, for that does not pass by itself.
    pub fn restart(&mut self) {
        self.cursor = 0;
        self.attempts = 0;
        self.rests = 0;
        for seat in &mut self.seats {
            *seat = Seat::new(seat.target.clone());
        }
        self.gave_up = if self.seats.is_empty() {
            Some(GiveUp::NoTargets)
        } else if self.rules.attempts == 0 {
            Some(GiveUp::AttemptsSpent { attempts: 0 })
        } else {
            None
        };
    }

    /// The end, if as many attempts as are allowed have failed.
    fn spent(&self) -> Option<GiveUp> {
        (self.attempts >= self.rules.attempts).then_some(GiveUp::AttemptsSpent { attempts: self.attempts })
    }

    /// The provider's own wait, else a second for each attempt; never less or more than the rules allow.
    fn wait_for(&self, failure: &Failure, attempts: u32) -> u64 {
        let asked = failure.retry_after_ms.unwrap_or_else(|| u64::from(attempts).saturating_mul(1000));
        // Not `clamp`, which panics when someone has set the least above the most.
        asked.max(self.rules.min_wait_ms).min(self.rules.max_wait_ms)
    }

    /// Asks or waits, unless that would be too late.
    fn next_after(&mut self, wait_ms: u64, now_ms: u64) -> Next {
        if self.deadline_ms.is_some_and(|deadline| now_ms.saturating_add(wait_ms) >= deadline) {
            return self.give_up(GiveUp::Deadline);
        }
        if wait_ms == 0 { Next::Ask } else { Next::Wait { ms: wait_ms } }
    }

    /// Counts a wait for targets that rest. Says whether there may be another.
    fn may_rest(&mut self) -> bool {
        self.rests = self.rests.saturating_add(1);
        self.rests <= self.rules.attempts
    }

    /// Whether a target of another name is left.
    fn has_another(&self) -> bool {
        self.seats.get(self.cursor).is_some_and(|asked| self.seats.iter().any(|seat| seat.target != asked.target))
    }

    /// Takes the target that was asked out of the round, wherever it stands in it; the next one moves up.
    fn drop_target(&mut self) {
        let Some(dropped) = self.seats.get(self.cursor).map(|seat| seat.target.clone()) else { return };
        let before = self.seats.iter().take(self.cursor).filter(|seat| seat.target == dropped).count();
        self.seats.retain(|seat| seat.target != dropped);
        self.cursor -= before;
        if self.cursor >= self.seats.len() {
            self.cursor = 0;
        }
    }

    fn give_up(&mut self, reason: GiveUp) -> Next {
        self.gave_up = Some(reason.clone());
        Next::GiveUp(reason)
    }
}
