//! One effect, done. Deciding what to do about its outcome is not done here.

use std::sync::Arc;

use reknit_dialogue::CallOutcome;
use reknit_engine::{AskModel, Effect, What};
use reknit_journal::{Claim, FenceError, Journal, Lease};
use reknit_protocol::{CallTool, ToolReply, TransportFailure, TransportKind};

use crate::clock::Clock;
use crate::edge::Edge;
use crate::gates::{Closed, Gates};
use crate::telemetry::Telemetry;

/// What effects need to be done.
#[derive(Debug, Clone)]
pub(crate) struct Hands {
    pub(crate) journal: Journal,
    pub(crate) edge: Arc<dyn Edge>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) gates: Arc<Gates>,
    pub(crate) telemetry: Telemetry,
}

impl Hands {
    /// Does an effect and says what came of it. Nothing comes of a question to a person, of an abort and of the end:
    /// those are the driver's. A tool is told the span that calls it.
    pub(crate) async fn perform(
        self,
        effect: Effect,
        lease: Lease,
        traceparent: Option<String>,
    ) -> Result<Option<What>, FenceError> {
        Ok(match effect {
            Effect::AskModel(ask) => Some(self.ask(ask).await),
            Effect::CountTokens(count) => {
                let tokens = self.edge.count(&count).await;
                Some(What::TokensCounted { effect: count.id, tokens })
            }
            Effect::CallTool(call) => Some(self.call(&call, &lease, traceparent.as_deref()).await?),
            Effect::Sleep { id, until_ms } => {
                self.clock.sleep_until(until_ms).await;
                Some(What::Woke { effect: id })
            }
            Effect::AskPerson(_) | Effect::Abort { .. } | Effect::Finish(_) | Effect::Report(_) => None,
        })
    }

    async fn ask(&self, ask: AskModel) -> What {
        let permit = match self.gates.enter_model(&ask.target).await {
            Ok(permit) => permit,
            Err(Closed { until_ms }) => return What::GateClosed { effect: ask.id, until_ms },
        };
        let result = self.edge.ask(&ask).await;
        permit.settle(CallOutcome::of_model(&result));
        match result {
            Ok(answer) => What::ModelAnswered { effect: ask.id, answer },
            Err(failure) => What::ModelFailed { effect: ask.id, failure },
        }
    }

    /// Takes a place, then claims the call, then makes it: what is claimed has really begun.
    async fn call(&self, call: &CallTool, lease: &Lease, traceparent: Option<&str>) -> Result<What, FenceError> {
        let permit = match self.gates.enter_tool(call.agent.as_str()).await {
            Ok(permit) => permit,
            Err(Closed { until_ms }) => return Ok(What::GateClosed { effect: call.id.clone(), until_ms }),
        };
        // In a box, for it is done before the call begins, which may take long.
        if call.needs_claim() && Box::pin(self.journal.claim(lease, &call.id.to_string())).await? == Claim::Already {
            return Ok(What::Interrupted { effect: call.id.clone() });
        }
        let result = self.edge.call(call, traceparent).await;
        permit.settle(outcome(&result));
        Ok(match result {
            Ok(reply) => What::ToolAnswered { effect: call.id.clone(), reply },
            Err(failure) => What::ToolFailed { effect: call.id.clone(), failure },
        })
    }
}

/// How a call went, as far as its service is concerned.
fn outcome(result: &Result<ToolReply, TransportFailure>) -> CallOutcome {
    match result {
        Ok(reply) => CallOutcome::of_status(reply.status, reply.retry_after_ms),
        Err(failure) => match failure.kind {
            TransportKind::Refused
            | TransportKind::Reset
            | TransportKind::TimedOut
            | TransportKind::TooLarge
            | TransportKind::Unreadable => CallOutcome::Failed,
            // The call could not be made at all: that says nothing about the service.
            TransportKind::NotCallable => CallOutcome::Unknown,
        },
    }
}
