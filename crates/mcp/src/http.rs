//! Requests of the transport over streamable HTTP: one address, no redirects, bounded answers.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use parking_lot::Mutex;
use reknit_tools::{KnownSecrets, ReadBodyError, last_cause, read_bytes, retry_after_ms};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, InsufficientScopeError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use secrecy::ExposeSecret as _;
use sse_stream::{Sse, SseStream};

use crate::event_size::limit_events;
use crate::options::McpEndpoint;
use crate::wire::{self, ExactCall};

const SESSION_HEADER: &str = "Mcp-Session-Id";
const RESUME_HEADER: &str = "Last-Event-ID";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// The most of the body of an error that is kept, in bytes.
const MAX_ERROR_BODY: usize = 4 << 10;

#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpFault {
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    #[error("it broke the connection: {0}")]
    Broken(String),
    #[error("it answered with status {status}: {body}")]
    Status { status: u16, retry_after_ms: Option<u64>, body: String },
    #[error("its answer is larger than {0} bytes")]
    TooLarge(usize),
    #[error("its answer cannot be read: {0}")]
    Unreadable(String),
}

type Fault = StreamableHttpError<HttpFault>;

pub(crate) fn describe_fault(fault: &Fault) -> String {
    match (status_of(fault), fault) {
        (Some((status, _, body)), _) => format!("it answered with status {status}: {body}"),
        (None, StreamableHttpError::Client(fault)) => fault.to_string(),
        (None, fault) => fault.to_string(),
    }
}

/// The status, the wait and the text of a refusal that is only a status; `None` for any other failure.
pub(crate) fn status_of(fault: &Fault) -> Option<(u16, Option<u64>, String)> {
    match fault {
        StreamableHttpError::Client(HttpFault::Status { status, retry_after_ms, body }) => {
            Some((*status, *retry_after_ms, body.clone()))
        }
        StreamableHttpError::AuthRequired(error) => Some((401, None, error.to_string())),
        StreamableHttpError::InsufficientScope(error) => Some((403, None, error.to_string())),
        _ => None,
    }
}

#[derive(Debug, Clone)]
pub(crate) struct HttpClient {
    http: reqwest::Client,
    /// Opens a new connection for each request. If a pooled connection breaks, it is unknown whether the server had closed it before
    /// the call or while it worked; a call that must not happen twice would have an unknown outcome without need.
    unpooled: reqwest::Client,
    headers: HeaderMap,
    max_message: usize,
    secrets: KnownSecrets,
    /// The token of the last request that had one, and all secrets with it.
    with_token: Arc<Mutex<Option<(String, KnownSecrets)>>>,
    /// The last `WWW-Authenticate` header: what is missing to be let in.
    challenge: Arc<Mutex<Option<String>>>,
}

impl HttpClient {
    /// A client for a server. Fails with the reason, which does not contain a secret.
    pub(crate) fn new(endpoint: &McpEndpoint, max_message: usize, secrets: KnownSecrets) -> Result<Self, String> {
        let url = reqwest::Url::parse(&endpoint.url).map_err(|error| format!("the URL is not valid: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("the scheme of the URL must be http or https".to_owned());
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &endpoint.headers {
            let name = HeaderName::try_from(name.as_str()).map_err(|_| format!("`{name}` is not valid as a header"))?;
            headers.insert(name.clone(), secret_value(value.expose_secret(), name.as_str())?);
        }
        if let Some(bearer) = &endpoint.bearer {
            let value = format!("Bearer {}", bearer.expose_secret());
            headers.insert(AUTHORIZATION, secret_value(&value, "Authorization")?);
        }
        // Fails if another part of the process has installed a provider before; any provider will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = || endpoint.connection.client_builder().map_err(|error| error.to_string());
        let problem = |error: reqwest::Error| format!("cannot create the HTTP client: {error}");
        let http = builder()?.build().map_err(problem)?;
        let unpooled = builder()?.pool_max_idle_per_host(0).build().map_err(problem)?;
        let (with_token, challenge) = (Arc::default(), Arc::default());
        Ok(Self { http, unpooled, headers, max_message, secrets, with_token, challenge })
    }

    /// What is replaced in the answer to a request with this token.
    fn secrets(&self, token: Option<&str>) -> KnownSecrets {
        let Some(token) = token else { return self.secrets.clone() };
        let mut known = self.with_token.lock();
        match &*known {
            Some((last, secrets)) if last == token => secrets.clone(),
            _ => {
                let mut secrets = self.secrets.clone();
                secrets.add(token);
                *known = Some((token.to_owned(), secrets.clone()));
                secrets
            }
        }
    }

    /// The client for requests that are not part of the protocol, such as those of OAuth. It follows no redirects.
    pub(crate) fn plain(&self) -> &reqwest::Client {
        &self.http
    }

    pub(crate) fn challenge(&self) -> Option<String> {
        self.challenge.lock().clone()
    }

    /// The refusal of a request whose sender is not known or may not do this, if the server says what is missing.
    fn refusal(&self, response: &Response, secrets: &KnownSecrets) -> Option<Fault> {
        let challenge = text_header(response.headers(), WWW_AUTHENTICATE.as_str())?;
        let challenge = secrets.redact(&challenge).into_owned();
        let fault = match response.status() {
            StatusCode::UNAUTHORIZED => StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge.clone())),
            StatusCode::FORBIDDEN => {
                StreamableHttpError::InsufficientScope(InsufficientScopeError::new(challenge.clone(), None))
            }
            _ => return None,
        };
        *self.challenge.lock() = Some(challenge);
        Some(fault)
    }

