//! What the services of a worker share: how effects are performed, how fast capabilities answered, and machines for the next event.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use reknit_engine::{Event, EventKind, Machine};
use reknit_protocol::{CallTool, CapabilityName, RunId, ToolName};
use reknit_runtime::{AdmittedCall, EffectRunner};
use restate_sdk::prelude::HandlerResult;
use tokio::time::Instant;

use crate::blobs::{BlobStore, StoredJson};

#[derive(Debug)]
pub(crate) struct WorkerParts {
    pub(crate) runner: EffectRunner,
    pub(crate) blobs: Arc<dyn BlobStore>,
    pub(crate) machines: MachineCache,
    pub(crate) speeds: CallSpeeds,
}

impl WorkerParts {
    pub(crate) fn new(runner: EffectRunner, blobs: Arc<dyn BlobStore>) -> Self {
        Self { runner, blobs, machines: MachineCache::default(), speeds: CallSpeeds::default() }
    }

    /// Stores the outcome of an effect as an event that happens now.
    pub(crate) async fn stored(&self, kind: EventKind) -> HandlerResult<StoredJson> {
        let event = Event { at_ms: self.runner.now_ms(), kind };
        Ok(StoredJson::store_patiently(serde_json::to_string(&event)?, &*self.blobs).await)
    }

    /// Makes a call, and notes how long it took.
    pub(crate) async fn send(
        &self,
        run: &RunId,
        call: &CallTool,
        traceparent: Option<&str>,
        admitted: AdmittedCall,
    ) -> EventKind {
        let begin = Instant::now();
        let kind = self.runner.send(run, call, traceparent, admitted).await;
        self.speeds.note(call, begin.elapsed());
        kind
    }

    /// Makes a call that this attempt has claimed. If it has not, another attempt may have made it.
    pub(crate) async fn make(
        &self,
        run: &RunId,
        call: &CallTool,
        traceparent: Option<&str>,
        admitted: Option<AdmittedCall>,
    ) -> HandlerResult<StoredJson> {
        let kind = match admitted {
            Some(admitted) => self.send(run, call, traceparent, admitted).await,
            None => EventKind::Interrupted { effect: call.id.clone() },
        };
        self.stored(kind).await
    }
}

/// A call that takes longer is slow.
pub(crate) const FAST: Duration = Duration::from_millis(50);

/// Whether the last call of each capability was fast.
#[derive(Debug, Default)]
pub(crate) struct CallSpeeds {
    was_fast: Mutex<HashMap<(ToolName, CapabilityName), bool>>,
}

impl CallSpeeds {
    pub(crate) fn note(&self, call: &CallTool, took: Duration) {
        let name = (call.tool.clone(), call.capability.clone());
        self.was_fast.lock().insert(name, took <= FAST);
    }

    /// Whether the last call of the same capability was fast. `None` if there was none.
    pub(crate) fn last_call_was_fast(&self, call: &CallTool) -> Option<bool> {
        let name = (call.tool.clone(), call.capability.clone());
        self.was_fast.lock().get(&name).copied()
    }
}

const MAX_MACHINES: usize = 256;

/// Machines by run. The digest of its events says whether a machine is the one that is looked for: another worker may have gone on.
#[derive(Debug, Default)]
pub(crate) struct MachineCache {
    /// Each with the digest.
    machines: Mutex<HashMap<String, (String, Machine)>>,
}

impl MachineCache {
    /// Takes the machine of a run, if it has applied exactly the events with this digest.
    pub(crate) fn take(&self, run: &str, chain: &str) -> Option<Machine> {
        let (known, machine) = self.machines.lock().remove(run)?;
        (known == chain).then_some(machine)
    }

    /// Keeps the machine of a run. One that has ended, or waits for a person, is not kept: it may never be needed again.
    pub(crate) fn keep(&self, run: &str, chain: String, machine: Machine) {
        if machine.ending().is_some() || machine.is_idle() {
            return;
        }
        let mut machines = self.machines.lock();
        if machines.len() >= MAX_MACHINES
            && !machines.contains_key(run)
            && let Some(other) = machines.keys().next().cloned()
        {
            machines.remove(&other);
        }
        machines.insert(run.to_owned(), (chain, machine));
    }
}

#[cfg(test)]
mod tests;
