//! One service over HTTP, and one request to it. Retries are decided elsewhere.

use std::time::{Duration, SystemTime};

use reknit_protocol::{
    CallTool, Delivery, JobRequest, ReplyBody, RetryAfter, SideEffect, ToolJob, ToolReply, TransportFailure,
    TransportKind, Value,
};
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret as _;

use super::address::Address;
#[cfg(feature = "openapi")]
use super::body::read_bytes;
use super::body::{MAX_BODY, read_body, redirect_note};
use super::client::{Client, ClientError, ConnectionOptions, body_failure, last_cause, send_failure};
use super::credential::{Credential, CredentialError, PreparedCredentials};
use super::job::{self, JobSite};
use super::token::{ClientCredentials, CurrentToken, TokenError, TokenSource};
use crate::secrets::KnownSecrets;
use crate::source::{not_callable, timed_out};

/// The header with the idempotency key, unless a service names another one.
pub(crate) const IDEMPOTENCY_HEADER: &str = "Idempotency-Key";

const TRACE_HEADER: &str = "traceparent";

#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// What is sent with every request to tell who calls.
    pub credentials: Vec<Credential>,
    /// Fetches a bearer token for every request, instead of a credential.
    pub client_credentials: Option<ClientCredentials>,
    pub connection: ConnectionOptions,
    pub headers: HeaderMap,
    /// The time limit of a call, if it is shorter than the one of the run.
    pub time_limit: Option<Duration>,
    /// The size limit of a response in bytes.
    pub max_body: usize,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            credentials: Vec::new(),
            client_credentials: None,
            connection: ConnectionOptions::default(),
            headers: HeaderMap::new(),
            time_limit: None,
            max_body: MAX_BODY,
        }
    }
}

impl HttpOptions {
    /// Adds a header to every request. Fails if its name or value is not valid.
    pub fn add_header(&mut self, name: &str, value: &str) -> Result<(), InvalidHeader> {
        let name = HeaderName::try_from(name).map_err(|_| InvalidHeader)?;
        self.headers.insert(name, HeaderValue::try_from(value).map_err(|_| InvalidHeader)?);
        Ok(())
    }

