//! The seam through which a driver reaches models and tools.

use std::sync::Arc;

use reknit_engine::{AskModel, CountTokens};
use reknit_model_api::{ModelAnswer, ModelFailure};
use reknit_models::{Models, OnDelta};
use reknit_protocol::{CallTool, ToolReply, TransportFailure};
use reknit_tools::{BoxFuture, Tools};

#[cfg(feature = "tokens")]
use crate::tokens;

/// Sends requests to models and calls to tools, without retries. Dropping a future must cancel its request.
pub trait Transport: Send + Sync + std::fmt::Debug + 'static {
    /// Sends one request to one model.
    fn ask<'a>(&'a self, ask: &'a AskModel) -> BoxFuture<'a, Result<ModelAnswer, ModelFailure>>;
    /// Sends one request to one model, as [`ask`](Self::ask) does, and passes on the pieces of the answer as they arrive. By default
    /// there are no pieces.
    fn ask_streaming<'a>(
        &'a self,
        ask: &'a AskModel,
        _on_delta: OnDelta<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelFailure>> {
        self.ask(ask)
    }
    /// Makes one call to one tool, and sends it the `traceparent`, if there is one.
    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        traceparent: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>>;
    /// Counts the tokens of a request; `None` if the transport cannot count for this target, which is the default.
    fn count<'a>(&'a self, _count: &'a CountTokens) -> BoxFuture<'a, Option<u64>> {
        Box::pin(std::future::ready(None))
    }
}

/// The transport over HTTP.
#[derive(Debug)]
pub struct Network {
    pub models: Arc<Models>,
    pub tools: Tools,
}

impl Transport for Network {
    fn ask<'a>(&'a self, ask: &'a AskModel) -> BoxFuture<'a, Result<ModelAnswer, ModelFailure>> {
        Box::pin(async move { self.models.ask(&ask.target, &ask.request, &mut |_| ()).await })
    }

    fn ask_streaming<'a>(
        &'a self,
        ask: &'a AskModel,
        on_delta: OnDelta<'a>,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelFailure>> {
        Box::pin(self.models.ask(&ask.target, &ask.request, on_delta))
    }

    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        traceparent: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        Box::pin(self.tools.call_within(call, traceparent))
    }

    #[cfg(feature = "tokens")]
    fn count<'a>(&'a self, count: &'a CountTokens) -> BoxFuture<'a, Option<u64>> {
        Box::pin(async move { tokens::count(&self.models.target(&count.target)?.model, &count.request).await })
    }
}
