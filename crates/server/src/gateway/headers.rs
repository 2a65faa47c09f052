//! Which headers pass between a client and the server of a provider.

use axum::http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use reknit_mcp_server::CALLER_HEADER;
use reknit_protocol::{Sha256, hex};

use crate::access::Caller;

/// Headers of a request that stay here: keys, which are tokens of this server; those of one connection; those of browsers and proxies.
const OF_THIS_SERVER: [&str; 22] = [
    "authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "proxy-authorization",
    "cookie",
    "host",
    "content-length",
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "expect",
    "accept-encoding",
    "origin",
    "referer",
    "forwarded",
    "via",
    "x-real-ip",
    CALLER_HEADER,
];

/// Headers of a response that are about its connection or its site.
const OF_THE_PROVIDER: [&str; 13] = [
    "content-length",
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "set-cookie",
    "strict-transport-security",
    "content-security-policy",
    "clear-site-data",
    "alt-svc",
];

const IDEMPOTENCY_KEY: &str = "idempotency-key";

fn filtered(headers: &HeaderMap, passes: impl Fn(&str) -> bool) -> HeaderMap {
    let headers = headers.iter().filter(|(name, _)| passes(name.as_str()));
    headers.fold(HeaderMap::new(), |mut passed, (name, value)| {
        passed.append(name.clone(), value.clone());
        passed
    })
}

/// The headers of a client that are sent to a provider. The idempotency keys of different tokens are different ones there, as they
/// are here.
pub(super) fn of_request(headers: &HeaderMap, caller: &Caller) -> HeaderMap {
    let is_own = |name: &str| ["x-reknit-", "x-forwarded-", "sec-"].iter().any(|prefix| name.starts_with(prefix));
    let mut passed = filtered(headers, |name| !OF_THIS_SERVER.contains(&name) && !is_own(name));
    if !caller.sees_all_runs()
        && let Some(key) = passed.remove(IDEMPOTENCY_KEY)
    {
        let own = hex(&Sha256::digest([caller.name().as_bytes(), b"\n", key.as_bytes()].concat()));
        passed.extend(HeaderValue::try_from(own).ok().map(|own| (HeaderName::from_static(IDEMPOTENCY_KEY), own)));
    }
    passed
}

/// The headers of a client that are sent with a question to a model, whose body is written here.
pub(super) fn of_question(headers: &HeaderMap, caller: &Caller) -> HeaderMap {
    let mut passed = of_request(headers, caller);
    for name in [CONTENT_TYPE, CONTENT_ENCODING, ACCEPT] {
        passed.remove(name);
    }
    passed
}

/// The headers for a question that differs from the client's: the provider must not take it for the same one.
pub(super) fn without_idempotency_key(mut headers: HeaderMap) -> HeaderMap {
    headers.remove(IDEMPOTENCY_KEY);
    headers
}

/// The headers of a provider's response that the client gets.
pub(super) fn of_response(headers: &HeaderMap) -> HeaderMap {
    filtered(headers, |name| !OF_THE_PROVIDER.contains(&name) && !name.starts_with("access-control-"))
}
