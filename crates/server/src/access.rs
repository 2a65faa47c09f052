//! Who may use the API, and from where.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use reknit::Reknit;
use reknit_mcp_server::CALLER_HEADER;
use reknit_protocol::{Sha256, hex};

use crate::api_error::ApiError;
use crate::client_api;
use crate::page_request::{self, is_open_page, is_page};
use crate::token::{Scope, Token, TokenHash};

/// Where MCP clients connect.
pub(crate) const MCP_PATH: &str = "/mcp";

/// Who may use the API.
#[derive(Debug, Clone)]
pub enum Access {
    /// Every program on this machine, without a token. Only for a listener on a loopback address.
    OwnMachine,
    /// Every program that has one of these tokens.
    Tokens(Vec<Token>),
}

/// The sender of a request.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// Starts runs on its behalf, with what it may use.
    pub(crate) reknit: Arc<Reknit>,
    /// `None` if the server asks for no tokens; then the caller may do everything.
    pub(crate) token: Option<Arc<Token>>,
}

impl Caller {
    /// The name of the token; `local` without one.
    pub(crate) fn name(&self) -> &str {
        self.token.as_ref().map_or("local", |token| &token.name)
    }

    pub(crate) fn may(&self, scope: Scope) -> bool {
        self.token.as_ref().is_none_or(|token| token.allows(scope))
    }

    pub(crate) fn sees_all_runs(&self) -> bool {
        self.reknit.runtime().owner().is_none_or(|owner| owner.sees_all_runs)
    }

    fn has_token(&self, hash: &TokenHash) -> bool {
        self.token.as_ref().is_some_and(|token| token.hash.is(hash))
    }
}

/// Everybody who may use the API: one caller without a token, or one for each token.
pub(crate) fn callers(access: Access, reknit: &Reknit) -> Vec<Caller> {
    let Access::Tokens(tokens) = access else {
        return vec![Caller { reknit: Arc::new(reknit.clone()), token: None }];
    };
    let caller = |token: Token| {
        let reknit = Arc::new(reknit.clone().owned_by(token.owner()));
        Caller { reknit, token: Some(Arc::new(token)) }
    };
    tokens.into_iter().map(caller).collect()
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // Every path that needs a caller is behind the check that finds it.
        let missing = || ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", "a token is needed");
        parts.extensions.get().cloned().ok_or_else(missing)
    }
}

/// Checks requests before they are handled.
#[derive(Debug)]
pub(crate) struct Gate {
    callers: Vec<Caller>,
    address: SocketAddr,
    limits: RateLimits,
}

impl Gate {
    pub(crate) fn new(callers: Vec<Caller>, address: SocketAddr) -> Self {
        Self { callers, address, limits: RateLimits::default() }
    }

    /// The name of a token; `None` for an unknown token, or if the server has no tokens.
    pub(crate) fn token_name(&self, text: &str) -> Option<&str> {
        self.with_token(text).map(Caller::name)
    }

    /// The digest is computed once: a long text costs no more with many tokens.
    fn with_token(&self, text: &str) -> Option<&Caller> {
        let hash = TokenHash::of(text);
        self.callers.iter().find(|caller| caller.has_token(&hash))
    }

    /// The caller of a server without tokens.
    fn without_token(&self) -> Option<&Caller> {
        self.callers.iter().find(|caller| caller.token.is_none())
    }

    /// Who sent a request that needs this scope.
    fn caller(&self, headers: &HeaderMap, path: &str, scope: Scope) -> Result<Caller, ApiError> {
        if let Some(caller) = self.without_token() {
            return Ok(caller.clone());
        }
        let refused = |message: &str| ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message);
        // The cookie of a browser counts only for pages.
        let given = if is_page(path) { page_request::token(headers) } else { None };
        let Some(given) = bearer(headers).or(given) else {
            return Err(refused("a token is needed: send the header `Authorization: Bearer TOKEN`"));
        };
        let Some(caller) = self.with_token(given) else {
            return Err(refused("the token is not known"));
        };
        let name = caller.name();
        if !caller.may(scope) {
            return Err(ApiError::forbidden(format!(
                "the token `{name}` does not have the scope `{}`",
                scope.as_str()
            )));
        }
        if let Some(limit) = caller.token.as_ref().and_then(|token| token.requests_per_minute)
            && let Err(wait) = self.limits.count(name, limit, Instant::now())
        {
            let seconds = u32::try_from(wait.as_secs() + 1).unwrap_or(u32::MAX);
            let message = format!("the token `{name}` has reached its limit of requests in a minute ({limit})");
            return Err(ApiError::busy(message).with_retry_after(seconds));
        }
        Ok(caller.clone())
    }

    /// Refuses requests that a page of another site made in a browser, also under a host name that its owner lets point to this
    /// machine. Pages of this server may ask for pages, and MCP clients may name it as their origin.
    fn check_origin(&self, headers: &HeaderMap, path: &str) -> Result<(), ApiError> {
        let may_be_own = is_page(path) || path == MCP_PATH;
        if headers.contains_key(ORIGIN) && !(may_be_own && page_request::is_own_origin(headers)) {
            return Err(ApiError::forbidden("requests of web pages are refused (`Origin`)"));
        }
        // With tokens the caller has proved who it is, and proxies change the name of the host.
        if self.without_token().is_none() {
            return Ok(());
        }
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|byte| byte.is_ascii_digit()));
        let name = name.map_or(host, |(name, _)| name).trim_start_matches('[').trim_end_matches(']');
        let is_own = name.eq_ignore_ascii_case("localhost")
            || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip == self.address.ip());
        if is_own { Ok(()) } else { Err(ApiError::forbidden(format!("the host `{host}` is not this machine"))) }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    // Clients of Anthropic send their key in a header of their own.
    let Some(value) = headers.get(AUTHORIZATION) else { return headers.get("x-api-key")?.to_str().ok() };
    let value = value.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

