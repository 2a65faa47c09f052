//! Who is asked next.

mod outcome;
mod rules;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use outcome::{GiveUp, Next};
pub use rules::{OnAuthError, Policy, Rules};

use crate::{ErrorClass, Failure, TargetName};

/// Who is asked next, over several attempts at one question.
///
/// Under [`Policy::Advance`] every failed attempt moves on to the next target, round and round, until the attempts are
/// spent. There is no wait as long as some target has not said that it is at its limit; when all have, the wait is the
/// longest that any of them is due, and no wait is ever made without an attempt behind it.
///
/// It is told what happened and says what to do; it never acts. It can be written down at any point and goes on from
/// there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    rules: Rules,
    seats: Vec<Seat>,
    cursor: usize,
    attempts: u32,
    deadline_ms: Option<u64>,
    gave_up: Option<GiveUp>,
}

/// One target in the round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Seat {
    target: TargetName,
    /// The wait it is due, if the last thing it said was that it is at its limit, and nobody has waited since.
    limited_ms: Option<u64>,
}

impl Rotation {
    /// Starts at the first target. A name may stand twice; it is then asked twice in a round.
    pub fn new(targets: Vec<TargetName>, rules: Rules) -> Self {
        let seats = targets.into_iter().map(|target| Seat { target, limited_ms: None }).collect();
        let mut rotation = Self { rules, seats, cursor: 0, attempts: 0, deadline_ms: None, gave_up: None };
        rotation.restart();
        rotation
    }

    /// The same, ending rather than waiting past this moment of the clock that [`Rotation::failed`] is told.
    #[must_use]
    pub fn with_deadline_ms(self, deadline_ms: u64) -> Self {
        Self { deadline_ms: Some(deadline_ms), ..self }
    }

    /// Who is to be asked next; nobody after [`Next::GiveUp`].
    pub fn target(&self) -> Option<&TargetName> {
        match self.gave_up {
            Some(_) => None,
            None => self.seats.get(self.cursor).map(|seat| &seat.target),
        }
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
        match self.rules.policy {
            Policy::Advance => self.advance(failure, now_ms),
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
        self.clear_limits();
        self.gave_up = if self.seats.is_empty() {
            Some(GiveUp::NoTargets)
        } else if self.rules.attempts == 0 {
            Some(GiveUp::AttemptsSpent { attempts: 0 })
        } else {
            None
        };
    }

    fn advance(&mut self, failure: &Failure, now_ms: u64) -> Next {
        if failure.class.fatal() {
            if self.rules.on_auth_error == OnAuthError::End || !self.has_another() {
                return self.give_up(GiveUp::Fatal(failure.class));
            }
            self.drop_target();
        } else {
            self.move_on(failure);
        }
        if self.attempts >= self.rules.attempts {
            return self.give_up(GiveUp::AttemptsSpent { attempts: self.attempts });
        }
        let wait = self.wait_due();
        let next_at = now_ms.saturating_add(wait.unwrap_or(0));
        if self.deadline_ms.is_some_and(|deadline| next_at >= deadline) {
            return self.give_up(GiveUp::Deadline);
        }
        match wait {
            None => Next::Ask,
            Some(ms) => {
                self.clear_limits();
                Next::Wait { ms }
            }
        }
    }

    /// Notes what the target has said and goes on to the next seat.
    fn move_on(&mut self, failure: &Failure) {
        let limited_ms = match failure.class {
            ErrorClass::RateLimit => Some(self.wait_for(failure)),
            _ => None,
        };
        if let Some(seat) = self.seats.get_mut(self.cursor) {
            seat.limited_ms = limited_ms;
        }
        self.cursor = if self.cursor + 1 < self.seats.len() { self.cursor + 1 } else { 0 };
    }

    /// The provider's own wait, else a second for each attempt so far; never less or more than the rules allow.
    fn wait_for(&self, failure: &Failure) -> u64 {
        let asked = failure.retry_after_ms.unwrap_or_else(|| u64::from(self.attempts).saturating_mul(1000));
        // Not `clamp`, which panics when someone has set the least above the most.
        asked.max(self.rules.min_wait_ms).min(self.rules.max_wait_ms)
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
