//! Services that speak the tool protocol: they announce their capabilities at `/api/capabilities`.

use std::sync::Arc;

use reknit_plan::CatalogueEntry;
use reknit_protocol::schema::{Summary, unknown_types};
use reknit_protocol::{AgentName, CallTool, Capability, Object, ToolReply, TransportFailure, Value};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};

use crate::http::address::ComponentType;
use crate::http::service::{HttpService, IDEMPOTENCY_HEADER};
use crate::source::{BoxFuture, ListedCapability, Listing, Route, ToolSource};

/// A service that speaks the tool protocol.
#[derive(Debug)]
pub struct ToolService {
    service: Arc<HttpService>,
}

impl ToolService {
    /// The tool that a service is. Its name is that of the service's address.
    pub fn new(service: HttpService) -> Self {
        Self { service: Arc::new(service) }
    }

    async fn describe(&self) -> Result<Listing, String> {
        let path = "/api/capabilities";
        let missing = || format!("GET {path} returned 404 Not Found");
        let announced = self.service.get_json(path).await?.ok_or_else(missing)?;
        let list = match &announced {
            Value::Array(list) => list.as_slice(),
            other => other
                .get("capabilities")
                .and_then(Value::as_array)
                .ok_or("GET /api/capabilities does not return a list")?,
        };
        let description = announced.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        let component = self.service.address().component.or_else(|| component_of(announced.get("type")));
        let mut listing = Listing { description, ..Listing::default() };
        for value in list {
            match Capability::from_value(value) {
                Ok(capability) => {
                    self.describe_capability(capability, component.unwrap_or_default(), &mut listing).await;
                }
                Err(error) => listing.problems.push(format!("invalid capability: {error}")),
            }
        }
        Ok(listing)
    }

    async fn describe_capability(&self, capability: Capability, component: ComponentType, listing: &mut Listing) {
        let name = capability.name.clone();
        let url = match self.service.address().join(&capability.call_path()) {
            Ok(url) => url,
            Err(problem) => {
                listing.problems.push(format!("`{name}` cannot be called: {problem}"));
                return;
            }
        };
        for (list, summary) in [("input", &capability.input_summary), ("output", &capability.output_summary)] {
            let unknown = summary.as_ref().map(Summary::unknown_keys).unwrap_or_default();
            let note = |key| format!("unknown key `{list}_summary.{key}` of `{name}` has no effect");
            listing.notes.extend(unknown.into_iter().map(note));
        }
        // Without a schema, the summaries of the capability describe its parameters.
        let schema = self.service.get_json(&capability.schema_path()).await.unwrap_or_else(|message| {
            listing.problems.push(format!("cannot fetch the schema of `{name}`: {message}"));
            None
        });
        let unknown = schema.as_ref().map(unknown_types).unwrap_or_default();
        listing.notes.extend(unknown.iter().map(|unknown| format!("schema of `{name}`: {unknown}")));
        let component = component_of(capability.extra.get("type")).unwrap_or(component);
        let entry = CatalogueEntry::new(capability.clone(), schema).or_else(|error| {
            listing.problems.push(format!("invalid schema of `{name}`, its field hints are used instead: {error}"));
            CatalogueEntry::new(capability, None)
        });
        match entry {
            Ok(entry) => {
                let route = Arc::new(ToolServiceRoute { service: Arc::clone(&self.service), url, component });
                listing.capabilities.push(ListedCapability { entry, route });
            }
            Err(error) => listing.problems.push(format!("invalid field hints of `{name}`: {error}")),
        }
    }
}

impl ToolSource for ToolService {
    fn name(&self) -> &AgentName {
        &self.service.address().name
    }

    fn address(&self) -> String {
        self.service.address().to_string()
    }

    fn list(&self) -> BoxFuture<'_, Result<Listing, String>> {
        Box::pin(self.describe())
    }
}

/// Where the calls of a capability go, and what serves them.
#[derive(Debug)]
struct ToolServiceRoute {
    service: Arc<HttpService>,
    url: reqwest::Url,
    component: ComponentType,
}

impl Route for ToolServiceRoute {
    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        traceparent: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        let mut request = reqwest::Request::new(reqwest::Method::POST, self.url.clone());
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(CONTENT_TYPE, json.clone());
        request.headers_mut().insert(ACCEPT, json);
        if let Some(key) = call.idempotency_key.as_deref().and_then(|key| key.parse().ok()) {
            request.headers_mut().insert(IDEMPOTENCY_HEADER, key);
        }
        *request.body_mut() = Some(call_body(call, self.component).into());
        Box::pin(self.service.call(call, request, traceparent))
    }
}

/// The body of a call: an agent gets the parameters inside `data`.
fn call_body(call: &CallTool, component: ComponentType) -> String {
    match component {
        ComponentType::Tool => call.parameters.to_string(),
        ComponentType::Agent => Object::from([("data", call.parameters.clone().into())]).to_string(),
    }
}

/// The component type that an announcement states.
fn component_of(value: Option<&Value>) -> Option<ComponentType> {
    value.and_then(Value::as_str).and_then(ComponentType::from_word)
}
