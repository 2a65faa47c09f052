//! Services over HTTP that nothing describes: the configuration says how the request of a capability is made.

mod request;
mod result;

use std::sync::Arc;

use reknit_plan::CatalogueEntry;
use reknit_protocol::{
    CallTool, HttpMethod, JobRequest, ReplyBody, ToolJob, ToolName, ToolReply, TransportFailure, Value,
};

use crate::defined_capability::{DefinedCapability, InvalidDefinition, not_made};
use crate::http::address::Address;
use crate::http::client::Client;
use crate::http::service::{HttpOptions, HttpService, ServiceError};
use crate::known_secrets::KnownSecrets;
use crate::option_words::BodyFormat;
use crate::source::{BoxFuture, DefinitionAuthor, ListedCapability, Listing, Route, ToolSource};
use request::RequestTemplate;
use result::ResultPath;

/// One capability of a service: the request of a call, and where its result is.
#[derive(Debug, Clone)]
pub struct PlainHttpOptions {
    /// The capability.
    pub capability: DefinedCapability,
    /// The address of the service.
    pub address: Address,
    /// The method.
    pub method: HttpMethod,
    /// The path below the address, with placeholders: `/orders/{order_id}`.
    pub path: String,
    /// The query: names, and texts with placeholders.
    pub query: Vec<(String, String)>,
    /// Headers: names, and texts with placeholders.
    pub headers: Vec<(String, String)>,
    /// The body, with placeholders in its texts.
    pub body: Option<Value>,
    /// How the body is encoded.
    pub body_format: BodyFormat,
    /// Where the result is in the response, like `data.items[0]`. Without it the result is the whole body.
    pub result: Option<String>,
    /// Whether a response with status 2xx that reports an error is passed on whole, so that it is found to be a failure.
    pub looks_for_errors: bool,
    /// How requests are made.
    pub http: HttpOptions,
}

/// A capability of a service over HTTP, checked.
#[derive(Debug, Clone)]
pub struct PlainHttpCapability {
    address: Address,
    http: HttpOptions,
    tool: ToolName,
    entry: CatalogueEntry,
    request: RequestTemplate,
    result: Option<ResultPath>,
    looks_for_errors: bool,
}

impl PlainHttpCapability {
    /// Checks what the configuration says. Fails if a template cannot be read, if it names an undeclared parameter, or if a
    /// declared parameter is not used.
    pub fn new(options: PlainHttpOptions) -> Result<Self, InvalidDefinition> {
        let result = options.result.as_deref().map(ResultPath::parse).transpose();
        let result = result.map_err(|problem| InvalidDefinition::new("result", problem))?;
        Ok(Self {
            request: RequestTemplate::new(&options)?,
            entry: options.capability.entry()?,
            tool: options.capability.tool,
            address: options.address,
            http: options.http,
            result,
            looks_for_errors: options.looks_for_errors,
        })
    }

    /// The credentials of the service, in every form in which it may send them back.
    pub fn secrets(&self) -> KnownSecrets {
        self.http.secrets()
    }
}

/// A capability of a service over HTTP that nothing describes.
#[derive(Debug)]
pub struct PlainHttpService {
    tool: ToolName,
    entry: CatalogueEntry,
    route: Arc<PlainHttpRoute>,
}

impl PlainHttpService {
    /// The service that has a capability. Fails if a credential cannot be sent.
    pub fn new(capability: PlainHttpCapability, client: Client) -> Result<Self, ServiceError> {
        let PlainHttpCapability { address, http, tool, entry, request, result, looks_for_errors } = capability;
        let service = HttpService::new(address, client, http)?;
        let route = Arc::new(PlainHttpRoute { service, request, result, looks_for_errors });
        Ok(Self { tool, entry, route })
    }
}

impl ToolSource for PlainHttpService {
    fn name(&self) -> &ToolName {
        &self.tool
    }

    fn address(&self) -> String {
        self.route.service.address().to_string()
    }

    fn list(&self) -> BoxFuture<'_, Result<Listing, String>> {
        let listed = ListedCapability { entry: self.entry.clone(), route: Arc::clone(&self.route) as Arc<dyn Route> };
        Box::pin(std::future::ready(Ok(Listing { capabilities: vec![listed], ..Listing::default() })))
    }

    fn author(&self) -> DefinitionAuthor {
        DefinitionAuthor::User
    }
}

#[derive(Debug)]
struct PlainHttpRoute {
    service: HttpService,
    request: RequestTemplate,
    result: Option<ResultPath>,
    looks_for_errors: bool,
}

impl PlainHttpRoute {
    async fn answer(
        &self,
        call: &CallTool,
        request: reqwest::Request,
        traceparent: Option<&str>,
    ) -> Result<ToolReply, TransportFailure> {
        self.take_result(call, self.service.call(call, request, traceparent).await?)
    }

    async fn ask_about_job(&self, call: &CallTool, request: &JobRequest) -> Result<ToolReply, TransportFailure> {
        let reply = self.service.job(call, request).await?;
        // A job that has ended is not asked about again, even if its result is not where it should be.
        self.take_result(call, reply).or_else(|failure| {
            let job = Some(ToolJob::NotFollowed { reason: failure.message });
            Ok(ToolReply { status: 200, retry_after_ms: None, body: ReplyBody::Empty, job })
        })
    }

    fn take_result(&self, call: &CallTool, reply: ToolReply) -> Result<ToolReply, TransportFailure> {
        match &self.result {
            Some(path) if matches!(reply.status, 200..=299) && reply.job.is_none() => {
                path.take(call, reply, self.looks_for_errors)
            }
            _ => Ok(reply),
        }
    }
}

impl Route for PlainHttpRoute {
    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        traceparent: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        match self.request.render(self.service.address(), call) {
            Ok(request) => Box::pin(self.answer(call, request, traceparent)),
            Err(problem) => Box::pin(std::future::ready(Err(not_made(call, &problem)))),
        }
    }

    fn job<'a>(
        &'a self,
        call: &'a CallTool,
        request: &'a JobRequest,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        Box::pin(self.ask_about_job(call, request))
    }
}
