//! What the services of a worker share.

use std::sync::Arc;

use reknit_engine::{Event, EventKind};
use reknit_protocol::{CallTool, RunId};
use reknit_runtime::{AdmittedCall, EffectRunner};
use restate_sdk::prelude::HandlerResult;
use tokio::time::Instant;

use crate::blobs::{BlobStore, StoredJson};
use crate::call_speeds::CallSpeeds;
use crate::machine_cache::MachineCache;

/// What the services of a worker share.
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

#[cfg(test)]
mod tests;
