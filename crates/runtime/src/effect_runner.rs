//! Performs single effects of runs that an engine elsewhere keeps. That engine decides when, and stores claims and outcomes.

use reknit_engine::{Effect, EventKind, Machine};
use reknit_protocol::{CallTool, Delivery, RunId, TransportFailure, TransportKind};

use crate::breakers::{BreakerOpen, Permit};
use crate::effect_executor::{EffectExecutor, not_sent};

/// Performs effects with the tools, models, call limits and circuit breakers of a [`Runtime`](crate::Runtime). Cloning is cheap.
#[derive(Debug, Clone)]
pub struct EffectRunner {
    pub(crate) executor: EffectExecutor,
}

/// A call that may be made now: it counts for the call limits until it is sent or dropped.
#[derive(Debug)]
pub struct AdmittedCall {
    permit: Permit,
    has_waited: bool,
}

impl AdmittedCall {
    /// Whether the call had to wait, so that the run may not want it any more.
    pub fn has_waited(&self) -> bool {
        self.has_waited
    }
}

impl EffectRunner {
    /// The `traceparent` header of an effect of a machine, if it is a call and belongs to a trace.
    pub fn traceparent(&self, machine: &Machine, effect: &Effect) -> Option<String> {
        self.executor.telemetry.traceparent(machine, effect)
    }

    /// Whether tools get URLs at which they report the end of a job.
    pub fn has_callbacks(&self) -> bool {
        self.executor.callbacks.is_some()
    }

    /// The current time in milliseconds since 1970. It never goes back within a process.
    pub fn now_ms(&self) -> i64 {
        self.executor.clock.now_ms()
    }

    /// A permit for a call that may be made at once. `None` if it must wait or must not be made, which [`Self::admit`] finds out.
    pub fn try_admit(&self, call: &CallTool) -> Option<AdmittedCall> {
        let permit = match call.business_key {
            Some(_) => None,
            None => self.executor.breakers.try_acquire_tool(call.tool.as_str()),
        };
        permit.map(|permit| AdmittedCall { permit, has_waited: false })
    }

    /// Waits until a call may be made. Returns the event that follows if it must not be made.
    pub async fn admit(&self, call: &CallTool) -> Result<AdmittedCall, EventKind> {
        if call.business_key.is_some() {
            // Sending it without its key could do a deed twice.
            let message = "the call was not sent: this engine has no business keys yet".to_owned();
            let failure = TransportFailure { kind: TransportKind::NotCallable, delivery: Delivery::NotSent, message };
            return Err(EventKind::ToolFailed { effect: call.id.clone(), failure });
        }
        if let Some(admitted) = self.try_admit(call) {
            return Ok(admitted);
        }
        match self.executor.breakers.acquire_tool(call.tool.as_str()).await {
            Ok(permit) => Ok(AdmittedCall { permit, has_waited: true }),
            Err(BreakerOpen { until_ms, by }) => Err(EventKind::BreakerOpen { effect: call.id.clone(), until_ms, by }),
        }
    }

    /// The event that follows if a run does not want a call any more that was not sent.
    pub fn not_sent(&self, call: &CallTool) -> EventKind {
        not_sent(call)
    }

    /// Makes a call. If it [needs a claim](CallTool::needs_claim), the claim must be stored.
    pub async fn send(
        &self,
        run: &RunId,
        call: &CallTool,
        traceparent: Option<&str>,
        admitted: AdmittedCall,
    ) -> EventKind {
        self.executor.send(call, run, traceparent, admitted.permit).await
    }

    /// Performs an effect that needs no claim. Returns `None` for an effect that is not performed: a wait, a question to a person, an
    /// abort, an end.
    pub async fn perform(&self, run: &RunId, effect: &Effect, traceparent: Option<&str>) -> Option<EventKind> {
        match effect {
            Effect::AskModel(ask) => Some(self.executor.ask(ask).await),
            Effect::CountTokens(count) => Some(self.executor.count(count).await),
            Effect::CallTool(call) => Some(match self.admit(call).await {
                Ok(admitted) => self.send(run, call, traceparent, admitted).await,
                Err(event) => event,
            }),
            Effect::Sleep { .. }
            | Effect::AskPerson(_)
            | Effect::Abort { .. }
            | Effect::Finish(_)
            | Effect::Report(_) => None,
        }
    }
}
