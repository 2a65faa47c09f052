//! Services that speak the tool protocol: they announce their capabilities at `/api/capabilities`.

mod schema_problem;

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use reknit_plan::CatalogueEntry;
use reknit_protocol::schema::{Summary, unknown_types};
use reknit_protocol::spelling::nearest;
use reknit_protocol::{CallTool, Capability, CapabilityName, JobRequest, Object, SideEffect, ToolName, Value};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};

use crate::discovery::{Discovery, discover};
use crate::http::address::Address;
use crate::http::client::Client;
use crate::http::service::{HttpService, IDEMPOTENCY_HEADER};
use crate::option_words::ComponentType;
use crate::source::{BoxFuture, CallFuture, ListedCapability, Listing, Route, ToolSource};
use schema_problem::schema_problem;

const CONCURRENT_SCHEMAS: usize = 16;

#[derive(Debug)]
pub struct ToolService {
    service: Arc<HttpService>,
    /// What is known about it without asking it, like an answer to `GET /api/capabilities`.
    registered: Option<Value>,
}

impl ToolService {
    /// The tool that a service is. Its name is that of the service's address.
    pub fn new(service: HttpService) -> Self {
        Self { service: Arc::new(service), registered: None }
    }

    /// The tool that a service of a registry is. `registered` is what the service wrote about itself, like an answer to
    /// `GET /api/capabilities`; it is used as long as the service has never been reached.
    pub fn of_registry(service: HttpService, registered: Value) -> Self {
        Self { service: Arc::new(service), registered: Some(registered) }
    }

    async fn fetch(&self) -> Result<Listing, String> {
        let announced = self.service.get_json("/api/capabilities").await?;
        let announced = announced.ok_or("GET /api/capabilities returned 404 Not Found")?;
        let mut callable: Vec<Capability> =
            capabilities(&announced)?.iter().filter_map(|value| Capability::from_value(value).ok()).collect();
        // A capability whose path is invalid is reported below.
        callable.retain(|capability| self.service.address().join(&capability.call_path()).is_ok());
        let fetched = callable.into_iter().map(|capability| self.fetch_schema(capability));
        let mut fetched = stream::iter(fetched).buffered(CONCURRENT_SCHEMAS);
        let (mut schemas, mut problems) = (Object::new(), Vec::new());
        while let Some((name, schema)) = fetched.next().await {
            match schema {
                Ok(Some(schema)) => _ = schemas.insert(name.as_str(), schema),
                // Schemas are optional. Without one, the summaries of the capability describe its parameters.
                Ok(None) => {}
                Err(message) => problems.push(format!("cannot fetch the schema of `{name}`: {message}")),
            }
        }
        let mut listing = self.describe(&announced, &schemas)?;
        listing.saved = Some(Object::from([("announced", announced), ("schemas", Value::Object(schemas))]).to_string());
        listing.problems.splice(0..0, problems);
        Ok(listing)
    }

    async fn fetch_schema(&self, capability: Capability) -> (CapabilityName, Result<Option<Value>, String>) {
        let schema = self.service.get_json(&capability.schema_path()).await;
        (capability.name, schema)
    }

    fn describe(&self, announced: &Value, schemas: &Object) -> Result<Listing, String> {
        let described = |value: &Value| value.get("description").and_then(Value::as_str).map(str::to_owned);
        let description = described(announced).or_else(|| self.registered.as_ref().and_then(described));
        let component = self.service.address().component.or_else(|| component_of(announced.get("type")));
        let mut listing = Listing { description: description.unwrap_or_default(), ..Listing::default() };
        for value in capabilities(announced)? {
            match Capability::from_value(value) {
                Ok(capability) => {
                    let schema = schemas.get(capability.name.as_str()).cloned();
                    self.describe_capability(capability, schema, component.unwrap_or_default(), &mut listing);
                }
                Err(error) => listing.problems.push(format!("invalid capability: {error}")),
            }
        }
        Ok(listing)
    }

