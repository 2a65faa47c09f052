//! Who is faster: turn by turn, so that a busy moment of the machine meets all, and the best round of each counts.

use std::time::{Duration, Instant};

use crate::Result;

/// How long one takes rounds before the next has a turn.
const TURN: Duration = Duration::from_millis(60);
/// A contest has this many turns, or fewer when one round is so long that it would take longer than `LIMIT`.
const TURNS: u32 = 25;
const FEWEST_TURNS: u32 = 4;
const LIMIT: Duration = Duration::from_secs(20);

/// One who takes part.
pub trait Contestant {
    /// Does the whole work again and again for at least this long; the seconds of the fastest round.
    fn best_round(&mut self, at_least: Duration) -> Result<f64>;
}

/// Work done in this process: one round, which says how many seconds count.
pub struct Here<F>(pub F);

impl<F: FnMut() -> f64> Contestant for Here<F> {
    fn best_round(&mut self, at_least: Duration) -> Result<f64> {
        let start = Instant::now();
        let mut best = (self.0)();
        while start.elapsed() < at_least {
            best = best.min((self.0)());
        }
        Ok(best)
    }
}

/// A round that counts from its first to its last instruction.
pub fn timed(mut work: impl FnMut()) -> Here<impl FnMut() -> f64> {
    Here(move || {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    })
}

/// The seconds of the fastest round of each. The first turn is for warming up and does not count.
pub fn contest<const N: usize>(mut contestants: [&mut dyn Contestant; N]) -> Result<[f64; N]> {
    let start = Instant::now();
    let mut best = [f64::INFINITY; N];
    for turn in 0..=TURNS {
        if turn > FEWEST_TURNS && start.elapsed() > LIMIT {
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
