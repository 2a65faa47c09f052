//! The calls of one operation.

use std::sync::Arc;

use reknit_openapi::{HttpRequest, Operation};
use reknit_protocol::{CallTool, Delivery, JobRequest, ToolReply, TransportFailure, TransportKind};
use reqwest::header::{ACCEPT, COOKIE, HeaderName, HeaderValue};

use crate::http::service::{HttpService, IDEMPOTENCY_HEADER};
use crate::source::{BoxFuture, Route};

/// An operation and the service that has it.
#[derive(Debug)]
pub(super) struct OperationRoute {
    service: Arc<HttpService>,
    operation: Arc<Operation>,
}

impl OperationRoute {
    pub(super) fn new(service: Arc<HttpService>, operation: Arc<Operation>) -> Self {
        Self { service, operation }
    }

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
    fn call<'a>(
        &'a self,
        call: &'a CallTool,
        traceparent: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
        match self.request(call) {
            Ok(request) => Box::pin(self.service.call(call, request, traceparent)),
            Err(problem) => {
                let message = format!("the request for `{}` cannot be made: {problem}", call.capability);
                let (kind, delivery) = (TransportKind::NotCallable, Delivery::NotSent);
                Box::pin(std::future::ready(Err(TransportFailure { kind, delivery, message })))
            }
        }
    }

    fn job<'a>(
        &'a self,
        call: &'a CallTool,
        request: &'a JobRequest,
    ) -> BoxFuture<'a, Result<ToolReply, TransportFailure>> {
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
