//! Discovery: asks every source for its capabilities.

use std::sync::Arc;
use std::time::Duration;

use reknit_plan::{Catalogue, CatalogueTool};

use crate::http::address::Address;
use crate::http::client::Client;
use crate::http::service::HttpService;
use crate::source::{Listing, ToolSource};
use crate::tool_service::ToolService;
use crate::tools::{Routes, Tools};

/// The time limit for the listing of one source.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The tools that were discovered.
#[derive(Debug)]
pub struct Discovery {
    /// Their descriptions, for the engine.
    pub catalogue: Catalogue,
    /// Their routes, for calls.
    pub tools: Tools,
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
/// Several sources may share the name of a tool; its capabilities are then those of all of them.
pub async fn discover(sources: &[Arc<dyn ToolSource>]) -> Discovery {
    let (mut tools, mut routes) = (Vec::<CatalogueTool>::new(), Routes::new());
    let (mut problems, mut notes) = (Vec::new(), Vec::new());
    // Concurrently: ten tools that are down must not take ten times the limit.
    let listings = sources.iter().map(|source| tokio::time::timeout(TIMEOUT, source.list()));
    let outcomes = futures_util::future::join_all(listings).await;
    for (source, outcome) in sources.iter().zip(outcomes) {
        let problem =
            |message| DiscoveryProblem { tool: source.name().to_string(), address: source.address(), message };
        match outcome.unwrap_or_else(|_| Err(format!("it did not answer within {TIMEOUT:?}"))) {
            Err(message) => problems.push(problem(message)),
            Ok(listing) => {
                let (found, unused) = (listing.problems.clone(), listing.notes.clone());
                let taken = add(source.as_ref(), listing, &mut tools, &mut routes);
                problems.extend(found.into_iter().chain(taken).map(problem));
                notes.extend(unused.into_iter().map(problem));
            }
        }
    }
    Discovery { catalogue: Catalogue { tools }, tools: Tools::new(routes), problems, notes }
}

/// Adds what a source offers. Returns a message for each capability whose name is taken.
fn add(source: &dyn ToolSource, listing: Listing, tools: &mut Vec<CatalogueTool>, routes: &mut Routes) -> Vec<String> {
    let name = source.name();
    let routes = routes.entry(name.as_str().to_owned()).or_default();
    let (mut entries, mut taken) = (Vec::with_capacity(listing.capabilities.len()), Vec::new());
    for listed in listing.capabilities {
        let capability = listed.entry.capability.name.as_str().to_owned();
        if routes.contains_key(&capability) {
            taken.push(format!("there are two capabilities `{capability}`; the first one is used"));
            continue;
        }
        routes.insert(capability, listed.route);
        entries.push(listed.entry);
    }
    match tools.iter_mut().find(|tool| tool.name == *name) {
        Some(tool) => tool.capabilities.extend(entries),
        None => {
            tools.push(CatalogueTool { name: name.clone(), description: listing.description, capabilities: entries });
        }
    }
    taken
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
