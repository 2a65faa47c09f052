//! Discovery: asks every source for its capabilities, and compares their definitions with the pinned ones.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use reknit_plan::{Catalogue, CatalogueTool};
use reknit_protocol::{CapabilityName, ToolName};
use tokio::task::JoinSet;

use crate::definition_pins::{ChangeOutcome, DefinitionChange, PinPolicy, Pins, WithheldRoute, digest};
use crate::instances::Instances;
use crate::listing_store::{ListingOwner, ListingStore};
use crate::source::{
    DefinitionAuthor, FoundSources, ListedCapability, Listing, Route, SourceProvider, ToolSource, Tools,
};

const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub struct Discovery {
    pub catalogue: Catalogue,
    pub tools: Tools,
    /// The tools that cannot be reached, whose last known capabilities are in the catalogue.
    pub stale: Vec<ToolName>,
    /// Where each tool is, in the order of the configuration.
    pub instances: Vec<ToolInstance>,
    pub problems: Vec<DiscoveryProblem>,
    /// What tools announce that has no effect, such as an unknown key of a summary or an unknown type of a schema.
    pub notes: Vec<DiscoveryProblem>,
    /// The capabilities whose definitions differ from those that were first seen, and those that were added since. Each is among
    /// the problems or notes, too.
    pub changes: Vec<DefinitionChange>,
}

/// Where a tool is. A tool that registers itself can be at several places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolInstance {
    pub tool: ToolName,
    /// Its address, redacted.
    pub address: String,
    /// Why it did not list its capabilities when it was last asked; none if it did.
    pub problem: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("tool `{tool}` at {address}: {message}")]
pub struct DiscoveryProblem {
    pub tool: String,
    /// Its address, redacted.
    pub address: String,
    pub message: String,
}

/// Asks every source for its capabilities. A source that cannot be used becomes a problem; the others are still discovered.
pub async fn discover(sources: &[Arc<dyn ToolSource>]) -> Discovery {
    let mut found = FoundTools::default();
    found.ask(&sources.iter().cloned().map(AskedSource::configured).collect::<Vec<_>>(), None).await;
    found.finish()
}

/// Asks every source for its capabilities, and the sources that every provider finds now. Several sources with the same name are
/// instances of one tool; one of a provider with the name of one in `sources` is not used. For a source or provider that cannot be
/// asked, its last good listing in the store is used: its capabilities are known, and calls to them fail until it is back.
pub async fn discover_all(
    sources: &[Arc<dyn ToolSource>],
    providers: &[Arc<dyn SourceProvider>],
    store: &ListingStore,
) -> Discovery {
    let mut found = FoundTools::default();
    let mut all: Vec<AskedSource> = sources.iter().cloned().map(AskedSource::configured).collect();
    for provider in providers {
        for source in provided_sources(provider.as_ref(), store, &mut found).await {
            if sources.iter().any(|configured| configured.name() == source.name()) {
                let message = "it is not used, for a tool with this name is configured".to_owned();
                found.discovery.notes.push(problem_of(source.as_ref(), message));
            } else {
                // Instances come and go, so the pins of a tool belong to its registry.
                all.push(AskedSource { source, scope: provider.address() });
            }
        }
    }
    found.ask(&all, Some(store)).await;
    found.finish()
}

