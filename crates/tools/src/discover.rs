//! What tools there are: each is asked what it can do.

use std::collections::HashMap;
use std::error::Error as _;
use std::fmt;
use std::io;
use std::time::Duration;

use reknit_plan::{Catalogue, Entry, Tool};
use reknit_protocol::ReplyBody;
use reknit_protocol::{Capability, Value};

use crate::address::Address;
use crate::call::last_cause;
use crate::client::{Client, Tools};
use crate::read::{body, elsewhere};

/// How long a tool may take to say what it can do.
const LIMIT: Duration = Duration::from_secs(10);

/// What was found.
#[derive(Debug)]
pub struct Found {
    /// What the engine knows of them.
    pub catalogue: Catalogue,
    /// How to call them.
    pub tools: Tools,
    /// What could not be found out.
    pub problems: Vec<Problem>,
}

/// Why a tool or a capability is not in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Which tool.
    pub tool: String,
    /// Where it should be.
    pub address: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "tool `{}` at {}: {}", self.tool, self.address, self.message)
    }
}

impl std::error::Error for Problem {}

impl Client {
    /// Asks every tool what it can do. One that does not answer is a problem and does not keep the others away.
    pub async fn discover(&self, addresses: &[Address]) -> Found {
        let mut found =
            Found { catalogue: Catalogue::default(), tools: Tools::none(self.clone()), problems: Vec::new() };
        let mut routes = HashMap::new();
        let asked: Vec<_> = addresses
            .iter()
            .cloned()
            .map(|address| {
                let client = self.clone();
                async move {
                    let outcome = tokio::time::timeout(LIMIT, client.ask(&address)).await;
                    let outcome = outcome.unwrap_or_else(|_| Err(format!("it did not answer within {LIMIT:?}")));
                    (address, outcome)
                }
            })
            .collect();
        // At once: ten tools that are down must not cost ten times the limit.
        for (address, outcome) in futures_util::future::join_all(asked).await {
            let problem = |message| Problem { tool: address.name.to_string(), address: address.to_string(), message };
            match outcome {
                Err(message) => found.problems.push(problem(message)),
                Ok((tool, messages)) => {
                    found.problems.extend(messages.into_iter().map(problem));
                    for entry in &tool.capabilities {
                        let name = (address.name.as_str().to_owned(), entry.capability.name.as_str().to_owned());
                        routes.insert(name, address.join(&entry.capability.call_path()));
                    }
                    found.catalogue.tools.push(tool);
                }
            }
        }
        found.tools = Tools::new(self.clone(), routes);
        found
    }

    /// What one tool can do, and what of that cannot be used.
    async fn ask(&self, address: &Address) -> Result<(Tool, Vec<String>), String> {
        let listed = self.get(address, "/api/capabilities").await?;
        let list = match &listed {
            Value::Array(list) => list.as_slice(),
            other => other.get("capabilities").and_then(Value::as_array).ok_or("it does not list its capabilities")?,
        };
        let description = listed.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut tool = Tool { name: address.name.clone(), description, capabilities: Vec::new() };
        let mut problems = Vec::new();
        for value in list {
            let capability = match Capability::from_value(value) {
                Ok(capability) => capability,
                Err(error) => {
                    problems.push(format!("a capability cannot be read: {error}"));
                    continue;
                }
            };
            let name = capability.name.clone();
            // Without a schema the hints count; that it could not be had is said.
            let schema = self.schema(address, &capability.schema_path()).await.unwrap_or_else(|message| {
                problems.push(format!("the schema of `{name}` cannot be had: {message}"));
                None
            });
            match Entry::new(capability, schema) {
                Ok(entry) => tool.capabilities.push(entry),
                Err(error) => problems.push(format!("`{name}` has a schema that is none: {error}")),
            }
        }
        Ok((tool, problems))
    }

    /// The schema that a tool publishes. Publishing one is optional: no page is no schema.
    async fn schema(&self, address: &Address, path: &str) -> Result<Option<Value>, String> {
        let response = self.send(address, path).await?;
        if response.status() == reqwest::StatusCode::NOT_FOUND {
            return Ok(None);
        }
        read(response, path).await.map(Some)
    }

    async fn get(&self, address: &Address, path: &str) -> Result<Value, String> {
        read(self.send(address, path).await?, path).await
    }

    async fn send(&self, address: &Address, path: &str) -> Result<reqwest::Response, String> {
        self.http.get(address.join(path)).send().await.map_err(|error| {
            let cause = last_cause(&error).map_or_else(String::new, |cause| format!(": {cause}"));
            if is_refused(&error) {
                "nobody answers there; is it running?".to_owned()
            } else if error.is_connect() {
                format!("it cannot be reached{cause}")
            } else {
                format!("it does not answer GET {path}{cause}")
            }
        })
    }
}

/// Whether nobody listens there: nothing else is wrong with the address.
fn is_refused(error: &reqwest::Error) -> bool {
    let chain = std::iter::successors(error.source(), |cause| (*cause).source());
    let mut kinds = chain.filter_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.any(|kind| kind == io::ErrorKind::ConnectionRefused)
}

async fn read(response: reqwest::Response, path: &str) -> Result<Value, String> {
    let status = response.status();
    if !status.is_success() {
        let elsewhere = elsewhere(&response).map_or_else(String::new, |words| format!("; {words}"));
        return Err(format!("it answers {status} to GET {path}{elsewhere}"));
    }
    match body(response).await.map_err(|error| error.to_string())? {
        ReplyBody::Json(value) => Ok(value),
        ReplyBody::Repaired { .. } | ReplyBody::Text(_) | ReplyBody::Empty => {
            Err(format!("it answers GET {path} with something that is no JSON"))
        }
    }
}
