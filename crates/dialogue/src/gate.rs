//! Whether a service or a model may be asked now, by anybody.

mod outcome;
mod rules;
#[cfg(test)]
mod tests;
mod window;

use serde::{Deserialize, Serialize};

pub use outcome::CallOutcome;
pub use rules::GateRules;
use window::Window;

/// What all callers of one service, or of one model, know together: whether it may be called now.
///
/// ```text
///             half of the recent calls fail, or several in a row
///   sound ----------------------------------------------------------> resting until ...
///     ^                                                                   |        ^
///     | the probe is answered                                  time passes |        | the probe fails:
///     '------------------------------- one probe at a time <---------------'--------'  a longer rest
/// ```
///
/// Beside that it cools down for as long as the service asks when it says that it is at its limit. An answer that refuses
/// a request says nothing about the service: only calls that break, time out or end in a 5xx count as failed.
///
/// It never acts and has no clock: whoever calls asks [`Gate::enter`] before a call and says [`Gate::leave`] behind it.
///
/// ```
/// use reknit_dialogue::{CallOutcome, Entry, Gate, GateRules};
///
/// let mut gate = Gate::new(GateRules::service());
/// for _ in 0..10 {
///     let Entry::Open(pass) = gate.enter(0) else { unreachable!() };
///     gate.leave(pass, CallOutcome::Failed, 0);
/// }
/// assert_eq!(gate.enter(0), Entry::Closed { until_ms: 30_000 });
/// // One looks whether it is well again. Nobody else, until that one is back.
/// assert!(matches!(gate.enter(30_000), Entry::Open(_)));
/// assert_eq!(gate.enter(30_000), Entry::Probing);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gate {
    rules: GateRules,
    health: Health,
    recent: Window,
    /// Failures since the last answer.
    failed_in_a_row: u32,
    /// Rate limits since the last answer.
    limited_in_a_row: u32,
    cooling_until_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Health {
    /// Calls that began before say nothing about it.
    Sound { since_ms: u64 },
    /// How long this rest is, and until when.
    Resting { rest_ms: u64, until_ms: u64 },
    /// One call is under way to see; the rest before it was so long.
    Probing { rest_ms: u64 },
}

/// Whether a call may be made.
#[derive(Debug, PartialEq, Eq)]
pub enum Entry {
    /// It may. Whoever makes it gives the pass back.
    Open(Pass),
    /// Not before that moment.
    Closed {
        /// Milliseconds, by the clock that [`Gate::enter`] is told.
        until_ms: u64,
    },
    /// Somebody is just finding out.
    Probing,
}

/// The right to make one call. It is given back with [`Gate::leave`].
#[derive(Debug, PartialEq, Eq)]
pub struct Pass {
    kind: Kind,
    began_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Usual,
    Probe,
}

impl Gate {
    /// An open gate.
    pub fn new(rules: GateRules) -> Self {
        Self {
            rules,
            health: Health::Sound { since_ms: 0 },
            recent: Window::default(),
            failed_in_a_row: 0,
            limited_in_a_row: 0,
            cooling_until_ms: 0,
        }
    }

    /// Asks to make a call.
    pub fn enter(&mut self, now_ms: u64) -> Entry {
        if let Some(until_ms) = self.closed_until_ms(now_ms) {
            return Entry::Closed { until_ms };
        }
        let kind = match self.health {
            Health::Sound { .. } => Kind::Usual,
            Health::Probing { .. } => return Entry::Probing,
            Health::Resting { rest_ms, .. } => {
                self.health = Health::Probing { rest_ms };
                Kind::Probe
            }
        };
        Entry::Open(Pass { kind, began_ms: now_ms })
    }

    /// Until when nobody may call, if that is so.
    pub fn closed_until_ms(&self, now_ms: u64) -> Option<u64> {
        let resting_until_ms = match self.health {
            Health::Resting { until_ms, .. } => until_ms,
            Health::Sound { .. } | Health::Probing { .. } => 0,
        };
        Some(resting_until_ms.max(self.cooling_until_ms)).filter(|until_ms| *until_ms > now_ms)
    }