/// The sources of a provider: those of now, or the last known ones.
async fn provided_sources(
    provider: &dyn SourceProvider,
    store: &ListingStore,
    found: &mut FoundTools,
) -> Vec<Arc<dyn ToolSource>> {
    let problem = |message| DiscoveryProblem { tool: provider.name().to_owned(), address: provider.address(), message };
    let owner = ListingOwner::Provider(provider);
    let previous = store.load(owner).unwrap_or_else(|error| {
        found.discovery.problems.push(problem(format!("its last known services cannot be read: {error}")));
        None
    });
    let outcome = tokio::time::timeout(TIMEOUT, provider.find(previous.as_deref())).await;
    match outcome.unwrap_or_else(|_| Err(format!("it did not answer within {TIMEOUT:?}"))) {
        Ok(FoundSources { sources, problems, notes, saved }) => {
            found.discovery.problems.extend(problems.into_iter().map(problem));
            found.discovery.notes.extend(notes.into_iter().map(problem));
            if let Err(error) = store.save(owner, &saved) {
                let message = format!("its services cannot be saved for the time when it is down: {error}");
                found.discovery.problems.push(problem(message));
            }
            sources
        }
        Err(cause) => {
            let (sources, message) = match previous.map(|saved| provider.restore(&saved)) {
                Some(Ok(sources)) => (sources, format!("{cause}; its last known services are used")),
                Some(Err(unusable)) => (vec![], format!("{cause}; its last known services are unusable: {unusable}")),
                None => (vec![], cause),
            };
            found.discovery.problems.push(problem(message));
            sources
        }
    }
}

/// What is known about a source that cannot be reached: its last good listing, else what it registered.
fn restore(source: &dyn ToolSource, store: Option<&ListingStore>) -> Option<(Listing, ListingAge)> {
    // A listing that cannot be read is as good as none: the source itself has a problem that is reported.
    let saved = store.and_then(|store| store.load(ListingOwner::Source(source)).ok().flatten());
    let saved = saved.and_then(|saved| source.restore(&saved).ok()).map(|listing| (listing, ListingAge::Earlier));
    saved.or_else(|| Some((source.registered()?, ListingAge::Registered)))
}

/// A source, and where its tool is for pinned definitions.
struct AskedSource {
    source: Arc<dyn ToolSource>,
    scope: String,
}

impl AskedSource {
    fn configured(source: Arc<dyn ToolSource>) -> Self {
        Self { scope: source.address(), source }
    }
}

