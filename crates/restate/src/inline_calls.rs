//! Calls that are made in the invocation of a run's object, and not by the effect service: the invocation goes on with their outcome, which
//! saves most of the cost of a step. While such a call lasts, the run takes no message, so only a call that is likely to be fast is made
//! like this. Whether it is, the worker says in a journalled step, so every attempt decides the same.

use std::time::Duration;

use parking_lot::Mutex;
use reknit_engine::EventKind;
use reknit_protocol::{CallTool, RunId, SideEffect};
use reknit_runtime::AdmittedCall;
use restate_sdk::prelude::*;

use crate::blobs::StoredJson;
use crate::worker_parts::{FAST, WorkerParts};

/// A call that is sent again under its key after this time counts as interrupted: the tool may have forgotten the key.
const MAX_REPEAT_MS: i64 = 60_000;

/// A call of a run, with what is needed to make it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InlineCall<'a> {
    pub(crate) run: &'a RunId,
    pub(crate) call: &'a CallTool,
    pub(crate) traceparent: Option<&'a str>,
    /// When the run asked for it, in milliseconds since 1970.
    pub(crate) asked_ms: i64,
}

impl InlineCall<'_> {
    /// Makes the call and returns its event. `None` if it may be slow or must wait: the effect service makes it then.
    pub(crate) async fn make(self, ctx: &ObjectContext<'_>, parts: &WorkerParts) -> HandlerResult<Option<StoredJson>> {
        if !self.needs_claim() {
            let make = || async move { Ok(Json(self.make_if_fast(parts).await?)) };
            return Ok(ctx.run(make).name("call").await?.into_inner());
        }
        // Filled by the attempt that claims the call, and by no later one: Restate does not run a completed step again.
        let admitted: Mutex<Option<AdmittedCall>> = Mutex::new(None);
        let slot = &admitted;
        let claim = || async move {
            let is_fast = parts.speeds.last_call_was_fast(self.call) == Some(true);
            let claimed = if is_fast { parts.runner.try_admit(self.call) } else { None };
            let is_claimed = claimed.is_some();
            *slot.lock() = claimed;
            Ok(is_claimed)
        };
        // Returns once the claim is durable.
        if !ctx.run(claim).name("claim").await? {
            return Ok(None);
        }
        let admitted = admitted.into_inner();
        let make = || async move { Ok(Json(parts.make(self.run, self.call, self.traceparent, admitted).await?)) };
        Ok(Some(ctx.run(make).name("call").await?.into_inner()))
    }

    /// A call that only reads is repeated, and so is one that its key identifies. Of any other one, a later attempt must know.
    fn needs_claim(self) -> bool {
        match self.call.side_effect {
            SideEffect::Read | SideEffect::Idempotent | SideEffect::Keyed => false,
            SideEffect::Undeclared | SideEffect::Unknown | SideEffect::Unsafe => true,
        }
    }

    async fn make_if_fast(self, parts: &WorkerParts) -> HandlerResult<Option<StoredJson>> {
        let only_reads = matches!(self.call.side_effect, SideEffect::Read);
        // An earlier attempt may have sent it.
        if !only_reads && parts.runner.now_ms().saturating_sub(self.asked_ms) > MAX_REPEAT_MS {
            return Ok(Some(parts.stored(EventKind::Interrupted { effect: self.call.id.clone() }).await?));
        }
        // A call that only reads can be given up, so it is tried.
        if !parts.speeds.last_call_was_fast(self.call).unwrap_or(only_reads) {
            return Ok(None);
        }
        let Some(admitted) = parts.runner.try_admit(self.call) else { return Ok(None) };
        let send = parts.send(self.run, self.call, self.traceparent, admitted);
        if !only_reads {
            return Ok(Some(parts.stored(send.await).await?));
        }
        let Ok(kind) = tokio::time::timeout(FAST, send).await else {
            parts.speeds.note(self.call, Duration::MAX);
            return Ok(None);
        };
        Ok(Some(parts.stored(kind).await?))
    }
}

#[cfg(test)]
mod tests;