    /// Says how a call went.
    #[expect(clippy::needless_pass_by_value, reason = "a pass is given back, so that it counts once")]
    pub fn leave(&mut self, pass: Pass, outcome: CallOutcome, now_ms: u64) {
        match outcome {
            CallOutcome::Answered => {
                self.limited_in_a_row = 0;
                self.answered(&pass, now_ms);
            }
            CallOutcome::Limited { asked_ms } => {
                // It answers, so it is there.
                self.answered(&pass, now_ms);
                self.cool_down(asked_ms, now_ms);
            }
            CallOutcome::Failed => self.failed(&pass, now_ms),
            CallOutcome::Unknown => self.look_again(&pass, now_ms),
        }
    }

    fn answered(&mut self, pass: &Pass, now_ms: u64) {
        self.failed_in_a_row = 0;
        match (pass.kind, self.health) {
            (Kind::Probe, _) => {
                self.health = Health::Sound { since_ms: now_ms };
                self.recent = Window::default();
            }
            // Calls that began before it was given a rest may still come back. They are from another time.
            (Kind::Usual, Health::Resting { .. } | Health::Probing { .. }) => {}
            (Kind::Usual, Health::Sound { since_ms }) if pass.began_ms < since_ms => {}
            (Kind::Usual, Health::Sound { .. }) => self.recent.count(&self.rules, now_ms, 0),
        }
    }

    fn failed(&mut self, pass: &Pass, now_ms: u64) {
        match (pass.kind, self.health) {
            (Kind::Probe, Health::Probing { rest_ms }) => {
                self.rest(rest_ms.saturating_mul(2).min(self.rules.rest_ms), now_ms);
            }
            (Kind::Probe, Health::Sound { .. } | Health::Resting { .. })
            | (Kind::Usual, Health::Resting { .. } | Health::Probing { .. }) => {}
            (Kind::Usual, Health::Sound { since_ms }) if pass.began_ms < since_ms => {}
            (Kind::Usual, Health::Sound { .. }) => {
                self.recent.count(&self.rules, now_ms, 1);
                self.failed_in_a_row = self.failed_in_a_row.saturating_add(1);
                if self.recent.is_failing(&self.rules, now_ms) {
                    self.rest(self.rules.rest_ms, now_ms);
                } else if self.rules.in_a_row.is_some_and(|most| self.failed_in_a_row >= most) {
                    self.rest(self.rules.first_rest_ms.min(self.rules.rest_ms), now_ms);
                }
            }
        }
    }

    /// The call was given up before anybody could know. If it was the probe, another may go.
    fn look_again(&mut self, pass: &Pass, now_ms: u64) {
        if let (Kind::Probe, Health::Probing { rest_ms }) = (pass.kind, self.health) {
            self.health = Health::Resting { rest_ms, until_ms: now_ms };
        }
    }

    fn rest(&mut self, rest_ms: u64, now_ms: u64) {
        self.health = Health::Resting { rest_ms, until_ms: now_ms.saturating_add(rest_ms) };
        self.recent = Window::default();
        self.failed_in_a_row = 0;
    }

    /// As long as it asks, else a second for each time it said so; never longer than the rules allow.
    fn cool_down(&mut self, asked_ms: Option<u64>, now_ms: u64) {
        self.limited_in_a_row = self.limited_in_a_row.saturating_add(1);
        let usual_ms = u64::from(self.limited_in_a_row).saturating_mul(self.rules.cool_down_ms);
        let wait_ms = asked_ms.unwrap_or(usual_ms).min(self.rules.longest_cool_down_ms);
        self.cooling_until_ms = self.cooling_until_ms.max(now_ms.saturating_add(wait_ms));
    }
}
