//! A clock that only the test advances.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::sync::{oneshot, watch};

use crate::lock::lock;

/// A clock that only the test advances. Clones share one time.
///
/// Sleepers wake in the order of their wake times, and those with the same time in the order in which they began to sleep.
///
/// ```
/// use reknit_fakes::VirtualClock;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let clock = VirtualClock::new(1_000);
/// let sleeper = tokio::spawn({ let clock = clock.clone(); async move { clock.sleep_until(1_500).await } });
/// clock.wait_for_sleepers(1).await;
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
    sleeper_count: Arc<watch::Sender<usize>>,
}

#[derive(Debug)]
struct State {
    now: u64,
    /// By wake time, then by the order in which they began to sleep.
    sleepers: BTreeMap<(u64, u64), oneshot::Sender<()>>,
    next_ordinal: u64,
}

impl VirtualClock {
    /// A clock whose time is this many milliseconds.
    pub fn new(now_ms: u64) -> Self {
        let state = State { now: now_ms, sleepers: BTreeMap::new(), next_ordinal: 0 };
        Self { state: Arc::new(Mutex::new(state)), sleeper_count: Arc::new(watch::Sender::new(0)) }
    }

    /// The time of the clock in milliseconds.
    pub fn now_ms(&self) -> u64 {
        lock(&self.state).now
    }

    /// Advances the clock and wakes the sleepers whose time has come.
    pub fn advance(&self, ms: u64) {
        let until = self.now_ms().saturating_add(ms);
        self.advance_to(until);
    }

    /// Advances the clock to a time and wakes the sleepers whose time has come. An earlier time changes nothing.
    pub fn advance_to(&self, ms: u64) {
        let mut state = lock(&self.state);
        state.now = state.now.max(ms);
        while let Some(first) = state.sleepers.first_entry() {
            if first.key().0 > ms {
                break;
            }
            // Sending fails if the sleeper was dropped meanwhile.
            let _ = first.remove().send(());
        }
        self.sleeper_count.send_replace(state.sleepers.len());
    }

    /// Advances the clock to the next wake time and returns it; `None` if there is no sleeper.
    pub fn advance_to_next(&self) -> Option<u64> {
        let next = self.next_wake()?;
        self.advance_to(next);
        Some(next)
    }

    /// The wake time of the next sleeper.
    pub fn next_wake(&self) -> Option<u64> {
        lock(&self.state).sleepers.keys().next().map(|(at, _)| *at)
    }

    /// Whether somebody sleeps until this time.
    pub fn has_sleeper_until(&self, ms: u64) -> bool {
        lock(&self.state).sleepers.keys().any(|(at, _)| *at == ms)
    }

    /// Sleeps until the clock reaches a time; returns at once if it has already.
    pub async fn sleep_until(&self, ms: u64) {
        let Some(mut sleep) = self.begin_sleep(ms) else { return };
        // This future borrows the clock, which holds the sender, so the wait cannot fail.
        let _ = (&mut sleep.woken).await;
    }

    /// Waits until there are at least `count` sleepers. It has no timeout of its own.
    pub async fn wait_for_sleepers(&self, count: usize) {
        let mut sleeper_count = self.sleeper_count.subscribe();
        // The sender lives as long as this clock, so the wait cannot fail.
        let _ = sleeper_count.wait_for(|sleepers| *sleepers >= count).await;
    }

    fn begin_sleep(&self, ms: u64) -> Option<Sleep<'_>> {
        let mut state = lock(&self.state);
        if state.now >= ms {
            return None;
        }
        let (waker, woken) = oneshot::channel();
        let id = (ms, state.next_ordinal);
        state.next_ordinal += 1;
        state.sleepers.insert(id, waker);
        self.sleeper_count.send_replace(state.sleepers.len());
        Some(Sleep { clock: self, id, woken })
    }
}

/// A registered sleeper. Dropping it early removes it from the clock.
struct Sleep<'a> {
    clock: &'a VirtualClock,
    id: (u64, u64),
    woken: oneshot::Receiver<()>,
}

impl Drop for Sleep<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.clock.state);
        if state.sleepers.remove(&self.id).is_some() {
            self.clock.sleeper_count.send_replace(state.sleepers.len());
        }
    }
}
