//! A clock that only the test advances, and one that skips idle time although there are real sockets.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{oneshot, watch};

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
    state: Arc<watch::Sender<State>>,
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
        Self { state: Arc::new(watch::Sender::new(state)) }
    }

    /// The time of the clock in milliseconds.
    pub fn now_ms(&self) -> u64 {
        self.state.borrow().now
    }

    /// Advances the clock and wakes the sleepers whose time has come.
    pub fn advance(&self, ms: u64) {
        let until = self.now_ms().saturating_add(ms);
        self.advance_to(until);
    }

    /// Advances the clock to a time and wakes the sleepers whose time has come. An earlier time changes nothing.
    pub fn advance_to(&self, ms: u64) {
        self.state.send_modify(|state| {
            state.now = state.now.max(ms);
            while let Some(first) = state.sleepers.first_entry().filter(|first| first.key().0 <= ms) {
                // Sending fails if the sleeper was dropped meanwhile.
                let _ = first.remove().send(());
            }
        });
    }

    /// Advances the clock to the next wake time and returns it; `None` if there is no sleeper.
    pub fn advance_to_next(&self) -> Option<u64> {
        let next = self.next_wake()?;
        self.advance_to(next);
        Some(next)
    }

    /// The wake time of the next sleeper.
    pub fn next_wake(&self) -> Option<u64> {
        self.state.borrow().sleepers.keys().next().map(|(at, _)| *at)
    }

    /// Whether somebody sleeps until this time.
    pub fn has_sleeper_until(&self, ms: u64) -> bool {
        self.state.borrow().sleepers.keys().any(|(at, _)| *at == ms)
    }

    /// Sleeps until the clock reaches a time; returns at once if it has already.
    pub async fn sleep_until(&self, ms: u64) {
        let Some(mut sleep) = self.begin_sleep(ms) else { return };
        // This future borrows the clock, which holds the sender, so the wait cannot fail.
        let _ = (&mut sleep.woken).await;
    }

    /// Waits until there are at least `count` sleepers. It has no timeout of its own.
    pub async fn wait_for_sleepers(&self, count: usize) {
        // The sender lives as long as this clock, so the wait cannot fail.
        let _ = self.state.subscribe().wait_for(|state| state.sleepers.len() >= count).await;
    }

    fn begin_sleep(&self, ms: u64) -> Option<Sleep<'_>> {
        let (waker, woken) = oneshot::channel();
        let mut id = None;
        self.state.send_if_modified(|state| {
            if state.now < ms {
                state.sleepers.insert(*id.insert((ms, state.next_ordinal)), waker);
                state.next_ordinal += 1;
            }
            id.is_some()
        });
        Some(Sleep { clock: self, id: id?, woken })
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
        self.clock.state.send_if_modified(|state| state.sleepers.remove(&self.id).is_some());
    }
}

/// How far the clock is advanced at once. Short compared with all times that the tests measure.
const STEP: Duration = Duration::from_millis(200);

/// How many pauses of which real duration there are before the clock is advanced. In each, the runtime handles all bytes that
/// have arrived; the kernel of a busy machine needs a moment to deliver them.
const PAUSES: usize = 4;
const PAUSE: Duration = Duration::from_millis(1);

/// Runs a test with a clock that skips idle time.
///
/// Tokio's own paused clock would also skip the time in which bytes travel between two sockets, so that every timeout would
/// expire at once. All tasks run on one thread: if no bytes arrive during some pauses, all tasks wait for the clock.
///
/// # Panics
///
/// If the operating system gives no runtime.
#[expect(clippy::expect_used, reason = "a panic fails the test and shows where")]
pub fn paced<T>(test: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all();
    // `bench/faults/run` runs the same tests in real time.
    if std::env::var_os("REKNIT_FAULTS_CLOCK").is_some_and(|clock| clock == "real") {
        return builder.build().expect("a runtime").block_on(test);
    }
    let runtime = builder.start_paused(true).build().expect("a runtime");
    runtime.block_on(async {
        // Tokio does not advance a paused clock while a blocking task runs.
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let _busy = tokio::task::spawn_blocking(move || ended.recv());
        let advancing = async {
            loop {
                for _ in 0..PAUSES {
                    tokio::task::spawn_blocking(|| std::thread::sleep(PAUSE)).await.expect("the task only sleeps");
                }
                tokio::time::advance(STEP).await;
            }
        };
        let outcome = tokio::select! {
            outcome = test => outcome,
            () = advancing => unreachable!("the loop never ends"),
        };
        drop(end);
        outcome
    })
}
