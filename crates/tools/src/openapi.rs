//! Services that an OpenAPI or Swagger document describes. Every operation is a capability.

mod credentials;
mod document;
mod server;

use std::collections::HashMap;
use std::sync::Arc;

use reknit_openapi::{ApiDocument, ApiServer, FindingKind, HttpRequest, Operation, OperationFilter};
use reknit_plan::CatalogueEntry;
use reknit_protocol::{CallTool, JobRequest, Object, ToolName};
use reqwest::header::{ACCEPT, COOKIE, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

use crate::http::address::Address;
use crate::http::client::Client;
use crate::http::credential::basic;
use crate::http::service::{HttpOptions, HttpService, IDEMPOTENCY_HEADER};
use crate::secrets::KnownSecrets;
use crate::source::{
    BoxFuture, CallFuture, DefinitionAuthor, ListedCapability, Listing, Route, ToolSource, not_callable,
};
use credentials::ChosenCredentials;
pub use document::DocumentLocation;

/// How many values a schema may have to be compiled when the document is read, and all of them together. Others are compiled when
/// they are first used: operations share schemas by reference, so a small document could otherwise take minutes and all memory.
const MAX_COMPILED: usize = 5_000;
const MAX_COMPILED_TOGETHER: usize = 100_000;

#[derive(Debug, Clone)]
pub struct OpenApiOptions {
    pub name: ToolName,
    pub document: DocumentLocation,
    /// The address of the service, instead of those that the document names.
    pub url: Option<reqwest::Url>,
    /// The values of variables in the addresses that the document names.
    pub server_variables: Object,
    /// The hosts besides that of the document to which requests may go: `api.example.com` or `api.example.com:8443`.
    pub allowed_hosts: Vec<String>,
    pub filter: OperationFilter,
    /// The secret for whichever security scheme an operation needs.
    pub key: Option<SecretString>,
    pub user: Option<String>,
    /// The secrets of single security schemes, by name.
    pub scheme_keys: HashMap<String, SecretString>,
    /// Whether `x-reknit-effect` of the document is believed also where it says that an operation does less than its method.
    pub trusted: bool,
    /// How requests are made. Credentials in it are sent with every request, whatever the document says.
    pub http: HttpOptions,
}

impl OpenApiOptions {
    pub fn new(name: impl Into<ToolName>, document: DocumentLocation) -> Self {
        Self {
            name: name.into(),
            document,
            url: None,
            server_variables: Object::new(),
            allowed_hosts: Vec::new(),
            filter: OperationFilter::default(),
            key: None,
            user: None,
            scheme_keys: HashMap::new(),
            trusted: false,
            http: HttpOptions::default(),
        }
    }

    /// The credentials of the service, in every form in which it may send them back.
    pub fn secrets(&self) -> KnownSecrets {
        let mut secrets = self.http.secrets();
        for key in self.scheme_keys.values().chain(&self.key) {
            secrets.add(key.expose_secret());
            if let Some(user) = &self.user {
                secrets.add(basic(user, key.expose_secret()).trim_start_matches("Basic "));
            }
        }
        secrets
    }
}

#[derive(Debug)]
pub struct OpenApiService {
    options: OpenApiOptions,
    client: Client,
}

impl OpenApiService {
    /// A service with these options. The document is read when the capabilities are listed.
    pub fn new(options: OpenApiOptions, client: Client) -> Self {
        Self { options, client }
    }

    /// The first server of the document that is a whole address, whether or not the configuration allows it.
    pub async fn named_server(&self) -> Result<Option<reqwest::Url>, String> {
        let (document, _) = document::load(&self.options, &self.client).await?;
        let address = |server: &ApiServer| server.address(&self.options.server_variables).ok()?.parse().ok();
        let usable = |url: &reqwest::Url| matches!(url.scheme(), "http" | "https") && url.username() == "";
        Ok(document.servers.iter().filter_map(address).find(usable))
    }

    async fn import(&self) -> Result<Listing, String> {
        let (document, saved) = document::load(&self.options, &self.client).await?;
        let service = Self { options: self.options.clone(), client: self.client.clone() };
        // Schemas are compiled, which takes a while.
        let listing = tokio::task::spawn_blocking(move || service.listing(document)).await;
        Ok(Listing { saved, ..listing.map_err(|error| format!("the import failed: {error}"))? })
    }

    fn listing(&self, document: ApiDocument) -> Listing {
        let mut listing = Listing { description: document.title.clone(), ..Listing::default() };
        for finding in &document.findings {
            match finding.kind {
                FindingKind::OperationDropped | FindingKind::Problem => listing.problems.push(finding.to_string()),
                FindingKind::Note => listing.notes.push(finding.to_string()),
            }
        }
        let (options, client) = (&self.options, &self.client);
        let mut services = Services { options, client, known: HashMap::new(), compiled: 0 };
        for operation in document.operations {
            if self.options.filter.matches(&operation)
                && let Err(problem) = services.add(operation, &mut listing)
            {
                listing.problems.push(problem);
            }
        }
        if listing.capabilities.is_empty() {
            let problem = "the document has no usable operation, or the filters of the configuration match none";
            listing.problems.push(problem.to_owned());
        }
        // One message for all operations that share a cause.
        for list in [&mut listing.problems, &mut listing.notes] {
            let mut seen = std::collections::HashSet::new();
            list.retain(|message| seen.insert(message.clone()));
        }
        listing
    }
}

impl ToolSource for OpenApiService {
    fn name(&self) -> &ToolName {
        &self.options.name
    }

    fn address(&self) -> String {
        self.options.document.to_string()
    }

    fn list(&self) -> BoxFuture<'_, Result<Listing, String>> {
        Box::pin(self.import())
    }

    fn restore(&self, saved: &str) -> Result<Listing, String> {
        document::restore(saved).map(|document| self.listing(document))
    }

    fn author(&self) -> DefinitionAuthor {
        match self.options.document {
            DocumentLocation::File(_) => DefinitionAuthor::User,
            DocumentLocation::Url(_) => DefinitionAuthor::Service,
        }
    }
}