    fn request(
        &self,
        http: &reqwest::Client,
        method: Method,
        url: &str,
        session: Option<&str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> RequestBuilder {
        let mut all: HeaderMap = headers.into_iter().collect();
        all.extend(self.headers.clone());
        let mut request = http.request(method, url).headers(all);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        if let Some(session) = session {
            request = request.header(SESSION_HEADER, session);
        }
        request
    }

    /// The events of a response, in a form that rmcp reads without loss.
    fn events(
        &self,
        response: Response,
        request: Option<PostedRequest>,
        secrets: KnownSecrets,
    ) -> BoxStream<'static, Result<Sse, SseError>> {
        let bytes = limit_events(response.bytes_stream(), self.max_message);
        SseStream::from_bytes_stream(bytes)
            .map(move |event| {
                let data = |data: String| readable(secrets.redact(&data).into_owned(), request.as_ref());
                event.map(|event| Sse { data: event.data.map(data), ..event })
            })
            .boxed()
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = HttpFault;

    async fn post_message(
        &self,
        url: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let body = wire::encode(&message)?;
        let request = PostedRequest::of(&message);
        let is_claimed = ExactCall::of(&message).is_some_and(|call| call.is_claimed);
        let http = if is_claimed { &self.unpooled } else { &self.http };
        let secrets = self.secrets(token.as_deref());
        let response = self
            .request(http, Method::POST, &url, session.as_deref(), token, headers)
            .header(ACCEPT, format!("{JSON}, {EVENTS}"))
            .header(CONTENT_TYPE, JSON)
            .body(body)
            .send()
            .await
            .map_err(|error| send_fault(&error))?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        if let Some(fault) = self.refusal(&response, &secrets) {
            return Err(fault);
        }
        if !status.is_success() {
            return error_response(response, request, &secrets).await;
        }
        let new_session = text_header(response.headers(), SESSION_HEADER);
        let kind = text_header(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default().to_ascii_lowercase();
        let Some(request) = request else { return Ok(StreamableHttpPostResponse::Accepted) };
        if kind.starts_with(EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(self.events(response, Some(request), secrets), new_session));
        }
        if !kind.starts_with(JSON) {
            let problem = format!("its content type is `{kind}`, neither JSON nor an event stream");
            return Err(StreamableHttpError::Client(HttpFault::Unreadable(problem)));
        }
        let bytes = read_body(response, self.max_message, &secrets).await?;
        let message = wire::decode(&bytes).map_err(|problem| {
            let start = String::from_utf8_lossy(bytes.get(..200).unwrap_or(&bytes)).into_owned();
            StreamableHttpError::Client(HttpFault::Unreadable(format!("{problem}: {start}")))
        })?;
        Ok(StreamableHttpPostResponse::Json(request.checked(message), new_session))
    }

    async fn delete_session(
        &self,
        url: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Fault> {
        // A server may refuse this; the session then ends by itself.
        let sent = self.request(&self.http, Method::DELETE, &url, Some(&session), token, headers).send().await;
        sent.map(drop).map_err(|error| send_fault(&error))
    }

    async fn get_stream(
        &self,
        url: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Fault> {
        let secrets = self.secrets(token.as_deref());
        let mut request =
            self.request(&self.http, Method::GET, &url, session.as_deref(), token, headers).header(ACCEPT, EVENTS);
        if let Some(last_event) = last_event {
            request = request.header(RESUME_HEADER, last_event);
        }
        let response = request.send().await.map_err(|error| send_fault(&error))?;
        if let Some(fault) = self.refusal(&response, &secrets) {
            return Err(fault);
        }
        let status = response.status();
        let kind = text_header(response.headers(), CONTENT_TYPE.as_str()).unwrap_or_default().to_ascii_lowercase();
        if !status.is_success() || !kind.starts_with(EVENTS) {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        Ok(self.events(response, None, secrets))
    }
}

/// A status that says that the request failed. An error of the protocol in the body counts more than the status.
async fn error_response(
    response: Response,
    request: Option<PostedRequest>,
    secrets: &KnownSecrets,
) -> Result<StreamableHttpPostResponse, Fault> {
    let status = response.status();
    let retry_after_ms = retry_after_ms(response.headers());
    let body = read_body(response, MAX_ERROR_BODY, secrets).await.unwrap_or_default();
    let is_denied = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let error = match wire::decode(&body) {
        Ok(JsonRpcMessage::Error(error)) if !is_denied => Some(error.error),
        _ => None,
    };
    if let Some(request) = request {
        let is_old_server = request.is_discover && status.is_client_error() && !is_denied;
        let unknown = || ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("status {status}"), None);
        if let Some(error) = error.or_else(|| is_old_server.then(unknown)) {
            let message = ServerJsonRpcMessage::error(error, Some(request.id));
            return Ok(StreamableHttpPostResponse::Json(message, None));
        }
    }
    let body = String::from_utf8_lossy(&body).trim().to_owned();
    Err(StreamableHttpError::Client(HttpFault::Status { status: status.as_u16(), retry_after_ms, body }))
}

async fn read_body(response: Response, limit: usize, secrets: &KnownSecrets) -> Result<Vec<u8>, Fault> {
    match read_bytes(response, limit).await {
        Ok(bytes) => Ok(secrets.redact_bytes(bytes)),
        Err(ReadBodyError::Broken(error)) => Err(broken(&error)),
        Err(ReadBodyError::TooLarge(limit)) => Err(StreamableHttpError::Client(HttpFault::TooLarge(limit))),
    }
}

#[derive(Debug, Clone)]
struct PostedRequest {
    id: RequestId,
    is_discover: bool,
}

impl PostedRequest {
    fn of(message: &ClientJsonRpcMessage) -> Option<Self> {
        let JsonRpcMessage::Request(request) = message else { return None };
        let is_discover = matches!(request.request, ClientRequest::DiscoverRequest(_));
        Some(Self { id: request.id.clone(), is_discover })
    }

    /// The answer, or an error if a server without `server/discover` answered that with something else.
    fn checked(&self, message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
        let is_other = |result: &ServerResult| !matches!(result, ServerResult::DiscoverResult(_));
        match &message {
            JsonRpcMessage::Response(response) if self.is_discover && is_other(&response.result) => {
                let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "it does not know `server/discover`", None);
                ServerJsonRpcMessage::error(error, Some(self.id.clone()))
            }
            // The error of a request may come without its id, which would leave the request without an answer.
            JsonRpcMessage::Error(error) if error.id.is_none() => {
                ServerJsonRpcMessage::error(error.error.clone(), Some(self.id.clone()))
            }
            _ => message,
        }
    }
}

/// The data of an event as rmcp can read it. Data that is no message is left as it is.
fn readable(data: String, request: Option<&PostedRequest>) -> String {
    if data.trim().is_empty() {
        return data;
    }
    let Ok(mut message) = wire::decode(data.as_bytes()) else { return data };
    if let Some(request) = request {
        message = request.checked(message);
    }
    serde_json::to_string(&message).unwrap_or(data)
}

fn secret_value(value: &str, name: &str) -> Result<HeaderValue, String> {
    let mut value =
        HeaderValue::try_from(value).map_err(|_| format!("the value of `{name}` is not valid in a header"))?;
    value.set_sensitive(true);
    Ok(value)
}

fn text_header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
}

/// Only a connection that was never established proves that nothing was sent.
fn send_fault(error: &reqwest::Error) -> Fault {
    if error.is_connect() || error.is_builder() {
        return StreamableHttpError::Client(HttpFault::Unreachable(cause_of(error)));
    }
    broken(error)
}

fn broken(error: &reqwest::Error) -> Fault {
    StreamableHttpError::Client(HttpFault::Broken(cause_of(error)))
}

fn cause_of(error: &reqwest::Error) -> String {
    last_cause(error).unwrap_or_else(|| "the request cannot be sent".to_owned())
}