fn problem_of(source: &dyn ToolSource, message: String) -> DiscoveryProblem {
    DiscoveryProblem { tool: source.name().to_string(), address: source.address(), message }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListingAge {
    Fresh,
    /// It cannot be reached, and the listing is from before.
    Earlier,
    /// It cannot be reached and never was: this is what it wrote into a registry, which is less than it lists itself.
    Registered,
}

#[derive(Default)]
struct FoundTools {
    discovery: Discovery,
    /// The routes of each capability, one for each instance that has it.
    routes: HashMap<String, HashMap<String, Vec<Arc<dyn Route>>>>,
    /// The tools with at least one reachable instance.
    fresh: HashSet<ToolName>,
    /// The names and scopes of the tools that are seen for the first time. All that any of their instances has is pinned.
    first_seen: HashSet<(ToolName, String)>,
}

impl FoundTools {
    async fn ask(&mut self, sources: &[AskedSource], store: Option<&ListingStore>) {
        // Concurrently: ten tools that are down must not take ten times the limit.
        let mut listings = JoinSet::new();
        for (place, asked) in sources.iter().enumerate() {
            let source = Arc::clone(&asked.source);
            listings.spawn(async move { (place, tokio::time::timeout(TIMEOUT, source.list()).await) });
        }
        let mut outcomes: HashMap<usize, Result<Listing, String>> = HashMap::new();
        while let Some(listed) = listings.join_next().await {
            // What panicked has no place, and is missing below.
            let Ok((place, outcome)) = listed else { continue };
            outcomes.insert(place, outcome.unwrap_or_else(|_| Err(format!("it did not answer within {TIMEOUT:?}"))));
        }
        let mut outcome = |place| outcomes.remove(&place).unwrap_or_else(|| Err("it panicked".to_owned()));
        let mut asked: Vec<_> = sources.iter().enumerate().map(|(place, asked)| (asked, outcome(place))).collect();
        // Of the instances of a tool, those that answer come first: what was known before must not replace what is true now.
        asked.sort_by_cached_key(|(asked, outcome)| {
            let tool = sources.iter().position(|first| first.source.name() == asked.source.name());
            (tool, outcome.is_err())
        });
        for (asked, outcome) in asked {
            let source = &asked.source;
            let (tool, address) = (source.name().clone(), source.address());
            self.discovery.instances.push(ToolInstance { tool, address, problem: outcome.as_ref().err().cloned() });
            match outcome {
                Ok(listing) => {
                    if let (Some(store), Some(text)) = (store, &listing.saved)
                        && let Err(error) = store.save(ListingOwner::Source(source.as_ref()), text)
                    {
                        let message = format!("its capabilities cannot be saved for the time when it is down: {error}");
                        self.discovery.problems.push(problem_of(source.as_ref(), message));
                    }
                    self.fresh.insert(source.name().clone());
                    self.add(asked, listing, ListingAge::Fresh, store).await;
                }
                Err(cause) => {
                    let known = restore(source.as_ref(), store);
                    let message = match &known {
                        None => cause,
                        Some(_) if cause.ends_with('?') => format!("{cause} (its last known capabilities are used)"),
                        Some(_) => format!("{cause}; its last known capabilities are used"),
                    };
                    self.discovery.problems.push(problem_of(source.as_ref(), message));
                    if let Some((listing, age)) = known {
                        self.add(asked, listing, age, store).await;
                    }
                }
            }
        }
    }

    async fn add(&mut self, asked: &AskedSource, mut listing: Listing, age: ListingAge, store: Option<&ListingStore>) {
        let source = asked.source.as_ref();
        for ListedCapability { entry, .. } in &mut listing.capabilities {
            entry.capability.effect = entry.capability.effect.of_tool(source.has_keys());
        }
        let problem = |message| problem_of(source, message);
        let listing = match store.filter(|_| age != ListingAge::Registered) {
            Some(store) => self.check_pins(asked, listing, store).await,
            None => listing,
        };
        self.discovery.problems.extend(listing.problems.into_iter().map(problem));
        self.discovery.notes.extend(listing.notes.into_iter().map(problem));
        let name = source.name();
        let known = self.discovery.catalogue.tools.iter().position(|tool| tool.name == *name);
        let tool = known.unwrap_or_else(|| {
            let (name, description) = (name.clone(), listing.description);
            self.discovery.catalogue.tools.push(CatalogueTool { name, description, capabilities: Vec::new() });
            self.discovery.catalogue.tools.len() - 1
        });
        let Some(tool) = self.discovery.catalogue.tools.get_mut(tool) else { return };
        let routes = self.routes.entry(name.as_str().to_owned()).or_default();
        for ListedCapability { entry, route } in listing.capabilities {
            let capability = entry.capability.name.as_str();
            match tool.entry(capability) {
                // The instance is down, and when it is back it is asked again.
                Some(known) if *known != entry && age != ListingAge::Fresh => continue,
                Some(known) if *known != entry => {
                    let message =
                        format!("there are two capabilities `{capability}` that differ; the first one is used");
                    self.discovery.problems.push(problem(message));
                    continue;
                }
                Some(known) if known.withheld.is_some() => continue,
                Some(_) => {}
                None => tool.capabilities.push(entry.clone()),
            }
            let route = match entry.withheld {
                Some(reason) => Arc::new(WithheldRoute { reason }),
                None => route,
            };
            routes.entry(entry.capability.name.as_str().to_owned()).or_default().push(route);
        }
    }

    /// Compares the capabilities with their pinned definitions, except for those that another instance has as well.
    async fn check_pins(&mut self, asked: &AskedSource, listing: Listing, store: &ListingStore) -> Listing {
        let source = asked.source.as_ref();
        if store.pin_rules().policy == PinPolicy::Off || source.author() == DefinitionAuthor::User {
            return listing;
        }
        let known = self.discovery.catalogue.tools.iter().find(|tool| tool.name == *source.name());
        let known: HashSet<CapabilityName> =
            known.into_iter().flat_map(|tool| &tool.capabilities).map(|entry| entry.capability.name.clone()).collect();
        let tool = (source.name().clone(), asked.scope.clone());
        let mut pins = Pins::new(source.name().clone(), asked.scope.clone()).described_as(&listing.description);
        pins.is_first_sight = self.first_seen.contains(&tool);
        let store = store.clone();
        // Large schemas take a while, and files block.
        let checked = tokio::task::spawn_blocking(move || check_listing(pins, listing, &known, &store)).await;
        let CheckedListing { listing, changes, problem, is_first_sight } = checked.unwrap_or_else(|error| {
            // It panicked, so nothing is known about its definitions.
            let message = format!("its definitions cannot be compared with the pinned ones: {error}");
            CheckedListing { problem: Some(message), ..CheckedListing::default() }
        });
        if is_first_sight {
            self.first_seen.insert(tool);
        }
        self.discovery.problems.extend(problem.map(|problem| problem_of(source, problem)));
        for change in &changes {
            let is_note = change.outcome == ChangeOutcome::Reported;
            let list = if is_note { &mut self.discovery.notes } else { &mut self.discovery.problems };
            list.push(problem_of(source, change.to_string()));
        }
        self.discovery.changes.extend(changes);
        listing
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
        let mut discovery = self.discovery;
        let names = discovery.catalogue.tools.iter().map(|tool| tool.name.clone());
        discovery.stale = names.filter(|name| !self.fresh.contains(name)).collect();
        discovery.tools = Tools::new(routes);
        discovery
    }
}

#[derive(Debug, Default)]
struct CheckedListing {
    listing: Listing,
    changes: Vec<DefinitionChange>,
    /// Why the pins cannot be read or saved.
    problem: Option<String>,
    is_first_sight: bool,
}

/// Compares the capabilities of a listing with their pins, except for those that another instance of the tool has.
fn check_listing(
    pins: Pins,
    mut listing: Listing,
    known: &HashSet<CapabilityName>,
    store: &ListingStore,
) -> CheckedListing {
    let new = |listed: &&mut ListedCapability| !known.contains(&listed.entry.capability.name);
    let mut pins = match store.load_pins(pins) {
        Ok(pins) => pins,
        Err(error) => {
            let reason = format!("its pinned definition cannot be read: {error}");
            listing.capabilities.iter_mut().filter(new).for_each(|it| it.entry.withheld = Some(reason.clone()));
            let problem = format!("its pinned definitions cannot be read, so its capabilities are withheld: {error}");
            return CheckedListing { listing, problem: Some(problem), ..CheckedListing::default() };
        }
    };
    pins.is_first_sight |= pins.is_empty();
    let digest = listing_digest(&listing);
    if digest.is_some() && pins.listing == digest {
        return CheckedListing { listing, ..CheckedListing::default() };
    }
    let entries = listing.capabilities.iter_mut().filter(new).map(|listed| &mut listed.entry);
    let changes: Vec<DefinitionChange> = entries.filter_map(|entry| pins.check(entry, store.pin_rules())).collect();
    let is_as_pinned = changes.iter().all(|change| change.outcome == ChangeOutcome::Reported);
    if known.is_empty() {
        pins.listing = digest.filter(|_| is_as_pinned);
    }
    let names: HashSet<&str> = listing.capabilities.iter().map(|it| it.entry.capability.name.as_str()).collect();
    pins.bound(|name| names.contains(name));
    let unsaved = |error| format!("its definitions cannot be pinned, so a change will not be noticed: {error}");
    let problem = store.save_pins(&pins).err().map(unsaved);
    CheckedListing { listing, changes, problem, is_first_sight: pins.is_first_sight }
}

/// The digest of all that the definitions are made from, which is cheaper than one for each. `None` if the source saves nothing.
fn listing_digest(listing: &Listing) -> Option<String> {
    let saved = listing.saved.as_deref()?;
    let names = listing.capabilities.iter().map(|listed| &listed.entry.capability);
    let names = names.flat_map(|capability| [capability.name.as_str(), capability.effect.as_str()]);
    Some(digest([env!("CARGO_PKG_VERSION"), saved].into_iter().chain(names)))
}