    fn describe_capability(
        &self,
        capability: Capability,
        schema: Option<Value>,
        component: ComponentType,
        listing: &mut Listing,
    ) {
        let name = capability.name.clone();
        let url = match self.service.address().join(&capability.call_path()) {
            Ok(url) => url,
            Err(problem) => return listing.problems.push(format!("`{name}` cannot be called: {problem}")),
        };
        for (list, summary) in [("input", &capability.input_summary), ("output", &capability.output_summary)] {
            let unknown = summary.as_ref().map(Summary::unknown_keys).unwrap_or_default();
            let note = |key| format!("unknown key `{list}_summary.{key}` of `{name}` has no effect");
            listing.notes.extend(unknown.into_iter().map(note));
        }
        let has_hints = capability.input_summary.is_some();
        let schema = schema.filter(|schema| match schema_problem(schema) {
            Some(problem) => {
                let message = format!("invalid schema of `{name}`, its field hints are used instead: {problem}");
                listing.problems.push(message);
                false
            }
            None if has_hints && schema.as_object().is_some_and(Object::is_empty) => {
                listing.notes.push(format!("the schema of `{name}` is empty, its field hints are used instead"));
                false
            }
            None => true,
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
                listing.problems.extend(problem_of_key(&entry));
                let route = Arc::new(ToolServiceRoute { service: Arc::clone(&self.service), url, component });
                listing.capabilities.push(ListedCapability { entry, route });
            }
            Err(error) => listing.problems.push(format!("invalid field hints of `{name}`: {error}")),
        }
    }
}

/// Why the business key that a capability announces does not identify its calls.
fn problem_of_key(entry: &CatalogueEntry) -> Option<String> {
    let Capability { name, effect, business_key, .. } = &entry.capability;
    let rule = business_key.as_ref()?;
    if *effect == SideEffect::Read {
        return Some(format!("`business_key` of `{name}` has no effect, because its calls only read"));
    }
    let schema = entry.json_schema()?;
    let (field, names) = rule.unknown_field(&schema)?;
    let hint = nearest(field, &names).map_or_else(|| names.join(", "), |near| format!("did you mean `{near}`?"));
    Some(format!("`business_key` of `{name}` names `{field}`, which is no parameter: {hint}"))
}

/// The list in the answer to `GET /api/capabilities`.
fn capabilities(announced: &Value) -> Result<&[Value], String> {
    let list = announced.as_array().or_else(|| announced.get("capabilities")?.as_array());
    list.ok_or_else(|| "GET /api/capabilities does not return a list".to_owned())
}

impl ToolSource for ToolService {
    fn name(&self) -> &ToolName {
        &self.service.address().name
    }

    fn address(&self) -> String {
        self.service.address().to_string()
    }

    fn list(&self) -> BoxFuture<'_, Result<Listing, String>> {
        Box::pin(self.fetch())
    }

    fn restore(&self, saved: &str) -> Result<Listing, String> {
        let saved = Value::parse(saved).map_err(|error| error.to_string())?;
        let schemas = saved.get("schemas").and_then(Value::as_object).cloned().unwrap_or_default();
        self.describe(saved.get("announced").unwrap_or(&Value::Null), &schemas)
    }

    fn registered(&self) -> Option<Listing> {
        self.describe(self.registered.as_ref()?, &Object::new()).ok()
    }

    fn has_keys(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct ToolServiceRoute {
    service: Arc<HttpService>,
    url: reqwest::Url,
    component: ComponentType,
}

impl Route for ToolServiceRoute {
    fn call<'a>(&'a self, call: &'a CallTool, traceparent: Option<&'a str>) -> CallFuture<'a> {
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

    fn job<'a>(&'a self, call: &'a CallTool, request: &'a JobRequest) -> CallFuture<'a> {
        Box::pin(self.service.job(call, request))
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

/// The body of a call: an agent gets the parameters inside `data`.
fn call_body(call: &CallTool, component: ComponentType) -> String {
    match component {
        ComponentType::Tool => call.parameters.to_string(),
        ComponentType::Agent => Object::from([("data", call.parameters.clone().into())]).to_string(),
    }
}

fn component_of(value: Option<&Value>) -> Option<ComponentType> {
    value.and_then(Value::as_str).and_then(ComponentType::from_word)
}
