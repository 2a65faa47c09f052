//! The calls of this connection that change something: a call that is repeated word for word is not made twice.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use reknit::RunHandle;
use rmcp::model::CallToolResult;

/// How many calls are remembered.
const MAX_KNOWN: usize = 10_000;

/// A call that was made before.
#[derive(Debug, Clone)]
pub(crate) enum KnownCall {
    /// It is under way.
    Running(RunHandle),
    /// It succeeded.
    Done(Box<CallToolResult>),
    /// It may have taken effect.
    InDoubt(Box<CallToolResult>),
}

/// The calls that were made before, by what they do and with which arguments.
#[derive(Debug, Default)]
pub(crate) struct KnownCalls {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    calls: HashMap<String, KnownCall>,
    order: VecDeque<String>,
}

impl KnownCalls {
    /// The call that was made before, or the one that `start` makes now.
    pub(crate) fn get_or_start(&self, key: &str, start: impl FnOnce() -> RunHandle) -> Result<RunHandle, KnownCall> {
        let mut state = self.lock();
        if let Some(known) = state.calls.get(key) {
            return Err(known.clone());
        }
        let handle = start();
        state.insert(key, KnownCall::Running(handle.clone()));
        Ok(handle)
    }

    /// Remembers how a call ended; `None` forgets it, so that it can be made again.
    pub(crate) fn set(&self, key: &str, known: Option<KnownCall>) {
        let mut state = self.lock();
        if let Some(known) = known {
            state.insert(key, known);
        } else {
            state.calls.remove(key);
            state.order.retain(|other| other != key);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // An insertion is complete or was not made, so a panic elsewhere leaves the table usable.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn insert(&mut self, key: &str, known: KnownCall) {
        if self.calls.insert(key.to_owned(), known).is_none() {
            self.order.push_back(key.to_owned());
        }
        while self.order.len() > MAX_KNOWN {
            if let Some(oldest) = self.order.pop_front() {
                self.calls.remove(&oldest);
            }
        }
    }
}
