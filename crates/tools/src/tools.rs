//! The known tools, which make calls.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use reknit_protocol::{CallTool, Delivery, ToolReply, TransportFailure, TransportKind};

use crate::source::{Route, not_callable};

pub(crate) type Routes = HashMap<String, HashMap<String, Arc<dyn Route>>>;

/// The known tools. Makes their calls. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    routes: Arc<RwLock<Arc<Routes>>>,
}

impl Tools {
    pub(crate) fn new(routes: Routes) -> Self {
        Self { routes: Arc::new(RwLock::new(Arc::new(routes))) }
    }

    /// Takes over the routes of a later discovery, in all clones. Calls under way are not affected.
    pub fn update(&self, later: &Self) {
        let routes = Arc::clone(&later.routes.read());
        *self.routes.write() = routes;
    }

    /// Makes one call. Dropping the future aborts it.
    pub async fn call(&self, call: &CallTool) -> Result<ToolReply, TransportFailure> {
        self.call_within(call, None).await
    }

    /// Makes one call within a trace span, which is sent to the tool as a `traceparent` of W3C Trace Context.
    pub async fn call_within(&self, call: &CallTool, traceparent: Option<&str>) -> Result<ToolReply, TransportFailure> {
        let routes = Arc::clone(&self.routes.read());
        let routes = routes.get(call.tool.as_str());
        let Some(route) = routes.and_then(|routes| routes.get(call.capability.as_str())) else {
            let message = format!("no address is known for `{}` of `{}`", call.capability, call.tool);
            return Err(not_callable(message));
        };
        let limit = Duration::from_millis(call.timeout_ms);
        let outcome = match &call.job {
            Some(request) => route.job(call, request),
            None => route.call(call, traceparent),
        };
        tokio::time::timeout(limit, outcome).await.unwrap_or_else(|_| Err(timed_out(call, limit)))
    }
}

pub(crate) fn timed_out(call: &CallTool, limit: Duration) -> TransportFailure {
    TransportFailure {
        kind: TransportKind::TimedOut,
        delivery: Delivery::Possible,
        message: format!("`{}` did not answer within {limit:?}", call.tool),
    }
}