/// The services to which the operations of a document go: one for each address and choice of credentials.
struct Services<'a> {
    options: &'a OpenApiOptions,
    client: &'a Client,
    known: HashMap<(String, Vec<String>), Arc<HttpService>>,
    /// How many values the schemas have that are compiled already.
    compiled: usize,
}

impl Services<'_> {
    /// Adds an operation to the listing. Fails with a message if it cannot be called.
    fn add(&mut self, mut operation: Operation, listing: &mut Listing) -> Result<(), String> {
        if let Some(declared) = operation.declared_effect.filter(|declared| *declared != operation.effect) {
            if self.options.trusted {
                operation.effect = declared;
            } else {
                listing.notes.push(format!(
                    "`{}` counts as {}, although the document says `{declared}`; if it is right, write `trusted = true`",
                    operation.name, operation.effect
                ));
            }
        }
        let address = self.options.address_of(&operation)?;
        let chosen = ChosenCredentials::of(&operation, self.options, &address);
        listing.notes.extend(chosen.note.clone());
        let service = self.service(&address, chosen)?;
        let name = operation.name.clone();
        let operation = Arc::new(operation);
        let size = operation.input_schema_size();
        let entry = if size <= MAX_COMPILED && self.compiled + size <= MAX_COMPILED_TOGETHER {
            self.compiled += size;
            CatalogueEntry::new(operation.capability(), Some(operation.input_schema()))
                .map_err(|error| format!("{}: the schema of `{name}` cannot be used: {error}", operation.pointer))?
        } else {
            let deferred = Arc::clone(&operation);
            CatalogueEntry::deferred(operation.capability(), move || deferred.input_schema())
        };
        let route = Arc::new(OperationRoute { service, operation });
        listing.capabilities.push(ListedCapability { entry, route });
        Ok(())
    }

    fn service(&mut self, address: &reqwest::Url, chosen: ChosenCredentials) -> Result<Arc<HttpService>, String> {
        let key = (address.to_string(), chosen.schemes);
        if let Some(known) = self.known.get(&key) {
            return Ok(Arc::clone(known));
        }
        let mut http = self.options.http.clone();
        http.credentials.extend(chosen.credentials);
        http.client_credentials = http.client_credentials.or(chosen.client_credentials);
        let address = Address::at(self.options.name.clone(), address.clone());
        let service = HttpService::new(address, self.client.clone(), http);
        let service = Arc::new(service.map_err(|error| error.to_string())?);
        self.known.insert(key, Arc::clone(&service));
        Ok(service)
    }
}

/// An operation and the service that has it.
#[derive(Debug)]
struct OperationRoute {
    service: Arc<HttpService>,
    operation: Arc<Operation>,
}

impl OperationRoute {
    fn request(&self, call: &CallTool) -> Result<reqwest::Request, String> {
        let rendered = self.operation.render(&call.parameters).map_err(|error| error.to_string())?;
        let method = rendered.method.as_str().to_ascii_uppercase();
        let method = reqwest::Method::from_bytes(method.as_bytes()).map_err(|error| error.to_string())?;
        let url = self.service.address().append(&rendered.path, rendered.query.as_deref());
        let mut request = reqwest::Request::new(method, url);
        add_headers(&mut request, &rendered)?;
        if let Some(key) = &call.idempotency_key {
            let name = self.operation.idempotency_header.as_deref().unwrap_or(IDEMPOTENCY_HEADER);
            insert(&mut request, name, key)?;
        }
        *request.body_mut() = rendered.body.map(Into::into);
        Ok(request)
    }
}

impl Route for OperationRoute {
    fn call<'a>(&'a self, call: &'a CallTool, traceparent: Option<&'a str>) -> CallFuture<'a> {
        match self.request(call) {
            Ok(request) => Box::pin(self.service.call(call, request, traceparent)),
            Err(problem) => {
                let message = format!("the request for `{}` cannot be made: {problem}", call.capability);
                Box::pin(std::future::ready(Err(not_callable(message))))
            }
        }
    }

    fn job<'a>(&'a self, call: &'a CallTool, request: &'a JobRequest) -> CallFuture<'a> {
        Box::pin(self.service.job(call, request))
    }
}

fn add_headers(request: &mut reqwest::Request, rendered: &HttpRequest) -> Result<(), String> {
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json, */*;q=0.5"));
    for (name, value) in &rendered.headers {
        insert(request, name, value)?;
    }
    if let Some(cookies) = rendered.cookie_header() {
        insert(request, COOKIE.as_str(), &cookies)?;
    }
    Ok(())
}

fn insert(request: &mut reqwest::Request, name: &str, value: &str) -> Result<(), String> {
    let invalid = |what: &str| format!("{what} of the header `{name}` is not valid");
    let header = HeaderName::try_from(name).map_err(|_| invalid("the name"))?;
    let value = HeaderValue::try_from(value).map_err(|_| invalid("the value"))?;
    request.headers_mut().insert(header, value);
    Ok(())
}
