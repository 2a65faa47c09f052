//! The object of a run at Restate. It holds the machine; each of its invocations applies one event and is over: nothing waits in a
//! worker, and every invocation may run on another one.

use std::sync::Arc;
use std::time::Duration;

use reknit_engine::{Effect, Event, Machine};
use reknit_protocol::RunId;
use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::*;

use crate::advance::{Consequences, RunInput, RunOutput, advance, begin, event_of, wants_call};
use crate::blobs::{StoredJson, digest_of};
use crate::kept_run::{KeptRun, RestoreFailure};
use crate::messages::{
    BeginRun, CallWanted, EFFECT_SERVICE, EffectRequest, EventPage, GraceOver, OutsideEvent, PerformedEffect,
    RUN_OBJECT, ReadEvents, RunHead, WakeRun,
};
use crate::worker_parts::WorkerParts;

/// The state entry with all that the object keeps. There is one only: Restate applies writes one after the other, and a reader must
/// not see half of an event.
const RUN: &str = "run";

/// The object of a run. Its key is the id of the run.
pub(crate) struct RunObject {
    pub(crate) parts: Arc<WorkerParts>,
}

#[object(name = "ReknitRun")]
impl RunObject {
    /// Begins the run. Beginning it again with the same event changes nothing.
    #[handler]
    async fn begin(&self, ctx: ObjectContext<'_>, message: Json<BeginRun>) -> HandlerResult<()> {
        let text = message.into_inner().first.get().to_owned();
        if let Some(kept) = ctx.get::<Json<KeptRun>>(RUN).await? {
            if kept.into_inner().head.first == digest_of(&text) {
                return Ok(());
            }
            let message = format!("run `{}` has begun with another request", ctx.key());
            return Err(TerminalError::new_with_code(409, message).into());
        }
        let event: Event = serde_json::from_str(&text)
            .map_err(|error| TerminalError::new_with_code(400, format!("the first event cannot be read: {error}")))?;
        let (machine, consequences) =
            begin(&event).map_err(|error| TerminalError::new_with_code(400, error.to_string()))?;
        let kept = KeptRun::new(&text);
        self.commit(&ctx, kept, machine, text, consequences).await
    }

    /// An effect has an outcome.
    #[handler]
    async fn outcome(&self, ctx: ObjectContext<'_>, message: Json<PerformedEffect>) -> HandlerResult<()> {
        let PerformedEffect { effect, event } = message.into_inner();
        let event: Event = serde_json::from_str(&event.load(&*self.parts.blobs).await?)?;
        self.apply(&ctx, RunInput::Outcome { effect, event }).await
    }

    /// Something happened outside of the workers.
    #[handler]
    async fn signal(&self, ctx: ObjectContext<'_>, message: Json<OutsideEvent>) -> HandlerResult<()> {
        self.apply(&ctx, RunInput::Signal(message.into_inner().event)).await
    }

    /// A wait is over.
    #[handler]
    async fn wake(&self, ctx: ObjectContext<'_>, message: Json<WakeRun>) -> HandlerResult<()> {
        let WakeRun { effect, until_ms } = message.into_inner();
        let now_ms = self.now_ms(&ctx).await?;
        self.apply(&ctx, RunInput::Woke { wake: effect, until_ms, now_ms }).await
    }

    /// The grace period of an aborted call is over.
    #[handler]
    async fn grace_over(&self, ctx: ObjectContext<'_>, message: Json<GraceOver>) -> HandlerResult<()> {
        let GraceOver { effect } = message.into_inner();
        let now_ms = self.now_ms(&ctx).await?;
        self.apply(&ctx, RunInput::GraceOver { effect, now_ms }).await
    }

    /// The events from a position on.
    #[handler]
    async fn events(&self, ctx: SharedObjectContext<'_>, message: Json<ReadEvents>) -> HandlerResult<Json<EventPage>> {
        let from = message.into_inner().from;
        let events = match ctx.get::<Json<KeptRun>>(RUN).await?.map(Json::into_inner) {
            Some(kept) if kept.head.len > from => kept.events_from(from, &*self.parts.blobs).await?,
            Some(_) | None => Vec::new(),
        };
        Ok(Json(EventPage { events }))
    }

