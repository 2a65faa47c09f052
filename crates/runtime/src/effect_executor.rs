//! Executes one effect. The machine decides what follows from its outcome.

use std::sync::Arc;

use reknit_engine::{AskModel, CountTokens, Effect, EventKind, OpenBreakerPolicy};
use reknit_journal::{ClaimOutcome, EffectClaim, FenceError, Journal, KeyedClaim, Lease};
use reknit_model_api::{CallOutcome, ModelFailure};
use reknit_protocol::{CallTool, Delivery, RunId, ToolReply, TransportFailure, TransportKind};

use tokio_util::sync::CancellationToken;

use crate::breakers::{BreakerOpen, Breakers, Permit};
use crate::business_keys::{key_claim, key_held, receipt_known};
use crate::callbacks::Callbacks;
use crate::clock::Clock;
use crate::piece_watcher::PieceWatcher;
use crate::telemetry::Telemetry;
use crate::transport::Transport;

/// The event that an effect leads to, if any.
pub(crate) type EffectOutcome = Result<Option<EventKind>, FenceError>;

/// What keeps a call from being sent while it waits for its permit or its claim.
#[derive(Debug, Clone)]
pub(crate) struct CallStops {
    /// Nobody waits for the run any more. The call stays due, so it has no outcome.
    pub(crate) abandoned: CancellationToken,
    /// The run no longer wants the call.
    pub(crate) aborted: CancellationToken,
}

/// Executes effects.
#[derive(Debug, Clone)]
pub(crate) struct EffectExecutor {
    pub(crate) journal: Journal,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) clock: Arc<dyn Clock>,
    /// How far `clock` is ahead of the clock of the breakers and leases.
    pub(crate) ahead_ms: i64,
    /// Whether calls claim their business keys: not if none of them is sent.
    pub(crate) claims_keys: bool,
    pub(crate) breakers: Arc<Breakers>,
    pub(crate) telemetry: Telemetry,
    pub(crate) callbacks: Option<Arc<Callbacks>>,
    pub(crate) pieces: Option<PieceWatcher>,
}

impl EffectExecutor {
    /// Executes an effect and returns its outcome. Returns `None` for a question to a person, an abort and the end of a run,
    /// which the driver handles. A tool call is sent with the `traceparent`; one with a `permit` is claimed already. Fails if another
    /// process has taken over the run.
    pub(crate) async fn execute(
        &self,
        effect: &Effect,
        lease: &Lease,
        traceparent: Option<&str>,
        permit: Option<Permit>,
        stops: &CallStops,
    ) -> EffectOutcome {
        Ok(match effect {
            Effect::AskModel(ask) => Some(self.ask(ask).await),
            Effect::CountTokens(count) => Some(self.count(count).await),
            Effect::CallTool(call) => match permit {
                Some(permit) => Some(self.send(call, lease.run(), traceparent, permit).await),
                None => self.call(call, lease, traceparent, stops).await?,
            },
            Effect::Sleep { id, until_ms } => {
                self.clock.sleep_until(*until_ms).await;
                Some(EventKind::Woke { effect: id.clone() })
            }
            Effect::AskPerson(_) | Effect::Abort { .. } | Effect::Finish(_) | Effect::Report(_) => None,
        })
    }

    pub(crate) async fn count(&self, count: &CountTokens) -> EventKind {
        let tokens = self.transport.count(count).await;
        EventKind::TokensCounted { effect: count.id.clone(), tokens }
    }

    pub(crate) async fn ask(&self, ask: &AskModel) -> EventKind {
        let permit = match (self.breakers.acquire_model(&ask.target).await, ask.breaker) {
            (Ok(permit), _) => Some(permit),
            (Err(_), OpenBreakerPolicy::Ignore) => None,
            (Err(BreakerOpen { until_ms, by }), OpenBreakerPolicy::Respect) => {
                let until_ms = until_ms.saturating_add(self.ahead_ms);
                return EventKind::BreakerOpen { effect: ask.id.clone(), until_ms, by };
            }
        };
        let result = match &self.pieces {
            None => self.transport.ask(ask).await,
            Some(watcher) => self.transport.ask_streaming(ask, &mut |delta| watcher.call(ask, delta)).await,
        };
        match permit {
            Some(permit) => permit.record(CallOutcome::from_model_result(&result)),
            None if result.is_ok() => self.breakers.end_cool_down(&ask.target),
            None => {}
        }
        match result {
            Ok(answer) => EventKind::ModelAnswered { effect: ask.id.clone(), answer },
            Err(failure) => {
                let failure = ModelFailure { cool_down_ms: self.breakers.cool_down_ms(&ask.target), ..failure };
                EventKind::ModelFailed { effect: ask.id.clone(), failure }
            }
        }
    }

