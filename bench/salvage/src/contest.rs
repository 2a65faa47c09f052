//! Compares speeds. Contestants take turns, so that a busy moment of the machine affects all. The fastest round of each
//! counts.

use std::time::{Duration, Instant};

use crate::Result;

/// How long a contestant runs before the next one has its turn.
const TURN: Duration = Duration::from_millis(60);
/// The number of turns; fewer, but at least `MIN_TURNS`, if the contest takes longer than `LIMIT`.
const TURNS: u32 = 25;
const MIN_TURNS: u32 = 4;
const LIMIT: Duration = Duration::from_secs(20);

/// One of the compared implementations.
pub trait Contestant {
    /// Repeats the work for at least this long, and returns the seconds of the fastest round.
    fn best_round(&mut self, at_least: Duration) -> Result<f64>;
}

/// Work in this process. The function does one round and returns the seconds to count.
pub struct InProcess<F>(pub F);

impl<F: FnMut() -> f64> Contestant for InProcess<F> {
    fn best_round(&mut self, at_least: Duration) -> Result<f64> {
        let start = Instant::now();
        let mut best = (self.0)();
        while start.elapsed() < at_least {
            best = best.min((self.0)());
        }
        Ok(best)
    }
}

/// Work in this process that is timed as a whole.
pub fn timed(mut work: impl FnMut()) -> InProcess<impl FnMut() -> f64> {
    InProcess(move || {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    })
}

/// Returns the seconds of each contestant's fastest round. The first turn warms up and does not count.
pub fn contest<const N: usize>(mut contestants: [&mut dyn Contestant; N]) -> Result<[f64; N]> {
    let start = Instant::now();
    let mut best = [f64::INFINITY; N];
    for turn in 0..=TURNS {
        if turn > MIN_TURNS && start.elapsed() > LIMIT {
            break;
        }
        for (contestant, best) in contestants.iter_mut().zip(&mut best) {
            let seconds = contestant.best_round(TURN)?;
            if turn > 0 {
                *best = best.min(seconds);
            }
        }
    }
    Ok(best)
}
