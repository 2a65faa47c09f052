//! The object of a run at Restate. It holds the machine; each of its invocations applies one event and is over: nothing waits in a
//! worker, and every invocation may run on another one.

use std::sync::Arc;
use std::time::Duration;

use reknit_engine::{Effect, Event, Machine};
use reknit_protocol::{CallTool, RunId};
use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::*;

use crate::advance::{
    Consequences, RunInput, RunOutput, advance, begin, check_signal, event_of, take_lone_call, wants_call,
};
use crate::blobs::{StoredJson, digest_of};
use crate::inline_calls::InlineCall;
use crate::kept_run::{KeptRun, RestoreFailure};
use crate::messages::{
    BeginRun, EFFECT_SERVICE, EffectRequest, EventPage, NOT_HERE, NamedEffect, OutsideEvent, PerformedEffect,
    RUN_OBJECT, ReadEvents, SignalHandled, WakeRun,
};
use crate::worker_parts::WorkerParts;

/// The only state entry: Restate applies writes one after the other, and a reader must not see half of an event.
const RUN: &str = "run";

/// How many calls an invocation makes itself. Between two invocations, the run takes messages.
const MAX_INLINE_CALLS: usize = 32;

pub(crate) struct RunObject {
    pub(crate) parts: Arc<WorkerParts>,
}

#[object(name = "ReknitRun")]
impl RunObject {
    /// Begins the run, and returns what has happened after the first event. Beginning it again with the same event changes nothing.
    #[handler]
    async fn begin(&self, ctx: ObjectContext<'_>, message: Json<BeginRun>) -> HandlerResult<Json<EventPage>> {
        let text = message.into_inner().first.get().to_owned();
        if let Some(kept) = ctx.get::<Json<KeptRun>>(RUN).await?.map(Json::into_inner) {
            if kept.head.first == digest_of(&text) {
                return Ok(Json(self.page(&kept, 1).await?));
            }
            let message = format!("run `{}` has begun with another request", ctx.key());
            return Err(TerminalError::new_with_code(409, message).into());
        }
        let event: Event = serde_json::from_str(&text)
            .map_err(|error| TerminalError::new_with_code(400, format!("the first event cannot be read: {error}")))?;
        let (machine, consequences) =
            begin(&event).map_err(|error| TerminalError::new_with_code(400, error.to_string()))?;
        let kept = KeptRun::new(&text);
        let kept = self.commit(&ctx, kept, machine, text, consequences).await?;
        Ok(Json(self.page(&kept, 1).await?))
    }

    #[handler]
    async fn outcome(&self, ctx: ObjectContext<'_>, message: Json<PerformedEffect>) -> HandlerResult<()> {
        let PerformedEffect { effect, event } = message.into_inner();
        let event: Event = serde_json::from_str(&event.load(&*self.parts.blobs).await?)?;
        self.take(&ctx, RunInput::Outcome { effect, event }).await
    }

    /// Something happened outside of the workers. What cannot be applied is refused, and does not keep the run from going on.
    #[handler]
    async fn signal(&self, ctx: ObjectContext<'_>, message: Json<OutsideEvent>) -> HandlerResult<Json<SignalHandled>> {
        let kept = known(ctx.key(), ctx.get::<Json<KeptRun>>(RUN).await?)?;
        let (kept, machine) = self.restored(ctx.key(), kept).await?;
        let event = message.into_inner().event;
        check_signal(&machine, &event.kind, self.parts.runner.has_callbacks()).map_err(|error| refused(&error))?;
        let len = self.apply(&ctx, kept, machine, RunInput::Signal(event)).await?;
        Ok(Json(SignalHandled { len }))
    }

    #[handler]
    async fn wake(&self, ctx: ObjectContext<'_>, message: Json<WakeRun>) -> HandlerResult<()> {
        let WakeRun { effect, until_ms } = message.into_inner();
        let now_ms = self.now_ms(&ctx).await?;
        self.take(&ctx, RunInput::Woke { wake: effect, until_ms, now_ms }).await
    }

    /// The grace period of an aborted call is over.
    #[handler]
    async fn grace_over(&self, ctx: ObjectContext<'_>, message: Json<NamedEffect>) -> HandlerResult<()> {
        let NamedEffect { effect } = message.into_inner();
        let now_ms = self.now_ms(&ctx).await?;
        self.take(&ctx, RunInput::GraceOver { effect, now_ms }).await
    }

    #[handler]
    async fn events(&self, ctx: SharedObjectContext<'_>, message: Json<ReadEvents>) -> HandlerResult<Json<EventPage>> {
        let from = message.into_inner().from;
        let kept = known(ctx.key(), ctx.get::<Json<KeptRun>>(RUN).await?)?;
        Ok(Json(self.page(&kept, from).await?))
    }

    #[handler]
    async fn wants_call(&self, ctx: SharedObjectContext<'_>, message: Json<NamedEffect>) -> HandlerResult<Json<bool>> {
        let effect = message.into_inner().effect;
        let Some(kept) = ctx.get::<Json<KeptRun>>(RUN).await? else { return Ok(Json(false)) };
        Ok(Json(wants_call(&kept.into_inner().restore(&*self.parts.blobs).await?, &effect)))
    }
}

