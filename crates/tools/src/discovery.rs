//! Discovery: asks every source for its capabilities.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use reknit_plan::{Catalogue, CatalogueTool};
use reknit_protocol::AgentName;

use crate::http::address::Address;
use crate::http::client::Client;
use crate::http::service::HttpService;
use crate::instances::Instances;
use crate::listing_store::ListingStore;
use crate::source::{ListedCapability, Listing, Route, ToolSource};
use crate::tool_service::ToolService;
use crate::tools::Tools;

/// The time limit for the listing of one source.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The tools that were discovered.
#[derive(Debug)]
pub struct Discovery {
    /// Their descriptions, for the engine.
    pub catalogue: Catalogue,
    /// Their routes, for calls.
    pub tools: Tools,
    /// The tools that cannot be reached, whose last known capabilities are in the catalogue.
    pub stale: Vec<AgentName>,
    /// The tools and capabilities that cannot be used.
    pub problems: Vec<DiscoveryProblem>,
    /// What tools announce that has no effect, such as an unknown key of a summary or an unknown type of a schema.
    pub notes: Vec<DiscoveryProblem>,
}

/// Why a tool, a capability or a schema is missing from the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tool `{tool}` at {address}: {message}")]
pub struct DiscoveryProblem {
    /// The name of the tool.
    pub tool: String,
    /// Its address, redacted.
    pub address: String,
    /// The cause.
    pub message: String,
}

/// Asks every source for its capabilities. A source that cannot be used becomes a problem; the others are still discovered.
pub async fn discover(sources: &[Arc<dyn ToolSource>]) -> Discovery {
    discover_with(sources, None).await
}

/// Asks every source for its capabilities. With a store, the last good listing of a source that cannot be used is used instead:
/// its capabilities are known, and calls to them fail until the source is back. Several sources with the same name are
/// instances of one tool.
pub async fn discover_with(sources: &[Arc<dyn ToolSource>], store: Option<&ListingStore>) -> Discovery {
    // Concurrently: ten tools that are down must not take ten times the limit.
    let listings = sources.iter().map(|source| tokio::time::timeout(TIMEOUT, source.list()));
    let outcomes = futures_util::future::join_all(listings).await;
    let mut found = FoundTools::default();
    for (source, outcome) in sources.iter().zip(outcomes) {
        let outcome = outcome.unwrap_or_else(|_| Err(format!("it did not answer within {TIMEOUT:?}")));
        let mut problems = Vec::new();
        let is_fresh = outcome.is_ok();
        let listing = match outcome {
            Ok(listing) => {
                if let (Some(store), Some(text)) = (store, &listing.saved)
                    && let Err(error) = store.save(source.as_ref(), text)
                {
                    problems.push(format!("its capabilities cannot be saved for the time when it is down: {error}"));
                }
                Some(listing)
            }
            Err(problem) => {
                let saved = restore(source.as_ref(), store);
                let known = if saved.is_some() { "; its last known capabilities are used" } else { "" };
                problems.push(format!("{problem}{known}"));
                saved
            }
        };
        if is_fresh {
            found.fresh.insert(source.name().clone());
        }
        found.add(source.as_ref(), listing, problems);
    }
    found.finish()
}

/// The last good listing of a source.
fn restore(source: &dyn ToolSource, store: Option<&ListingStore>) -> Option<Listing> {
    // A listing that cannot be read is as good as none: the source itself has a problem that is reported.
    let saved = store?.load(source).ok().flatten()?;
    source.restore(&saved).ok()
}

/// What all sources offer.
#[derive(Default)]
struct FoundTools {
    tools: Vec<CatalogueTool>,
    /// The routes of each capability, one for each instance that has it.
    routes: HashMap<String, HashMap<String, Vec<Arc<dyn Route>>>>,
    /// The tools of which at least one instance was reached.
    fresh: HashSet<AgentName>,
    problems: Vec<DiscoveryProblem>,
    notes: Vec<DiscoveryProblem>,
}

impl FoundTools {
    fn add(&mut self, source: &dyn ToolSource, listing: Option<Listing>, problems: Vec<String>) {
        let problem = |message| {
            let (tool, address) = (source.name().to_string(), source.address());
            DiscoveryProblem { tool, address, message }
        };
        self.problems.extend(problems.into_iter().map(problem));
        let Some(listing) = listing else { return };
        self.problems.extend(listing.problems.into_iter().map(problem));
        self.notes.extend(listing.notes.into_iter().map(problem));
        let name = source.name();
        let known = self.tools.iter().position(|tool| tool.name == *name);
        let tool = known.unwrap_or_else(|| {
            let (name, description) = (name.clone(), listing.description);
            self.tools.push(CatalogueTool { name, description, capabilities: Vec::new() });
            self.tools.len() - 1
        });
        let Some(tool) = self.tools.get_mut(tool) else { return };
        let routes = self.routes.entry(name.as_str().to_owned()).or_default();
        for ListedCapability { entry, route } in listing.capabilities {
            let capability = entry.capability.name.as_str();
            match tool.entry(capability) {
                Some(known) if *known != entry => {
                    let message =
                        format!("there are two capabilities `{capability}` that differ; the first one is used");
                    self.problems.push(problem(message));
                    continue;
                }
                Some(_) => {}
                None => tool.capabilities.push(entry.clone()),
            }
            routes.entry(capability.to_owned()).or_default().push(route);
        }
    }

    fn finish(self) -> Discovery {
        let one = |mut routes: Vec<Arc<dyn Route>>| match (routes.pop(), routes.is_empty()) {
            (Some(only), true) => only,
            (last, _) => Arc::new(Instances::new(routes.into_iter().chain(last).collect())),
        };
        let of_tool = |routes: HashMap<String, Vec<Arc<dyn Route>>>| {
            routes.into_iter().map(|(capability, routes)| (capability, one(routes))).collect()
        };
        let routes = self.routes.into_iter().map(|(tool, routes)| (tool, of_tool(routes))).collect();
        let names = self.tools.iter().map(|tool| tool.name.clone());
        let stale = names.filter(|name| !self.fresh.contains(name)).collect();
        let (catalogue, tools) = (Catalogue { tools: self.tools }, Tools::new(routes));
        Discovery { catalogue, tools, stale, problems: self.problems, notes: self.notes }
    }
}

impl Client {
    /// Asks services that speak the tool protocol, and need no credentials, for their capabilities.
    pub async fn discover(&self, addresses: &[Address]) -> Discovery {
        let source = |address: &Address| {
            let service = HttpService::without_credentials(address.clone(), self.clone());
            Arc::new(ToolService::new(service)) as Arc<dyn ToolSource>
        };
        discover(&addresses.iter().map(source).collect::<Vec<_>>()).await
    }
}