    /// Whether the run still wants a call to be made.
    #[handler]
    async fn wants_call(&self, ctx: SharedObjectContext<'_>, message: Json<CallWanted>) -> HandlerResult<Json<bool>> {
        let effect = message.into_inner().effect;
        let machine = match ctx.get::<Json<KeptRun>>(RUN).await? {
            Some(kept) => kept.into_inner().restore(&*self.parts.blobs).await?,
            None => None,
        };
        Ok(Json(machine.is_some_and(|machine| wants_call(&machine, &effect))))
    }

    /// What is known without the machine.
    #[handler]
    async fn head(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<Json<Option<RunHead>>> {
        Ok(Json(ctx.get::<Json<KeptRun>>(RUN).await?.map(|kept| kept.into_inner().head)))
    }
}

impl RunObject {
    /// The current time, the same at every attempt.
    async fn now_ms(&self, ctx: &ObjectContext<'_>) -> Result<i64, TerminalError> {
        let now_ms = self.parts.runner.now_ms();
        ctx.run(|| async move { Ok(now_ms) }).name("now").await
    }

    /// Applies what an input leads to. An input for a run that is not there, or that it does not wait for, changes nothing.
    async fn apply(&self, ctx: &ObjectContext<'_>, input: RunInput) -> HandlerResult<()> {
        let Some(kept) = ctx.get::<Json<KeptRun>>(RUN).await?.map(Json::into_inner) else { return Ok(()) };
        let machine = match self.parts.machines.take(ctx.key(), &kept.head.chain) {
            Some(machine) => Some(machine),
            None => kept.restore(&*self.parts.blobs).await?,
        };
        let Some(mut machine) = machine else { return Ok(()) };
        let Some(event) = event_of(&machine, input) else {
            self.parts.machines.keep(ctx.key(), kept.head.chain, machine);
            return Ok(());
        };
        let refused = |source| RestoreFailure::Refused { seq: kept.head.len, source };
        let consequences = advance(&mut machine, &event).map_err(refused)?;
        let text = serde_json::to_string(&event)?;
        self.commit(ctx, kept, machine, text, consequences).await
    }

    /// Stores an event, and sends what it made due.
    async fn commit(
        &self,
        ctx: &ObjectContext<'_>,
        mut kept: KeptRun,
        machine: Machine,
        text: String,
        Consequences { outputs, due }: Consequences,
    ) -> HandlerResult<()> {
        kept.add(text, due, &machine, &*self.parts.blobs).await?;
        let chain = kept.head.chain.clone();
        ctx.set(RUN, Json(kept));
        for output in outputs {
            self.send(ctx, &machine, output).await?;
        }
        self.parts.machines.keep(ctx.key(), chain, machine);
        Ok(())
    }

    async fn send(&self, ctx: &ObjectContext<'_>, machine: &Machine, output: RunOutput) -> HandlerResult<()> {
        let to_itself = |handler: &str| RequestTarget::object(RUN_OBJECT, ctx.key(), handler);
        match output {
            RunOutput::Perform(effect) => {
                let request = self.effect_request(ctx.key(), machine, &effect).await?;
                ctx.request::<_, ()>(RequestTarget::service(EFFECT_SERVICE, "perform"), Json(request)).send();
            }
            RunOutput::WakeAt(wake) => {
                let left_ms = wake.until_ms.saturating_sub(self.parts.runner.now_ms());
                let delay = Duration::from_millis(u64::try_from(left_ms).unwrap_or(0));
                ctx.request::<_, ()>(to_itself("wake"), Json(wake)).send_after(delay);
            }
            RunOutput::EndGrace { effect, grace_ms } => {
                let message = Json(GraceOver { effect });
                ctx.request::<_, ()>(to_itself("grace_over"), message).send_after(Duration::from_millis(grace_ms));
            }
        }
        Ok(())
    }

    async fn effect_request(&self, run: &str, machine: &Machine, effect: &Effect) -> HandlerResult<EffectRequest> {
        Ok(EffectRequest {
            run: RunId::new(run),
            digest: effect.digest(),
            asked_ms: machine.now_ms(),
            traceparent: self.parts.runner.traceparent(machine, effect),
            effect: StoredJson::store(serde_json::to_string(effect)?, &*self.parts.blobs).await?,
        })
    }
}
