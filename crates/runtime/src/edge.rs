//! Where effects leave the process.

use std::sync::Arc;

use reknit_dialogue::{Answer, Failure};
use reknit_engine::{AskModel, CountTokens};
use reknit_models::Models;
use reknit_protocol::{CallTool, ToolReply, TransportFailure};
use reknit_tools::Tools;

use crate::clock::BoxFuture;
use crate::tokens;

/// Asks models and calls tools, once each. Dropping a future ends what it does.
pub trait Edge: Send + Sync + std::fmt::Debug + 'static {
    /// Asks one model, once.
    fn ask<'a>(&'a self, ask: &'a AskModel) -> BoxFuture<'a, Result<Answer, Failure>>;
    /// Calls one tool, once. The tool is told which span calls it, if there is one.
    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        traceparent: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>>;
    /// Counts how many tokens a question has for a target. Nobody can, unless the edge knows how.
    fn count<'a>(&'a self, _count: &'a CountTokens) -> BoxFuture<'a, Option<u64>> {
        Box::pin(std::future::ready(None))
    }
}

/// The network.
#[derive(Debug)]
pub struct Network {
    /// Who can be asked.
    pub models: Arc<Models>,
    /// What can be called.
    pub tools: Tools,
}

impl Edge for Network {
    fn ask<'a>(&'a self, ask: &'a AskModel) -> BoxFuture<'a, Result<Answer, Failure>> {
        Box::pin(async move { self.models.ask(&ask.target, &ask.request, &mut |_| ()).await })
    }

    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        traceparent: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        Box::pin(self.tools.call_within(call, traceparent))
    }

    fn count<'a>(&'a self, count: &'a CountTokens) -> BoxFuture<'a, Option<u64>> {
        Box::pin(async move { tokens::count(&self.models.target(&count.target)?.model, &count.request).await })
    }
}