impl RunObject {
    /// The current time, the same at every attempt.
    async fn now_ms(&self, ctx: &ObjectContext<'_>) -> Result<i64, TerminalError> {
        let now_ms = self.parts.runner.now_ms();
        ctx.run(|| async move { Ok(now_ms) }).name("now").await
    }

    /// Applies what a message of a worker or of this object leads to. A run that is not there has been removed.
    async fn take(&self, ctx: &ObjectContext<'_>, input: RunInput) -> HandlerResult<()> {
        let Some(kept) = ctx.get::<Json<KeptRun>>(RUN).await? else { return Ok(()) };
        let (kept, machine) = self.restored(ctx.key(), kept.into_inner()).await?;
        self.apply(ctx, kept, machine, input).await.map(|_| ())
    }

    async fn restored(&self, run: &str, kept: KeptRun) -> Result<(KeptRun, Machine), RestoreFailure> {
        let machine = match self.parts.machines.take(run, &kept.head.chain) {
            Some(machine) => machine,
            None => kept.restore(&*self.parts.blobs).await?,
        };
        Ok((kept, machine))
    }

    /// Applies what an input leads to, if the run waits for it, and returns how many events the run has then.
    async fn apply(
        &self,
        ctx: &ObjectContext<'_>,
        kept: KeptRun,
        mut machine: Machine,
        input: RunInput,
    ) -> HandlerResult<u64> {
        let is_signal = matches!(input, RunInput::Signal(_));
        let len = kept.head.len;
        let Some(event) = event_of(&machine, input) else {
            self.parts.machines.keep(ctx.key(), kept.head.chain, machine);
            return Ok(len);
        };
        let consequences = match advance(&mut machine, &event) {
            Ok(consequences) => consequences,
            Err(error) if is_signal => return Err(refused(&error)),
            // Another build may be able to: the outcome of a call is not thrown away.
            Err(source) => return Err(RestoreFailure::Refused { seq: len, source }.into()),
        };
        let text = serde_json::to_string(&event)?;
        Ok(self.commit(ctx, kept, machine, text, consequences).await?.head.len)
    }

    async fn page(&self, kept: &KeptRun, from: u64) -> Result<EventPage, RestoreFailure> {
        let is_behind = kept.head.len > from;
        let events = if is_behind { kept.events_from(from, &*self.parts.blobs).await? } else { Vec::new() };
        Ok(EventPage { events })
    }

    /// Stores an event and sends what it made due. If that is one fast call, makes it, and does the same with its outcome, and so on. What
    /// the object keeps is written once, at the end: a later attempt has the outcomes of the calls in its journal.
    async fn commit(
        &self,
        ctx: &ObjectContext<'_>,
        mut kept: KeptRun,
        mut machine: Machine,
        mut text: String,
        mut consequences: Consequences,
    ) -> HandlerResult<KeptRun> {
        for calls_left in (0..=MAX_INLINE_CALLS).rev() {
            let Consequences { mut outputs, due } = consequences;
            kept.add(text, due, &machine, &*self.parts.blobs).await?;
            let call = if calls_left > 0 { take_lone_call(&machine, &mut outputs) } else { None };
            for output in outputs {
                self.send(ctx, &machine, output).await?;
            }
            let Some(call) = call else { break };
            let Some(event) = self.outcome_of(ctx, &machine, call).await? else { break };
            let refused = |source| RestoreFailure::Refused { seq: kept.head.len, source };
            consequences = advance(&mut machine, &event).map_err(refused)?;
            text = serde_json::to_string(&event)?;
        }
        // As `Json` writes it.
        ctx.set(RUN, serde_json::to_vec(&kept)?);
        self.parts.machines.keep(ctx.key(), kept.head.chain.clone(), machine);
        Ok(kept)
    }

    /// Makes a call and returns the event that follows. `None` if the effect service makes it.
    async fn outcome_of(
        &self,
        ctx: &ObjectContext<'_>,
        machine: &Machine,
        call: Arc<CallTool>,
    ) -> HandlerResult<Option<Event>> {
        let effect = Effect::CallTool(Arc::clone(&call));
        let run = RunId::new(ctx.key());
        let traceparent = self.parts.runner.traceparent(machine, &effect);
        let asked_ms = machine.now_ms();
        let inline = InlineCall { run: &run, call: &call, traceparent: traceparent.as_deref(), asked_ms };
        let Some(outcome) = inline.make(ctx, &self.parts).await? else {
            self.send(ctx, machine, RunOutput::Perform(effect)).await?;
            return Ok(None);
        };
        let event = serde_json::from_str(&outcome.load(&*self.parts.blobs).await?)?;
        Ok(event_of(machine, RunInput::Outcome { effect: call.id.clone(), event }))
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
                let message = Json(NamedEffect { effect });
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

/// The run, if it has begun here.
fn known(run: &str, kept: Option<Json<KeptRun>>) -> Result<KeptRun, TerminalError> {
    let unknown = || TerminalError::new_with_code(NOT_HERE, format!("run `{run}` has not begun at this engine"));
    kept.map(Json::into_inner).ok_or_else(unknown)
}

/// Ends an invocation for good, so that the next one of this run begins.
fn refused(error: &dyn std::error::Error) -> HandlerError {
    TerminalError::new_with_code(400, error.to_string()).into()
}
