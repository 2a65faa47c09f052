//! A clock that stands still until the test moves it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{oneshot, watch};

/// A clock that stands still until the test moves it; clones are the same clock.
///
/// Sleepers wake in the order of their times, and those of one time in the order in which they lay down.
///
/// ```
/// use reknit_testing::VirtualClock;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let clock = VirtualClock::new(1_000);
/// let sleeper = tokio::spawn({ let clock = clock.clone(); async move { clock.sleep_until(1_500).await } });
/// clock.sleeping(1).await;
/// clock.advance(500);
/// sleeper.await?;
/// assert_eq!(clock.now_ms(), 1_500);
/// # Ok::<(), tokio::task::JoinError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct VirtualClock {
    state: Arc<Mutex<State>>,
    sleeping: Arc<watch::Sender<usize>>,
}

#[derive(Debug)]
struct State {
    now: u64,
    /// By time, then by arrival.
    sleepers: BTreeMap<(u64, u64), oneshot::Sender<()>>,
    next: u64,
}

impl VirtualClock {
    /// A clock that shows this many milliseconds.
    pub fn new(now_ms: u64) -> Self {
        let state = State { now: now_ms, sleepers: BTreeMap::new(), next: 0 };
        Self { state: Arc::new(Mutex::new(state)), sleeping: Arc::new(watch::Sender::new(0)) }
    }

    /// What the clock shows.
    pub fn now_ms(&self) -> u64 {
        self.lock().now
    }

    /// Moves the clock on and wakes everybody whose time has come.
    pub fn advance(&self, ms: u64) {
        let until = self.now_ms().saturating_add(ms);
        self.advance_to(until);
    }

    /// Moves the clock to a time; a clock never goes back, so an earlier time changes nothing.
    pub fn advance_to(&self, ms: u64) {
        let mut state = self.lock();
        state.now = state.now.max(ms);
        while let Some(first) = state.sleepers.first_entry() {
            if first.key().0 > ms {
                break;
            }
            // One that has given up no longer listens; nobody misses its call.
            let _ = first.remove().send(());
        }
        self.sleeping.send_replace(state.sleepers.len());
    }

    /// Moves the clock to the next sleeper's time and wakes all of that time; `None` if nobody sleeps.
    pub fn advance_to_next(&self) -> Option<u64> {
        let next = self.next_wake()?;
        self.advance_to(next);
        Some(next)
    }

    /// When the next sleeper wakes.
    pub fn next_wake(&self) -> Option<u64> {
        self.lock().sleepers.keys().next().map(|(at, _)| *at)
    }

    /// Sleeps until the clock shows a time; not at all if it does already.
    pub async fn sleep_until(&self, ms: u64) {
        let Some(sleep) = self.lie_down(ms) else { return };
        let mut sleep = sleep;
        // The clock that holds the other end is alive: this future borrows it.
        let _ = (&mut sleep.call).await;
    }

    /// Waits until at least this many sleep. Bound it with the test's own limit.
    pub async fn sleeping(&self, count: usize) {
        let mut sleeping = self.sleeping.subscribe();
        // The sender lives as long as this clock, so the wait cannot fail.
        let _ = sleeping.wait_for(|sleepers| *sleepers >= count).await;
    }

    fn lie_down(&self, ms: u64) -> Option<Sleep<'_>> {
        let mut state = self.lock();
        if state.now >= ms {
            return None;
        }
        let (caller, call) = oneshot::channel();
        let place = (ms, state.next);
        state.next += 1;
        state.sleepers.insert(place, caller);
        self.sleeping.send_replace(state.sleepers.len());
        Some(Sleep { clock: self, place, call })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One who sleeps. Getting up early takes the name off the list.
struct Sleep<'a> {
    clock: &'a VirtualClock,
    place: (u64, u64),
    call: oneshot::Receiver<()>,
}

impl Drop for Sleep<'_> {
    fn drop(&mut self) {
        let mut state = self.clock.lock();
        if state.sleepers.remove(&self.place).is_some() {
            self.clock.sleeping.send_replace(state.sleepers.len());
        }
    }
}