    /// The credentials, in every form in which the service may send them back.
    pub fn secrets(&self) -> KnownSecrets {
        // A credential that cannot be sent does not come back.
        let prepared = PreparedCredentials::new(&self.credentials).unwrap_or_default();
        let mut secrets = prepared.secrets().clone();
        if let Some(client) = &self.client_credentials {
            secrets.add(client.client_secret.expose_secret());
        }
        secrets
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the name or the value of the header is not valid")]
pub struct InvalidHeader;

/// A service over HTTP: its address, and how requests to it are made.
#[derive(Debug)]
pub struct HttpService {
    address: Address,
    client: Client,
    credentials: PreparedCredentials,
    tokens: Option<TokenSource>,
    options: HttpOptions,
}

#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    #[error(transparent)]
    Credential(#[from] CredentialError),
    #[error(transparent)]
    Client(#[from] ClientError),
}

impl HttpService {
    /// A service, reached with `client` unless the options have a connection. Fails for an unusable credential or certificate.
    pub fn new(address: Address, client: Client, options: HttpOptions) -> Result<Self, ServiceError> {
        let mut credentials = PreparedCredentials::new(&options.credentials)?;
        if let Some(client) = &options.client_credentials {
            credentials.keep_secret(client.client_secret.expose_secret());
        }
        let is_usual = options.connection == ConnectionOptions::default();
        let client = if is_usual { client } else { Client::with_connection(&options.connection)? };
        let tokens = options.client_credentials.clone().map(TokenSource::new);
        Ok(Self { address, client, credentials, tokens, options })
    }

    pub fn without_credentials(address: Address, client: Client) -> Self {
        let (credentials, options) = (PreparedCredentials::default(), HttpOptions::default());
        Self { address, client, credentials, tokens: None, options }
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Sends one call. `request` has its own headers and its body; credentials, trace and time limit are added.
    pub(crate) fn call<'a>(
        &'a self,
        call: &'a CallTool,
        request: reqwest::Request,
        traceparent: Option<&'a str>,
    ) -> impl Future<Output = Result<ToolReply, TransportFailure>> + Send + 'a {
        // Boxed, so that the future of a call has it once, and not once for each function that it is passed to.
        let request = Box::new(request);
        async move {
            let limit = self.options.time_limit.unwrap_or(Duration::MAX).min(Duration::from_millis(call.timeout_ms));
            let outcome = async {
                match &self.tokens {
                    None => self.send(call, request, &self.credentials, traceparent).await,
                    Some(tokens) => Box::pin(self.send_with_token(call, request, tokens, traceparent)).await,
                }
            };
            tokio::time::timeout(limit, outcome).await.unwrap_or_else(|_| Err(timed_out(call, limit)))
        }
    }

    /// Asks a status URL about a job. Redirects to the result are followed at the service's own host.
    pub(crate) async fn job(&self, call: &CallTool, request: &JobRequest) -> Result<ToolReply, TransportFailure> {
        let JobRequest::Ask(handle) = request else {
            return Err(unusable(call, "a job of a service over HTTP cannot be cancelled"));
        };
        let reply = self.ask_status_url(call, handle).await?;
        let reply = match &reply {
            ToolReply { status: 300..=399, job: Some(ToolJob::Ask { handle }), .. } => {
                self.ask_status_url(call, handle).await?
            }
            _ => reply,
        };
        Ok(job::state(reply, handle))
    }

    async fn ask_status_url(&self, call: &CallTool, handle: &str) -> Result<ToolReply, TransportFailure> {
        let url = self.address.with_credentials(handle).map_err(|host| {
            unusable(call, &format!("its status URL is at {host}, which is not the address of the service"))
        })?;
        let mut request = reqwest::Request::new(reqwest::Method::GET, url);
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json, */*;q=0.5"));
        match self.call(call, request, None).await {
            // It would not become smaller.
            Err(TransportFailure { kind: TransportKind::TooLarge, message, .. }) => Ok(ToolReply {
                status: 200,
                retry_after_ms: None,
                body: ReplyBody::Empty,
                job: Some(ToolJob::NotFollowed { reason: message }),
            }),
            outcome => outcome,
        }
    }

    /// Sends one call with a token. A refused older token means that the call had no effect, so it is sent once more with a new one.
    async fn send_with_token(
        &self,
        call: &CallTool,
        request: Box<reqwest::Request>,
        tokens: &TokenSource,
        traceparent: Option<&str>,
    ) -> Result<ToolReply, TransportFailure> {
        let again = request.try_clone().map(Box::new);
        let token = match tokens.token(&self.client).await {
            Ok(token) => token,
            Err(error) => return without_token(call, error),
        };
        let credentials = self.with_token(call, &token)?;
        let reply = self.send(call, request, &credentials, traceparent).await?;
        let Some(again) = again.filter(|_| reply.status == 401 && !token.is_new) else { return Ok(reply) };
        tokens.forget(&token.text).await;
        match tokens.token(&self.client).await {
            Ok(token) => self.send(call, again, &self.with_token(call, &token)?, traceparent).await,
            Err(error) => without_token(call, error),
        }
    }

    fn with_token(&self, call: &CallTool, token: &CurrentToken) -> Result<PreparedCredentials, TransportFailure> {
        self.credentials.with_token(&token.text).map_err(|error| unusable(call, &error.to_string()))
    }

    async fn send(
        &self,
        call: &CallTool,
        mut request: Box<reqwest::Request>,
        credentials: &PreparedCredentials,
        traceparent: Option<&str>,
    ) -> Result<ToolReply, TransportFailure> {
        let requested = request.url().clone();
        self.complete(&mut request, credentials);
        if let Some(trace) = traceparent.and_then(|trace| trace.parse().ok()) {
            request.headers_mut().insert(TRACE_HEADER, trace);
        }
        if let Some(url) = call.callback.as_deref().and_then(|url| url.parse().ok()) {
            request.headers_mut().insert(job::CALLBACK_HEADER, url);
        }
        let response = self.client.execute(request, call.side_effect).await;
        let response = response.map_err(|error| send_failure(call, &error))?;
        // Boxed: most of the time of a call is spent before its response.
        Box::pin(self.read_response(call, response, &requested, credentials)).await
    }

    async fn read_response(
        &self,
        call: &CallTool,
        response: reqwest::Response,
        requested: &reqwest::Url,
        credentials: &PreparedCredentials,
    ) -> Result<ToolReply, TransportFailure> {
        let status = response.status().as_u16();
        let retry_after_ms = retry_after_ms(response.headers());
        let headers = response.headers().clone();
        let redirect_note = redirect_note(&response).map(|note| credentials.secrets().redact(&note).into_owned());
        let body = read_body(response, self.options.max_body, credentials.secrets()).await;
        let body = body.map_err(|error| body_failure(call, status, &error))?;
        let body = redirect_note.filter(|_| body == ReplyBody::Empty).map_or(body, ReplyBody::Text);
        let site = JobSite {
            address: &self.address,
            requested,
            secrets: credentials.secrets(),
            has_callback: call.callback.is_some(),
        };
        let job = match status {
            202 => site.announced(&headers, &body),
            300..=399 if call.job.is_some() => site.redirect(&headers).map(|target| match target {
                Ok(handle) => ToolJob::Ask { handle },
                Err(reason) => ToolJob::NotFollowed { reason },
            }),
            _ => None,
        };
        Ok(ToolReply { status, retry_after_ms, body, job })
    }

    fn complete(&self, request: &mut reqwest::Request, credentials: &PreparedCredentials) {
        for (name, value) in &self.options.headers {
            if !request.headers().contains_key(name) {
                request.headers_mut().insert(name.clone(), value.clone());
            }
        }
        credentials.apply(request);
    }

    /// Fetches JSON that describes the service; `None` if there is none (404).
    pub(crate) async fn get_json(&self, path: &str) -> Result<Option<Value>, String> {
        let (response, credentials) = self.get_url(self.address.join(path)?, path).await?;
        if response.status() == reqwest::StatusCode::NOT_FOUND {
            return Ok(None);
        }
        if let Some(problem) = problem_of(path, &response, credentials.secrets()) {
            return Err(problem);
        }
        let body = read_body(response, self.options.max_body, credentials.secrets()).await;
        match body.map_err(|error| error.to_string())? {
            ReplyBody::Json(value) => Ok(Some(value)),
            ReplyBody::Repaired { fixes, .. } => Err(format!(
                "GET {path} returned a body that is not valid JSON; it would have to be repaired: {}",
                fixes.join(", ")
            )),
            ReplyBody::Text(_) | ReplyBody::Empty => Err(format!("GET {path} returned a body that is not JSON")),
        }
    }

    #[cfg(feature = "openapi")]
    pub(crate) async fn get_text(&self, url: reqwest::Url) -> Result<String, String> {
        let path = url.path().to_owned();
        let (response, credentials) = self.get_url(url, &path).await?;
        if let Some(problem) = problem_of(&path, &response, credentials.secrets()) {
            return Err(problem);
        }
        let bytes = read_bytes(response, self.options.max_body).await.map_err(|error| error.to_string())?;
        let bytes = credentials.secrets().redact_bytes(bytes);
        String::from_utf8(bytes).map_err(|_| format!("GET {path} returned a text that is not UTF-8"))
    }

    async fn get_url(&self, url: reqwest::Url, path: &str) -> Result<(reqwest::Response, PreparedCredentials), String> {
        let mut request = reqwest::Request::new(reqwest::Method::GET, url);
        let credentials = match &self.tokens {
            Some(tokens) => {
                let token = tokens.token(&self.client).await.map_err(|error| match error {
                    TokenError::Refused(problem) | TokenError::Unavailable(problem) => problem,
                })?;
                self.credentials.with_token(&token.text).map_err(|error| error.to_string())?
            }
            None => self.credentials.clone(),
        };
        self.complete(&mut request, &credentials);
        let response = self.client.execute(Box::new(request), SideEffect::Read).await.map_err(|error| {
            let cause = last_cause(&error).map_or_else(String::new, |cause| format!(": {cause}"));
            if error.is_refused() {
                "connection refused; is the tool running?".to_owned()
            } else if error.is_connect() {
                format!("it cannot be reached{cause}")
            } else {
                format!("GET {path} failed{cause}")
            }
        })?;
        Ok((response, credentials))
    }
}

fn unusable(call: &CallTool, problem: &str) -> TransportFailure {
    not_callable(format!("`{}`: {problem}", call.tool))
}

/// Why an answer to `GET path` is not a success; `None` for a success.
fn problem_of(path: &str, response: &reqwest::Response, secrets: &KnownSecrets) -> Option<String> {
    let status = response.status();
    let note = redirect_note(response).map_or_else(String::new, |note| format!("; {note}"));
    (!status.is_success()).then(|| secrets.redact(&format!("GET {path} returned {status}{note}")).into_owned())
}

/// A call that was not sent because there is no token for it. A refused client is an authentication error of the service.
fn without_token(call: &CallTool, error: TokenError) -> Result<ToolReply, TransportFailure> {
    match error {
        TokenError::Refused(problem) => {
            let body = ReplyBody::Text(format!("`{}` was not called: {problem}", call.tool));
            Ok(ToolReply { status: 401, retry_after_ms: None, body, job: None })
        }
        TokenError::Unavailable(problem) => Err(TransportFailure {
            kind: TransportKind::Refused,
            delivery: Delivery::NotSent,
            message: format!("`{}` was not called: {problem}", call.tool),
        }),
    }
}

/// The wait that the headers request, in any format. A header that only announces when a rate limit resets requests none.
pub fn retry_after_ms(headers: &HeaderMap) -> Option<u64> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let now_ms = u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX);
    RetryAfter::from_headers(header, now_ms).map(|wait| wait.ms)
}
