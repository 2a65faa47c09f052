//! A barrier at which calls wait until the test releases them.

use std::sync::Arc;

use tokio::sync::watch;

/// A barrier at which calls wait until the test releases them. Clones share one state.
///
/// A test can hold a call open, look at what happens meanwhile, and release it, without sleeping.
#[derive(Debug, Clone, Default)]
pub struct CallBarrier {
    state: Arc<watch::Sender<State>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// How many calls have ever arrived.
    arrived: usize,
    /// How many calls may continue; `usize::MAX` for all.
    released: usize,
    /// How many calls have continued.
    passed: usize,
}

impl CallBarrier {
    /// A barrier that holds every call.
    pub fn new() -> Self {
        Self::default()
    }

    /// Releases all calls, waiting and future ones.
    pub fn release_all(&self) {
        self.state.send_modify(|state| state.released = usize::MAX);
    }

    /// Releases one more call.
    pub fn release_one(&self) {
        self.state.send_modify(|state| state.released = state.released.saturating_add(1));
    }

    /// Waits until `count` calls have arrived, released ones included. It has no timeout of its own.
    pub async fn wait_for_arrivals(&self, count: usize) {
        let mut states = self.state.subscribe();
        // The sender lives as long as this barrier, so the wait cannot fail.
        let _ = states.wait_for(|state| state.arrived >= count).await;
    }

    /// How many calls are waiting now.
    pub fn waiting(&self) -> usize {
        let state = *self.state.borrow();
        state.arrived.saturating_sub(state.passed)
    }

    /// Arrives at the barrier and waits for a release.
    pub(crate) async fn wait(&self) {
        self.state.send_modify(|state| state.arrived += 1);
        let mut states = self.state.subscribe();
        loop {
            let passed = self.state.send_if_modified(|state| {
                let may_pass = state.passed < state.released;
                state.passed += usize::from(may_pass);
                may_pass
            });
            if passed || states.changed().await.is_err() {
                return;
            }
        }
    }
}
