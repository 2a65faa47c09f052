//! How fast capabilities answer, as this worker has seen it: a call that is likely to be fast is made where its run is.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reknit_protocol::{CallTool, CapabilityName, ToolName};

/// A call that takes longer is slow.
pub(crate) const FAST: Duration = Duration::from_millis(50);

/// Whether the last call of each capability was fast.
#[derive(Debug, Default)]
pub(crate) struct CallSpeeds {
    was_fast: Mutex<HashMap<(ToolName, CapabilityName), bool>>,
}

impl CallSpeeds {
    /// Notes how long a call took.
    pub(crate) fn note(&self, call: &CallTool, took: Duration) {
        let name = (call.tool.clone(), call.capability.clone());
        self.was_fast.lock().unwrap_or_else(PoisonError::into_inner).insert(name, took <= FAST);
    }

    /// Whether the last call of the same capability was fast. `None` if there was none.
    pub(crate) fn last_call_was_fast(&self, call: &CallTool) -> Option<bool> {
        let name = (call.tool.clone(), call.capability.clone());
        self.was_fast.lock().unwrap_or_else(PoisonError::into_inner).get(&name).copied()
    }
}
