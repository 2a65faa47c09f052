//! Services over HTTP that nothing describes: the configuration says how the request of a capability is made.

mod request;

use std::sync::Arc;

use reknit_plan::CatalogueEntry;
use reknit_protocol::{
    CallTool, Delivery, HttpMethod, JobRequest, ReplyBody, ToolJob, ToolName, ToolReply, TransportFailure,
    TransportKind, Value, truncate,
};

use crate::defined_capability::{DefinedCapability, InvalidDefinition, not_made};
use crate::http::address::Address;
use crate::http::client::Client;
use crate::http::service::{HttpOptions, HttpService, ServiceError};
use crate::option_words::BodyFormat;
use crate::secrets::KnownSecrets;
use crate::source::{BoxFuture, CallFuture, DefinitionAuthor, Listing, Route, ToolSource};
use request::RequestTemplate;

/// One capability of a service: the request of a call, and where its result is.
#[derive(Debug, Clone)]
pub struct PlainHttpOptions {
    pub capability: DefinedCapability,
    pub address: Address,
    pub method: HttpMethod,
    /// The path below the address, with placeholders: `/orders/{order_id}`.
    pub path: String,
    /// The query: names, and texts with placeholders.
    pub query: Vec<(String, String)>,
    /// Headers: names, and texts with placeholders.
    pub headers: Vec<(String, String)>,
    /// The body, with placeholders in its texts.
    pub body: Option<Value>,
    pub body_format: BodyFormat,
    /// Where the result is in the response, like `data.items[0]`. Without it the result is the whole body.
    pub result: Option<String>,
    /// Whether a response with status 2xx that reports an error is passed on whole, so that it is found to be a failure.
    pub looks_for_errors: bool,
    pub http: HttpOptions,
}

/// A capability of a service over HTTP, checked.
#[derive(Debug, Clone)]
pub struct PlainHttpCapability {
    options: PlainHttpOptions,
    entry: CatalogueEntry,
    request: RequestTemplate,
    result: Option<ResultPath>,
}

impl PlainHttpCapability {
    /// Checks the options. Fails for an unreadable template, an undeclared parameter in one, or an unused parameter.
    pub fn new(options: PlainHttpOptions) -> Result<Self, InvalidDefinition> {
        let result = options.result.as_deref().map(ResultPath::parse).transpose();
        let result = result.map_err(|problem| InvalidDefinition::new("result", problem))?;
        let (request, entry) = (RequestTemplate::new(&options)?, options.capability.entry()?);
        Ok(Self { options, entry, request, result })
    }

    /// The credentials of the service, in every form in which it may send them back.
    pub fn secrets(&self) -> KnownSecrets {
        self.options.http.secrets()
    }
}

/// A capability of a service over HTTP that nothing describes.
#[derive(Debug)]
pub struct PlainHttpService {
    route: Arc<PlainHttpRoute>,
}

impl PlainHttpService {
    /// The service that has a capability. Fails if a credential cannot be sent.
    pub fn new(capability: PlainHttpCapability, client: Client) -> Result<Self, ServiceError> {
        let options = &capability.options;
        let service = HttpService::new(options.address.clone(), client, options.http.clone())?;
        Ok(Self { route: Arc::new(PlainHttpRoute { service, capability }) })
    }
}

impl ToolSource for PlainHttpService {
    fn name(&self) -> &ToolName {
        &self.route.capability.options.capability.tool
    }

    fn address(&self) -> String {
        self.route.service.address().to_string()
    }

    fn list(&self) -> BoxFuture<'_, Result<Listing, String>> {
        Listing::of_one(&self.route.capability.entry, Arc::clone(&self.route) as Arc<dyn Route>)
    }

    fn author(&self) -> DefinitionAuthor {
        DefinitionAuthor::User
    }
}

#[derive(Debug)]
struct PlainHttpRoute {
    service: HttpService,
    capability: PlainHttpCapability,
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
        match &self.capability.result {
            Some(path) if matches!(reply.status, 200..=299) && reply.job.is_none() => {
                path.take(call, reply, self.capability.options.looks_for_errors)
            }
            _ => Ok(reply),
        }
    }
}

impl Route for PlainHttpRoute {
    fn call<'a>(&'a self, call: &'a CallTool, traceparent: Option<&'a str>) -> CallFuture<'a> {
        match self.capability.request.render(self.service.address(), call) {
            Ok(request) => Box::pin(self.answer(call, request, traceparent)),
            Err(problem) => Box::pin(std::future::ready(Err(not_made(call, &problem)))),
        }
    }

    fn job<'a>(&'a self, call: &'a CallTool, request: &'a JobRequest) -> CallFuture<'a> {
        Box::pin(self.ask_about_job(call, request))
    }
}

/// The most of a response that an error shows, in bytes.
const MAX_SHOWN: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq)]
struct ResultPath {
    text: String,
    /// Keys of objects, or indexes of lists.
    segments: Vec<String>,
}

impl ResultPath {
    fn parse(text: &str) -> Result<Self, String> {
        let with_dots = text.replace('[', ".").replace(']', "");
        let segments: Vec<String> = with_dots.trim_start_matches('.').split('.').map(str::to_owned).collect();
        if segments.iter().any(|segment| segment.trim().is_empty()) {
            return Err("write a path into the response, like `data.items` or `data.items[0].id`".to_owned());
        }
        Ok(Self { text: text.to_owned(), segments })
    }

    fn find<'v>(&self, body: &'v Value) -> Option<&'v Value> {
        self.segments.iter().try_fold(body, |value, segment| match value {
            Value::Array(items) => items.get(segment.parse::<usize>().ok()?),
            _ => value.get(segment),
        })
    }

    /// The reply with only the result as its body, or the whole body if it reports an error. Fails if the result is not there.
    fn take(&self, call: &CallTool, reply: ToolReply, looks_for_errors: bool) -> Result<ToolReply, TransportFailure> {
        let body = reply.body.to_value();
        if reports_error(&body, looks_for_errors) {
            return Ok(reply);
        }
        let Some(result) = self.find(&body) else {
            let shown = truncate(body.to_string(), MAX_SHOWN);
            let message = format!(
                "`{}` answered {}, but the response has no `{}`, which is where the configuration says that the result is: {shown}",
                call.tool, reply.status, self.text
            );
            return Err(TransportFailure { kind: TransportKind::Unreadable, delivery: Delivery::Possible, message });
        };
        let body = match &reply.body {
            ReplyBody::Repaired { fixes, .. } => ReplyBody::Repaired { value: result.clone(), fixes: fixes.clone() },
            ReplyBody::Json(_) | ReplyBody::Text(_) | ReplyBody::Empty => ReplyBody::Json(result.clone()),
        };
        Ok(ToolReply { body, ..reply })
    }
}

/// Whether a body may say that the call failed. What it says is decided when the whole reply is classified.
fn reports_error(body: &Value, looks_for_errors: bool) -> bool {
    let is = |key: &str, value: bool| body.get(key).and_then(Value::as_bool) == Some(value);
    let has_text = |value: &Value| match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    };
    let has_data = body.get("data").is_some_and(|data| *data != Value::Null);
    let has_error = || {
        is("isError", true)
            || is("is_error", true)
            || body.get("error").is_some_and(has_text)
            || (!has_data && body.get("errors").is_some_and(has_text))
    };
    is("success", false) || (looks_for_errors && has_error())
}
