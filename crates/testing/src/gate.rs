//! A place where calls wait until the test lets them go on.

use std::sync::Arc;

use tokio::sync::watch;

/// A place where calls wait until the test lets them go on; clones are the same gate.
///
/// With a gate a test can hold a call open, look at what happens meanwhile, and release it: no sleeping, no luck.
#[derive(Debug, Clone)]
pub struct Gate {
    state: Arc<watch::Sender<State>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// How many have ever come here.
    arrived: usize,
    /// How many may pass.
    passes: Passes,
    /// How many have passed.
    passed: usize,
}

#[derive(Debug, Clone, Copy)]
enum Passes {
    Some(usize),
    All,
}

impl Default for Passes {
    fn default() -> Self {
        Self::Some(0)
    }
}

impl State {
    fn is_free(&self) -> bool {
        match self.passes {
            Passes::Some(passes) => self.passed < passes,
            Passes::All => true,
        }
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self { state: Arc::new(watch::Sender::new(State::default())) }
    }

    /// Lets everybody pass, now and later.
    pub fn open(&self) {
        self.state.send_modify(|state| state.passes = Passes::All);
    }

    /// Lets one more pass.
    pub fn release_one(&self) {
        self.state.send_modify(|state| {
            if let Passes::Some(passes) = &mut state.passes {
                *passes += 1;
            }
        });
    }

    /// Waits until `count` calls have come here, in all. Bound it with the test's own limit.
    pub async fn arrived(&self, count: usize) {
        let mut states = self.state.subscribe();
        // The sender lives as long as this gate, so the wait cannot fail.
        let _ = states.wait_for(|state| state.arrived >= count).await;
    }

    /// How many wait now.
    pub fn waiting(&self) -> usize {
        let state = *self.state.borrow();
        state.arrived.saturating_sub(state.passed)
    }

    /// Comes to the gate and waits for a pass.
    pub(crate) async fn pass(&self) {
        self.state.send_modify(|state| state.arrived += 1);
        let mut states = self.state.subscribe();
        loop {
            let passed = self.state.send_if_modified(|state| {
                let free = state.is_free();
                state.passed += usize::from(free);
                free
            });
            if passed || states.changed().await.is_err() {
                return;
            }
        }
    }
}
