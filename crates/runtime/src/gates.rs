//! How many calls may be under way at once, over all runs of the process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many calls may be under way at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// Over all tools.
    pub in_all: usize,
    /// Of one tool.
    pub per_tool: usize,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { in_all: 256, per_tool: 64 }
    }
}

/// Hands out permits for calls.
#[derive(Debug)]
pub(crate) struct Gates {
    limits: CallLimits,
    all: Arc<Semaphore>,
    tools: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// The right to make one call. Dropping it lets the next one in.
#[derive(Debug)]
pub(crate) struct Permit {
    _tool: Option<OwnedSemaphorePermit>,
    _all: Option<OwnedSemaphorePermit>,
}

impl Gates {
    pub(crate) fn new(limits: CallLimits) -> Self {
        Self { limits, all: Arc::new(Semaphore::new(limits.in_all)), tools: Mutex::default() }
    }

    /// Waits for a place. First at the tool, so that a slow tool keeps no place that others could use.
    pub(crate) async fn enter(&self, tool: &str) -> Permit {
        let gate = {
            let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
            let gate = tools.entry(tool.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(self.limits.per_tool)));
            Arc::clone(gate)
        };
        // The gates are never closed, so a permit always comes.
        let tool = gate.acquire_owned().await.ok();
        let all = Arc::clone(&self.all).acquire_owned().await.ok();
        Permit { _tool: tool, _all: all }
    }
}
