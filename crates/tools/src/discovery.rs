//! Discovery: asks each tool for its capabilities and their schemas.

use std::collections::HashMap;
use std::error::Error as _;
use std::io;
use std::time::Duration;

use reknit_plan::{Catalogue, CatalogueEntry, CatalogueTool};
use reknit_protocol::schema::{Summary, unknown_types};
use reknit_protocol::{Capability, ReplyBody, Value};

use crate::address::{Address, ComponentType};
use crate::body::{read_body, redirect_note};
use crate::call::last_cause;
use crate::client::{Client, Route, Tools};

/// The time limit for all requests to one tool.
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

/// One tool as it describes itself.
struct Description {
    tool: CatalogueTool,
    component: ComponentType,
    problems: Vec<String>,
    notes: Vec<String>,
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

impl Client {
    /// Asks every tool for its capabilities. A tool that does not answer becomes a problem; the others are still discovered.
    pub async fn discover(&self, addresses: &[Address]) -> Discovery {
        let (mut catalogue, mut routes) = (Catalogue::default(), HashMap::new());
        let (mut problems, mut notes) = (Vec::new(), Vec::new());
        // Concurrently: ten tools that are down must not take ten times the limit.
        let requests = addresses.iter().map(|address| tokio::time::timeout(TIMEOUT, self.describe(address)));
        let outcomes = futures_util::future::join_all(requests).await;
        for (address, outcome) in addresses.iter().zip(outcomes) {
            let problem = |message| {
                let (tool, address) = (address.name.to_string(), address.to_string());
                DiscoveryProblem { tool, address, message }
            };
            match outcome.unwrap_or_else(|_| Err(format!("it did not answer within {TIMEOUT:?}"))) {
                Err(message) => problems.push(problem(message)),
                Ok(described) => {
                    problems.extend(described.problems.into_iter().map(problem));
                    notes.extend(described.notes.into_iter().map(problem));
                    for CatalogueEntry { capability, .. } in &described.tool.capabilities {
                        let name = (address.name.as_str().to_owned(), capability.name.as_str().to_owned());
                        let component = component_of(capability.extra.get("type")).unwrap_or(described.component);
                        // A capability whose path is invalid is not in the list.
                        let Ok(url) = address.join(&capability.call_path()) else { continue };
                        routes.insert(name, Route { url, component });
                    }
                    catalogue.tools.push(described.tool);
                }
            }
        }
        Discovery { catalogue, tools: Tools::new(self.clone(), routes), problems, notes }
    }

    /// The capabilities of one tool, and a message for each that cannot be used.
    async fn describe(&self, address: &Address) -> Result<Description, String> {
        let path = "/api/capabilities";
        let listed = read(self.send(address, path).await?, path).await?;
        let list = match &listed {
            Value::Array(list) => list.as_slice(),
            other => other
                .get("capabilities")
                .and_then(Value::as_array)
                .ok_or("GET /api/capabilities does not return a list")?,
        };
        let description = listed.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        let tool = CatalogueTool { name: address.name.clone(), description, capabilities: Vec::new() };
        let component = address.component.or_else(|| component_of(listed.get("type"))).unwrap_or_default();
        let mut described = Description { tool, component, problems: Vec::new(), notes: Vec::new() };
        for value in list {
            match Capability::from_value(value) {
                Ok(capability) => self.describe_capability(address, capability, &mut described).await,
                Err(error) => described.problems.push(format!("invalid capability: {error}")),
            }
        }
        Ok(described)
    }

    async fn describe_capability(&self, address: &Address, capability: Capability, described: &mut Description) {
        let name = capability.name.clone();
        if let Err(problem) = address.join(&capability.call_path()) {
            described.problems.push(format!("`{name}` cannot be called: {problem}"));
            return;
        }
        for (list, summary) in [("input", &capability.input_summary), ("output", &capability.output_summary)] {
            let unknown = summary.as_ref().map(Summary::unknown_keys).unwrap_or_default();
            let note = |key| format!("unknown key `{list}_summary.{key}` of `{name}` has no effect");
            described.notes.extend(unknown.into_iter().map(note));
        }
        // Without a schema, the summaries of the capability describe its parameters.
        let schema = self.schema(address, &capability.schema_path()).await.unwrap_or_else(|message| {
            described.problems.push(format!("cannot fetch the schema of `{name}`: {message}"));
            None
        });
        let unknown = schema.as_ref().map(unknown_types).unwrap_or_default();
        described.notes.extend(unknown.iter().map(|unknown| format!("schema of `{name}`: {unknown}")));
        let entry = CatalogueEntry::new(capability.clone(), schema).or_else(|error| {
            described.problems.push(format!("invalid schema of `{name}`, its field hints are used instead: {error}"));
            CatalogueEntry::new(capability, None)
        });
        match entry {
            Ok(entry) => described.tool.capabilities.push(entry),
            Err(error) => described.problems.push(format!("invalid field hints of `{name}`: {error}")),
        }
    }

    /// The schema of a capability. Schemas are optional: 404 means that there is none.
    async fn schema(&self, address: &Address, path: &str) -> Result<Option<Value>, String> {
        let response = self.send(address, path).await?;
        if response.status() == reqwest::StatusCode::NOT_FOUND {
            return Ok(None);
        }
        read(response, path).await.map(Some)
    }

    async fn send(&self, address: &Address, path: &str) -> Result<reqwest::Response, String> {
        self.http.get(address.join(path)?).send().await.map_err(|error| {
            let cause = last_cause(&error).map_or_else(String::new, |cause| format!(": {cause}"));
            if is_refused(&error) {
                "connection refused; is the tool running?".to_owned()
            } else if error.is_connect() {
                format!("it cannot be reached{cause}")
            } else {
                format!("GET {path} failed{cause}")
            }
        })
    }
}

/// The component type that an announcement states.
fn component_of(value: Option<&Value>) -> Option<ComponentType> {
    value.and_then(Value::as_str).and_then(ComponentType::from_word)
}

fn is_refused(error: &reqwest::Error) -> bool {
    let chain = std::iter::successors(error.source(), |cause| (*cause).source());
    let mut kinds = chain.filter_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.any(|kind| kind == io::ErrorKind::ConnectionRefused)
}

async fn read(response: reqwest::Response, path: &str) -> Result<Value, String> {
    let status = response.status();
    if !status.is_success() {
        let note = redirect_note(&response).map_or_else(String::new, |note| format!("; {note}"));
        return Err(format!("GET {path} returned {status}{note}"));
    }
    match read_body(response).await.map_err(|error| error.to_string())? {
        ReplyBody::Json(value) => Ok(value),
        ReplyBody::Repaired { fixes, .. } => Err(format!(
            "GET {path} returned a body that is not valid JSON; it would have to be repaired: {}",
            fixes.join(", ")
        )),
        ReplyBody::Text(_) | ReplyBody::Empty => Err(format!("GET {path} returned a body that is not JSON")),
    }
}
