//! The service that performs effects. A call that does not only read has two journalled steps: its claim, then the call. An attempt that
//! finds the claim of an earlier attempt, and no outcome, does not make the call: the machine learns that it was interrupted, and decides
//! as it does after a crash of the embedded engine.

use std::sync::Arc;

use parking_lot::Mutex;
use reknit_engine::Effect;
use reknit_protocol::{CallTool, RunId};
use reknit_runtime::AdmittedCall;
use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};

use crate::blobs::StoredJson;
use crate::messages::{EffectRequest, NamedEffect, PerformedEffect, RUN_OBJECT};
use crate::worker_parts::WorkerParts;

/// A call that is made later than this after the run asked for it is made only if the run still wants it.
const LATE_MS: i64 = 1_000;

pub(crate) struct EffectService {
    pub(crate) parts: Arc<WorkerParts>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Claim {
    /// The call may be made, by the attempt that claimed it.
    Claimed,
    /// It could not be made at once, and is not claimed: the run may not want it any more.
    Late,
    /// It must not be made: this follows.
    Refused(StoredJson),
}

#[service(name = "ReknitEffect")]
impl EffectService {
    /// Performs an effect, and tells the object of its run what became of it.
    #[handler]
    async fn perform(&self, ctx: Context<'_>, message: Json<EffectRequest>) -> HandlerResult<()> {
        let request = message.into_inner();
        let effect: Effect = serde_json::from_str(&request.effect.load(&*self.parts.blobs).await?)?;
        if effect.digest() != request.digest {
            // Another build may read it as it was meant.
            return Err(OtherEffect(request.digest).into());
        }
        let Some(id) = effect.id().cloned() else { return Ok(()) };
        let event = match &effect {
            Effect::CallTool(call) if call.needs_claim() => self.claim_and_call(&ctx, &request, call).await?,
            effect => {
                let (run, traceparent) = (&request.run, request.traceparent.as_deref());
                let perform = || async move { Ok(Json(self.perform_unclaimed(run, effect, traceparent).await?)) };
                ctx.run(perform).name("perform").await?.into_inner()
            }
        };
        let Some(event) = event else { return Ok(()) };
        let target = RequestTarget::object(RUN_OBJECT, request.run.as_str(), "outcome");
        ctx.request::<_, ()>(target, Json(PerformedEffect { event, effect: id })).send();
        Ok(())
    }
}

impl EffectService {
    /// Performs an effect that is repeated if its worker dies.
    async fn perform_unclaimed(
        &self,
        run: &RunId,
        effect: &Effect,
        traceparent: Option<&str>,
    ) -> HandlerResult<Option<StoredJson>> {
        let kind = match effect {
            Effect::CallTool(call) => match self.parts.runner.admit(call).await {
                Ok(admitted) => Some(self.parts.send(run, call, traceparent, admitted).await),
                Err(event) => Some(event),
            },
            effect => self.parts.runner.perform(run, effect, traceparent).await,
        };
        let Some(kind) = kind else { return Ok(None) };
        Ok(Some(self.parts.stored(kind).await?))
    }

    async fn claim_and_call(
        &self,
        ctx: &Context<'_>,
        request: &EffectRequest,
        call: &CallTool,
    ) -> HandlerResult<Option<StoredJson>> {
        // Filled by the attempt that claims the call, and by no later one: Restate does not run a completed step again.
        let admitted: Mutex<Option<AdmittedCall>> = Mutex::new(None);
        let slot = &admitted;
        let claim = || async move { Ok(Json(self.claim(call, slot, Some(request.asked_ms)).await?)) };
        // Returns once the claim is durable.
        let mut claim = ctx.run(claim).name("claim").await?.into_inner();
        if matches!(claim, Claim::Late) {
            let target = RequestTarget::object(RUN_OBJECT, request.run.as_str(), "wants_call");
            let message = Json(NamedEffect { effect: call.id.clone() });
            if !ctx.request::<_, Json<bool>>(target, message).call().await?.into_inner() {
                let report = || async move { Ok(Json(self.parts.stored(self.parts.runner.not_sent(call)).await?)) };
                return Ok(Some(ctx.run(report).name("not sent").await?.into_inner()));
            }
            let again = || async move { Ok(Json(self.claim(call, slot, None).await?)) };
            claim = ctx.run(again).name("claim late").await?.into_inner();
        }
        match claim {
            Claim::Refused(event) => Ok(Some(event)),
            Claim::Claimed | Claim::Late => {
                let admitted = admitted.into_inner();
                let (run, traceparent) = (&request.run, request.traceparent.as_deref());
                let make = || async move { Ok(Json(self.parts.make(run, call, traceparent, admitted).await?)) };
                Ok(Some(ctx.run(make).name("call").await?.into_inner()))
            }
        }
    }

    /// Waits until a call may be made, and keeps the permit in `slot`, where it may be already. A call that was asked for long before
    /// `asked_ms`, or that has waited for its permit, is late.
    async fn claim(
        &self,
        call: &CallTool,
        slot: &Mutex<Option<AdmittedCall>>,
        asked_ms: Option<i64>,
    ) -> HandlerResult<Claim> {
        let kept = slot.lock().take();
        let admitted = match kept {
            Some(kept) => kept,
            None => match self.parts.runner.admit(call).await {
                Ok(admitted) => admitted,
                Err(event) => return Ok(Claim::Refused(self.parts.stored(event).await?)),
            },
        };
        let is_old = |asked_ms: i64| self.parts.runner.now_ms().saturating_sub(asked_ms) > LATE_MS;
        let is_late = asked_ms.is_some_and(|asked_ms| admitted.has_waited() || is_old(asked_ms));
        *slot.lock() = Some(admitted);
        Ok(if is_late { Claim::Late } else { Claim::Claimed })
    }
}

/// This build reads another effect than the one that was asked for.
#[derive(Debug, thiserror::Error)]
#[error(
    "this build reads another effect than the one with digest {0}; a worker of the build that asked for it can perform it"
)]
struct OtherEffect(String);