    /// The claim of a call that does not only read, together with its business key.
    pub(crate) fn claim_of(&self, call: &CallTool) -> EffectClaim {
        EffectClaim {
            effect: call.id.to_string(),
            key: call.business_key.as_ref().filter(|_| self.claims_keys).map(|key| key_claim(call, key, &call.id)),
            // Other processes compare the window with the system clock.
            now_ms: self.clock.now_ms().saturating_sub(self.ahead_ms),
        }
    }

    /// The event that follows if the call must not be made.
    pub(crate) fn refusal(&self, call: &CallTool, claim: KeyedClaim) -> Option<EventKind> {
        match claim {
            KeyedClaim::Claimed(ClaimOutcome::New) => None,
            KeyedClaim::Claimed(ClaimOutcome::AlreadyClaimed) => {
                Some(EventKind::Interrupted { effect: call.id.clone() })
            }
            KeyedClaim::Done(done) => Some(receipt_known(call, done)),
            KeyedClaim::Held { by, has_ended } => Some(key_held(call, by, has_ended, self.ahead_ms)),
        }
    }

    /// Acquires a permit, then claims the call in the journal, then makes it. A call is claimed only once it can be sent, so
    /// that a call is not in doubt because it waited for a permit. A call that is stopped before it was sent is never sent.
    async fn call(
        &self,
        call: &CallTool,
        lease: &Lease,
        traceparent: Option<&str>,
        stops: &CallStops,
    ) -> EffectOutcome {
        let permit = tokio::select! {
            biased;
            () = stops.abandoned.cancelled() => return Ok(None),
            () = stops.aborted.cancelled() => return Ok(Some(not_sent(call))),
            permit = self.breakers.acquire_tool(call.tool.as_str()) => permit,
        };
        let permit = match permit {
            Ok(permit) => permit,
            Err(BreakerOpen { until_ms, by }) => {
                let until_ms = until_ms.saturating_add(self.ahead_ms);
                return Ok(Some(EventKind::BreakerOpen { effect: call.id.clone(), until_ms, by }));
            }
        };
        if call.needs_claim() {
            // Boxed: this future is done before the call, which may take long, and would enlarge the future of every call.
            let claim = Box::pin(self.journal.claim_effect(lease, self.claim_of(call))).await?;
            if let Some(event) = self.refusal(call, claim) {
                return Ok(Some(event));
            }
        }
        if stops.aborted.is_cancelled() {
            return Ok(Some(not_sent(call)));
        }
        Ok(Some(self.send(call, lease.run(), traceparent, permit).await))
    }

    /// Makes a call that is claimed, if it has to be.
    pub(crate) async fn send(
        &self,
        call: &CallTool,
        run: &RunId,
        traceparent: Option<&str>,
        permit: Permit,
    ) -> EventKind {
        let with_callback = self.callbacks.as_ref().filter(|_| call.job.is_none()).map(|callbacks| {
            let url = callbacks.url_for(run, &call.id, self.clock.now_ms());
            Box::new(CallTool { callback: Some(url), ..call.clone() })
        });
        let sent = with_callback.as_deref().unwrap_or(call);
        let result = self.transport.call(sent, traceparent).await;
        permit.record(tool_outcome(&result));
        match result {
            Ok(reply) => EventKind::ToolAnswered { effect: call.id.clone(), reply },
            Err(failure) => EventKind::ToolFailed { effect: call.id.clone(), failure },
        }
    }
}

/// The failure of a call whose run was stopped before it was sent.
pub(crate) fn not_sent(call: &CallTool) -> EventKind {
    let message = "the run was stopped before the call was sent".to_owned();
    let failure = TransportFailure { kind: TransportKind::NotCallable, delivery: Delivery::NotSent, message };
    EventKind::ToolFailed { effect: call.id.clone(), failure }
}

/// What the result says about the health of the tool's service.
fn tool_outcome(result: &Result<ToolReply, TransportFailure>) -> CallOutcome {
    match result {
        Ok(reply) => CallOutcome::from_status(reply.status, reply.retry_after_ms),
        Err(failure) => match failure.kind {
            TransportKind::Refused
            | TransportKind::Reset
            | TransportKind::TimedOut
            | TransportKind::TooLarge
            | TransportKind::Unreadable => CallOutcome::Failed,
            // The call was not made, so it says nothing about the service.
            TransportKind::NotCallable => CallOutcome::Cancelled,
        },
    }
}