fn scope_of(method: &Method, path: &str) -> Scope {
    match *method {
        // Rules change the calls of all callers, and their evidence is from all runs.
        _ if path == "/rules" || path.starts_with("/rules/") => Scope::Admin,
        _ if path.contains("/decisions/") => Scope::Approve,
        // Every message of a client may be a call, also the answer to a question.
        _ if path == MCP_PATH => Scope::Run,
        Method::GET | Method::HEAD => Scope::Read,
        _ => Scope::Run,
    }
}

/// Whether a request decides about a run that exists. The log keeps who sent it.
fn is_decision(method: &Method, path: &str) -> bool {
    let is_run = path.starts_with("/v1/runs/") || path.starts_with("/runs/");
    let is_control = |verb: &str| is_run && path.ends_with(verb);
    *method == Method::POST
        && (path.contains("/decisions/")
            || path.starts_with("/rules/")
            || ["/cancel", "/resume", "/retry", "/messages"].into_iter().any(is_control))
}

/// Whether the path only says whether the server is up.
pub(crate) fn is_health_check(path: &str) -> bool {
    matches!(path, "/health" | "/ready")
}

/// Whether the request needs no token: whether the server is up is no secret.
fn is_open(path: &str) -> bool {
    is_health_check(path) || is_open_page(path)
}

pub(crate) async fn check(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    if let Err(error) = gate.check_origin(request.headers(), &path) {
        tracing::warn!(target: "reknit::audit", method = %method, path, "refused a request of a web page");
        return with_headers(error.into_response());
    }
    if !is_open(&path) {
        match gate.caller(request.headers(), &path, scope_of(&method, &path)) {
            Ok(caller) => {
                // It replaces what the caller wrote. A digest, because names may have letters that headers cannot.
                if let Ok(name) = HeaderValue::try_from(hex(&Sha256::digest(caller.name()))) {
                    request.headers_mut().insert(CALLER_HEADER, name);
                }
                request.extensions_mut().insert(caller);
            }
            Err(error) => {
                tracing::warn!(target: "reknit::audit", method = %method, path, "refused: {error}");
                let mut response = client_api::refusal(&path, request.headers(), error);
                if response.status() == StatusCode::UNAUTHORIZED {
                    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
                }
                return with_headers(response);
            }
        }
    }
    let caller = request.extensions().get::<Caller>().cloned();
    let response = next.run(request).await;
    if is_decision(&method, &path) {
        let (caller, status) = (caller.as_ref().map(Caller::name).unwrap_or_default(), response.status().as_u16());
        tracing::info!(target: "reknit::audit", caller, method = %method, path, status, "decision");
    }
    with_headers(response)
}

/// Headers that keep a browser from interpreting a response.
fn with_headers(mut response: Response) -> Response {
    let headers = [
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
    ];
    for (name, value) in headers {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

const WINDOW: Duration = Duration::from_mins(1);

/// The requests of each token in its current minute, which began at the time.
#[derive(Debug, Default)]
struct RateLimits(Mutex<HashMap<String, (Instant, u32)>>);

impl RateLimits {
    /// Counts a request. Fails with the time until the next minute if there were too many in this one.
    fn count(&self, name: &str, per_minute: u32, now: Instant) -> Result<(), Duration> {
        let mut windows = self.0.lock();
        let (start, requests) = windows.entry(name.to_owned()).or_insert((now, 0));
        if now.duration_since(*start) >= WINDOW {
            (*start, *requests) = (now, 0);
        }
        if *requests >= per_minute {
            return Err(WINDOW.saturating_sub(now.duration_since(*start)));
        }
        *requests += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_gets_its_requests_of_a_minute_and_is_told_when_the_next_begins() {
        let (limits, start) = (RateLimits::default(), Instant::now());
        let wait = Err(Duration::from_secs(45));
        for (name, seconds, expected) in
            [("ann", 0, Ok(())), ("ann", 10, Ok(())), ("ann", 15, wait), ("bob", 15, Ok(())), ("ann", 60, Ok(()))]
        {
            assert_eq!(limits.count(name, 2, start + Duration::from_secs(seconds)), expected, "{name} at {seconds} s");
        }
    }
}
