//! A transport that sends nothing that may change something: such a call gets the answer that another run got for it.

use std::sync::Arc;

use reknit_engine::{AskModel, CountTokens};
use reknit_journal::Journal;
use reknit_model_api::{ModelAnswer, ModelFailure};
use reknit_models::OnDelta;
use reknit_protocol::{CallTool, Delivery, JobRequest, RunId, SideEffect, ToolReply, TransportFailure, TransportKind};
use reknit_tools::BoxFuture;

use super::prefix::is_same_call;
use super::recorded_calls::{JournalledCall, recorded_calls};
use crate::error::DriveError;
use crate::transport::Transport;

/// The transport of a fork that sends only calls that read.
#[derive(Debug)]
pub(crate) struct UnsentWrites {
    inner: Arc<dyn Transport>,
    origin: RunId,
    calls: Vec<JournalledCall>,
}

impl UnsentWrites {
    /// A transport for forks of a run.
    pub(crate) async fn load(inner: Arc<dyn Transport>, journal: &Journal, origin: &RunId) -> Result<Self, DriveError> {
        Ok(Self { inner, origin: origin.clone(), calls: recorded_calls(journal, origin).await? })
    }

    /// The outcome of the same call: of the same attempt if there is one, or else the last that succeeded, or else the last. It does
    /// not depend on what was answered before, so that a fork that is resumed gets the same.
    fn recorded(&self, call: &CallTool) -> Option<&Result<ToolReply, TransportFailure>> {
        let same = || self.calls.iter().filter(|recorded| is_same_call(&recorded.call, call));
        let has_succeeded =
            |recorded: &&JournalledCall| recorded.outcome.as_ref().is_ok_and(|reply| reply.status < 400);
        let found = same()
            .find(|recorded| recorded.call.id == call.id)
            .or_else(|| same().rfind(has_succeeded))
            .or_else(|| same().next_back());
        found.map(|recorded| &recorded.outcome)
    }

    fn refusal(&self, call: &CallTool) -> TransportFailure {
        let is_known = |recorded: &JournalledCall| {
            (&recorded.call.tool, &recorded.call.capability) == (&call.tool, &call.capability)
        };
        let made = if self.calls.iter().any(is_known) { "made it with other parameters" } else { "did not make it" };
        let (tool, capability, origin) = (&call.tool, &call.capability, &self.origin);
        TransportFailure {
            kind: TransportKind::NotCallable,
            delivery: Delivery::NotSent,
            message: format!(
                "`{tool}/{capability}` may change something, so this fork does not send it, and run `{origin}` {made}; \
                 fork again with `--allow-writes` to send such calls"
            ),
        }
    }
}

impl Transport for UnsentWrites {
    fn ask<'a>(&'a self, ask: &'a AskModel) -> BoxFuture<'a, Result<ModelAnswer, ModelFailure>> {
        self.inner.ask(ask)
    }

    fn ask_streaming<'a>(
        &'a self,
        ask: &'a AskModel,
        on_delta: OnDelta<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelFailure>> {
        self.inner.ask_streaming(ask, on_delta)
    }

    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        traceparent: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        let only_reads = match &call.job {
            None => call.side_effect == SideEffect::Read,
            Some(JobRequest::Ask(_)) => true,
            Some(JobRequest::Cancel(_)) => false,
        };
        // A job that the other run has started is asked about in the record.
        let recorded = if only_reads && call.job.is_none() { None } else { self.recorded(call) };
        match recorded {
            Some(outcome) => Box::pin(std::future::ready(outcome.clone())),
            None if only_reads => self.inner.call(call, traceparent),
            None => Box::pin(std::future::ready(Err(self.refusal(call)))),
        }
    }

    fn count<'a>(&'a self, count: &'a CountTokens) -> BoxFuture<'a, Option<u64>> {
        self.inner.count(count)
    }
}
