//! Sources of tools. Every kind of source lists capabilities, each with the route that its calls take. The routes of all together
//! are the known tools, which make calls.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use reknit_plan::CatalogueEntry;
use reknit_protocol::{CallTool, Delivery, JobRequest, ToolName, ToolReply, TransportFailure, TransportKind};

/// A boxed future that can be sent to another thread.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

pub type CallFuture<'a> = BoxFuture<'a, Result<ToolReply, TransportFailure>>;

pub trait ToolSource: Send + Sync + fmt::Debug {
    fn name(&self) -> &ToolName;

    /// Where it is, for messages. Secrets are redacted.
    fn address(&self) -> String;

    /// Lists the capabilities. Fails with the reason if the source cannot be used at all.
    fn list(&self) -> BoxFuture<'_, Result<Listing, String>>;

    /// The listing that was saved as this text. Fails with the reason if it is not a text that this source saved.
    fn restore(&self, _saved: &str) -> Result<Listing, String> {
        Err("this source saves no listings".to_owned())
    }

    /// What is known without asking the source, such as from a registry: for one that cannot be reached and has no saved listing.
    fn registered(&self) -> Option<Listing> {
        None
    }

    /// Whether its protocol has idempotency keys, so that a call whose class it does not declare may be sent again.
    fn has_keys(&self) -> bool {
        false
    }

    /// Who writes the definitions of its capabilities.
    fn author(&self) -> DefinitionAuthor {
        DefinitionAuthor::Service
    }
}

/// Who writes what models read about the capabilities of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionAuthor {
    /// The user, in a file or a program. A change is their own.
    User,
    /// Somebody else. Definitions are pinned when they are first seen, see [`PinPolicy`](crate::PinPolicy).
    Service,
}

/// Finds sources that come and go, such as the services of a registry.
pub trait SourceProvider: Send + Sync + fmt::Debug {
    fn name(&self) -> &'static str;

    /// Where it is, for messages. Secrets are redacted.
    fn address(&self) -> String;

    /// Finds the current sources. `previous` is the last saved text. Fails with the reason if the provider cannot be asked.
    fn find<'a>(&'a self, previous: Option<&'a str>) -> BoxFuture<'a, Result<FoundSources, String>>;

    /// The sources that were saved as this text. Fails with the reason if it is not a text that this provider saved.
    fn restore(&self, saved: &str) -> Result<Vec<Arc<dyn ToolSource>>, String>;
}

#[derive(Debug)]
pub struct FoundSources {
    /// The sources. Several with the same name are instances of one tool.
    pub sources: Vec<Arc<dyn ToolSource>>,
    pub problems: Vec<String>,
    pub notes: Vec<String>,
    /// A text from which [`SourceProvider::restore`] makes these sources again, while the provider cannot be reached.
    pub saved: String,
}

pub trait Route: Send + Sync + fmt::Debug {
    /// Makes one call, without retries. A `traceparent` of W3C Trace Context is passed on if the tool can take it. Dropping the
    /// future aborts the call. The caller enforces `call.timeout_ms`.
    fn call<'a>(&'a self, call: &'a CallTool, traceparent: Option<&'a str>) -> CallFuture<'a>;

    /// Asks about a job that an earlier call has started, or cancels it. The reply has a job as long as the tool works on it, and
    /// is that of the call once the job has ended. The call is never made again.
    fn job<'a>(&'a self, call: &'a CallTool, _request: &'a JobRequest) -> CallFuture<'a> {
        let message = format!("`{}` of `{}` has no jobs", call.capability, call.tool);
        Box::pin(std::future::ready(Err(not_callable(message))))
    }
}

/// The failure of a call that cannot be made, so nothing was sent.
pub(crate) fn not_callable(message: String) -> TransportFailure {
    TransportFailure { kind: TransportKind::NotCallable, delivery: Delivery::NotSent, message }
}

#[derive(Debug, Default)]
pub struct Listing {
    /// What the tool is for; empty if the source does not say.
    pub description: String,
    pub capabilities: Vec<ListedCapability>,
    /// Why single capabilities or schemas cannot be used.
    pub problems: Vec<String>,
    /// What the source states that has no effect.
    pub notes: Vec<String>,
    /// A text from which [`ToolSource::restore`] makes this listing again. `None` for a source that is always there, such as a file.
    pub saved: Option<String>,
}

#[derive(Debug, Clone)]
pub struct ListedCapability {
    pub entry: CatalogueEntry,
    pub route: Arc<dyn Route>,
}

#[cfg(any(feature = "commands", feature = "http"))]
impl Listing {
    /// The listing of a source with one capability that is always there.
    pub(crate) fn of_one(entry: &CatalogueEntry, route: Arc<dyn Route>) -> BoxFuture<'static, Result<Self, String>> {
        let listed = ListedCapability { entry: entry.clone(), route };
        Box::pin(std::future::ready(Ok(Self { capabilities: vec![listed], ..Self::default() })))
    }
}

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
