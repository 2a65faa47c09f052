//! The services of a registry as sources of tools.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use reknit_protocol::{Object, Value};
use reknit_registry::{Registry, ServiceRecord, ServiceType};
use reknit_tools::{
    Address, BoxFuture, Client, ComponentType, FoundSources, HttpService, SourceProvider, ToolService, ToolSource,
};
use tokio::task::JoinSet;

/// How long a service that is no longer registered is used, if it still answers. A Redis server that was restarted has lost all
/// records, and the services write theirs again within 20 seconds.
const GRACE_MS: u64 = 60_000;

/// How long a service that is no longer registered may take to answer.
const PROBE_TIME: Duration = Duration::from_secs(2);

/// Finds the services of a registry.
#[derive(Debug)]
pub(crate) struct RegistryServices {
    pub(crate) registry: Registry,
    pub(crate) client: Client,
    /// The names of the services to use; all if it is empty.
    pub(crate) include: Vec<String>,
    pub(crate) exclude: Vec<String>,
}

/// A service that was registered.
#[derive(Debug, Clone)]
struct KnownService {
    record: ServiceRecord,
    /// When it was found out that it is no longer in the registry, in milliseconds since 1970.
    missing_since_ms: Option<u64>,
}

impl RegistryServices {
    fn is_wanted(&self, name: &str) -> bool {
        let is_in = |names: &[String]| names.iter().any(|known| known == name);
        (self.include.is_empty() || is_in(&self.include)) && !is_in(&self.exclude)
    }

    async fn find_now(&self, previous: Option<&str>) -> Result<FoundSources, String> {
        let listed = self.registry.list().await.map_err(|error| error.with_cause())?;
        let now_ms = u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0);
        let problems = listed.problems.iter().map(|problem| format!("a service is not used: {problem}")).collect();
        let unhealthy = listed.unhealthy.iter().filter(|record| self.is_wanted(&record.name));
        let mut notes: Vec<String> =
            unhealthy.map(|record| format!("`{}` is not used, for it says that it is unhealthy", record.id)).collect();
        let listed_ids: HashSet<&str> =
            listed.services.iter().chain(&listed.unhealthy).map(|record| record.id.as_str()).collect();
        // A text that cannot be read was saved by another version.
        let known = previous.and_then(|saved| read_saved(saved).ok()).unwrap_or_default();
        let missing = known.into_iter().filter(|known| !listed_ids.contains(known.record.id.as_str()));
        let missing = missing.map(|known| KnownService {
            missing_since_ms: known.missing_since_ms.or(Some(now_ms)),
            record: known.record,
        });
        let is_recent =
            |known: &KnownService| known.missing_since_ms.is_some_and(|since_ms| now_ms.abs_diff(since_ms) < GRACE_MS);
        let answering = self.answering(missing.filter(is_recent).collect()).await;
        for known in &answering {
            let id = &known.record.id;
            notes.push(format!("`{id}` is no longer registered, but it answers; it is used for a while"));
        }
        let registered = listed.services.into_iter().map(|record| KnownService { record, missing_since_ms: None });
        let services: Vec<KnownService> = registered.chain(answering).collect();
        Ok(FoundSources { sources: self.sources(&services), problems, notes, saved: saved_text(&services) })
    }

    /// Those of the services that still answer.
    async fn answering(&self, services: Vec<KnownService>) -> Vec<KnownService> {
        let mut probes = JoinSet::new();
        for known in services {
            let Some(source) = self.source(&known.record) else { continue };
            probes.spawn(async move {
                let answer = tokio::time::timeout(PROBE_TIME, source.list()).await;
                matches!(answer, Ok(Ok(_))).then_some(known)
            });
        }
        let mut answering: Vec<KnownService> = probes.join_all().await.into_iter().flatten().collect();
        answering.sort_by(|one, other| one.record.id.cmp(&other.record.id));
        answering
    }

    /// One source for each address: all pods of a Kubernetes service register the same one.
    fn sources(&self, services: &[KnownService]) -> Vec<Arc<dyn ToolSource>> {
        let mut addresses = HashSet::new();
        let sources = services.iter().filter(|known| self.is_wanted(&known.record.name));
        let sources = sources.filter_map(|known| self.source(&known.record));
        sources.filter(|source| addresses.insert((source.name().clone(), source.address()))).collect()
    }

    fn source(&self, record: &ServiceRecord) -> Option<Arc<dyn ToolSource>> {
        // The registry has checked the address when it read the record.
        let mut address = Address::parse(record.name.as_str(), &record.base_url().ok()?).ok()?;
        address.component = Some(match record.service_type {
            ServiceType::Tool => ComponentType::Tool,
            ServiceType::Agent => ComponentType::Agent,
        });
        let registered = Object::from([
            ("description", record.description.as_str().into()),
            ("capabilities", Value::Array(record.capabilities.clone())),
        ]);
        let service = HttpService::without_credentials(address, self.client.clone());
        Some(Arc::new(ToolService::of_registry(service, registered.into())))
    }
}

impl SourceProvider for RegistryServices {
    fn name(&self) -> &'static str {
        "registry"
    }

    fn address(&self) -> String {
        format!("{} ({})", self.registry.url(), self.registry.namespace())
    }

    fn find<'a>(&'a self, previous: Option<&'a str>) -> BoxFuture<'a, Result<FoundSources, String>> {
        Box::pin(self.find_now(previous))
    }

    fn restore(&self, saved: &str) -> Result<Vec<Arc<dyn ToolSource>>, String> {
        Ok(self.sources(&read_saved(saved)?))
    }
}

fn saved_text(services: &[KnownService]) -> String {
    let saved = |known: &KnownService| {
        let missing_since = known.missing_since_ms.map_or(Value::Null, Value::from);
        Object::from([("missing_since_ms", missing_since), ("record", known.record.to_object().into())])
    };
    Value::Array(services.iter().map(saved).map(Value::Object).collect()).to_string()
}

fn as_ms(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        _ => None,
    }
}

fn read_saved(saved: &str) -> Result<Vec<KnownService>, String> {
    let saved = Value::parse(saved).map_err(|error| error.to_string())?;
    let known = |value: &Value| {
        let missing_since_ms = value.get("missing_since_ms").and_then(as_ms);
        let record = value.get("record").and_then(Value::as_object).cloned().ok_or("it has no record")?;
        let record = ServiceRecord::from_object(record).map_err(|error| error.to_string())?;
        Ok(KnownService { record, missing_since_ms })
    };
    saved.as_array().ok_or("it is not a list")?.iter().map(known).collect()
}
