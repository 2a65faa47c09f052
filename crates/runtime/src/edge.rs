//! Where effects leave the process.

use std::sync::Arc;

use reknit_dialogue::{Answer, Failure};
use reknit_engine::{AskModel, CallTool, ToolReply, TransportFailure};
use reknit_models::Models;
use reknit_tools::Tools;

use crate::clock::BoxFuture;

/// Asks models and calls tools, once each. Dropping a future ends what it does.
pub trait Edge: Send + Sync + std::fmt::Debug + 'static {
    /// Asks one model, once.
    fn ask<'a>(&'a self, ask: &'a AskModel) -> BoxFuture<'a, Result<Answer, Failure>>;
    /// Calls one tool, once.
    fn call<'a>(&'a self, call: &'a CallTool) -> BoxFuture<'a, Result<ToolReply, TransportFailure>>;
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

    fn call<'a>(&'a self, call: &'a CallTool) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        Box::pin(self.tools.call(call))
    }
}
