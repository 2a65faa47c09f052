//! The capabilities of all tools as they are known now. New runs use the latest ones; a run keeps those it started with.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use reknit_plan::Catalogue;
use reknit_protocol::ToolName;
use reknit_telemetry::Severity;
use reknit_tools::{
    DefinitionChange, Discovery, DiscoveryProblem, ListingStore, SourceProvider, ToolInstance, ToolSource, Tools,
    discover_all,
};
use tokio::task::JoinSet;

use crate::telemetry::log::emit_event;

/// What was found out about the tools, at one time.
#[derive(Debug)]
pub(crate) struct FoundCatalogue {
    pub(crate) catalogue: Arc<Catalogue>,
    /// The tools that cannot be reached, whose last known capabilities are in the catalogue.
    pub(crate) stale: Vec<ToolName>,
    pub(crate) instances: Vec<ToolInstance>,
    pub(crate) problems: Vec<DiscoveryProblem>,
    pub(crate) notes: Vec<DiscoveryProblem>,
    /// The capabilities whose definitions differ from those that were first seen, and those that were added since.
    pub(crate) changes: Vec<DefinitionChange>,
}

impl FoundCatalogue {
    fn new(found: Discovery) -> (Self, Tools) {
        let Discovery { catalogue, tools, stale, instances, problems, notes, changes } = found;
        (Self { catalogue: Arc::new(catalogue), stale, instances, problems, notes, changes }, tools)
    }
}

/// The catalogue of a process, which can be refreshed. Cloning is cheap.
#[derive(Debug, Clone)]
pub(crate) struct LiveCatalogue {
    shared: Arc<Shared>,
    /// The task that refreshes it, which ends with the last clone.
    background: Arc<Mutex<JoinSet<()>>>,
}

#[derive(Debug)]
struct Shared {
    sources: Vec<Arc<dyn ToolSource>>,
    providers: Vec<Arc<dyn SourceProvider>>,
    store: ListingStore,
    tools: Tools,
    latest: RwLock<Arc<FoundCatalogue>>,
}

impl LiveCatalogue {
    /// Asks all sources for their capabilities, those of the configuration and those that the providers find.
    pub(crate) async fn start(
        sources: Vec<Arc<dyn ToolSource>>,
        providers: Vec<Arc<dyn SourceProvider>>,
        store: ListingStore,
    ) -> Self {
        let (latest, tools) = FoundCatalogue::new(discover_all(&sources, &providers, &store).await);
        let shared = Shared { sources, providers, store, tools, latest: RwLock::new(Arc::new(latest)) };
        Self { shared: Arc::new(shared), background: Arc::default() }
    }

    /// The tools, whose routes follow every refresh.
    pub(crate) fn tools(&self) -> Tools {
        self.shared.tools.clone()
    }

    pub(crate) fn latest(&self) -> Arc<FoundCatalogue> {
        self.shared.latest()
    }

    /// Pins the new definition of a capability. It can be called after the next refresh.
    pub(crate) fn accept(&self, change: &DefinitionChange) -> std::io::Result<()> {
        self.shared.store.accept(change)
    }

    /// Asks all sources again.
    pub(crate) async fn refresh(&self) -> Arc<FoundCatalogue> {
        self.shared.refresh().await
    }

    /// Asks all sources again and again, until the last clone is dropped. Does nothing if the interval is zero.
    pub(crate) fn refresh_every(&self, interval: Duration) {
        if interval.is_zero() {
            return;
        }
        let shared = Arc::downgrade(&self.shared);
        let mut background = self.background.lock();
        background.abort_all();
        background.spawn(async move {
            loop {
                tokio::time::sleep(interval).await;
                let Some(shared) = shared.upgrade() else { return };
                let before = shared.latest();
                let now = shared.refresh().await;
                log_news(&before.problems, &now.problems, Severity::Warning);
                log_news(&before.notes, &now.notes, Severity::Info);
            }
        });
    }
}

/// Logs what was not known before. What stays the same is not repeated with every refresh.
fn log_news(before: &[DiscoveryProblem], now: &[DiscoveryProblem], severity: Severity) {
    for problem in now.iter().filter(|problem| !before.contains(problem)) {
        emit_event(severity, "the catalogue of tools was refreshed", "problem", &problem.to_string());
    }
}

impl Shared {
    fn latest(&self) -> Arc<FoundCatalogue> {
        Arc::clone(&self.latest.read())
    }

    async fn refresh(&self) -> Arc<FoundCatalogue> {
        let (latest, tools) = FoundCatalogue::new(discover_all(&self.sources, &self.providers, &self.store).await);
        self.tools.update(&tools);
        let latest = Arc::new(latest);
        *self.latest.write() = Arc::clone(&latest);
        latest
    }
}
