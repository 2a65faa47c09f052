//! Target with its checked URL, HTTP client and headers.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, Url, redirect, retry};
use secrecy::ExposeSecret;

use crate::bedrock::{AccountKeys, SignedRequest};
use crate::pass::PassedRequest;
use crate::wire_format::WireFormat;
use crate::{Provider, Target, TargetError};

#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) target: Target,
    url: Url,
    client: Client,
    headers: HeaderMap,
    /// The headers that the configuration sets: no request replaces them.
    configured: Vec<HeaderName>,
}

/// Many servers close idle connections after five seconds. A request on a connection that is being closed fails, so ours
/// are closed earlier.
const POOL_IDLE: Duration = Duration::from_secs(4);

impl Endpoint {
    /// Checks the target and builds its client, without network access.
    pub(crate) fn new(target: Target) -> Result<Self, TargetError> {
        check(&target)?;
        let wire = WireFormat::of(target.provider);
        let url = endpoint_url(&target, &wire)?;
        let headers = headers(&target, &wire)?;
        let client =
            client(&url, &target).map_err(|source| TargetError::Client { target: target.name.clone(), source })?;
        let own = target.extras.headers.keys().filter_map(|name| HeaderName::try_from(name).ok());
        let key = HeaderName::from_static(wire.key_header(target.provider).0);
        let configured = own.chain(target.key.is_some().then_some(key)).collect();
        Ok(Self { target, url, client, headers, configured })
    }

    /// Sends the body of a question to a model, with more headers.
    pub(crate) async fn send(&self, body: String, more: &HeaderMap) -> Result<Response, reqwest::Error> {
        let mut headers = self.headers.clone();
        self.add(more, &mut headers);
        if let Some(keys) = self.account_keys() {
            sign(&mut headers, &self.url, &keys, body.as_bytes());
        }
        self.client.post(self.url.clone()).headers(headers).body(body).send().await
    }

    /// Sends a request to another path of the server.
    pub(crate) async fn send_to(&self, url: Url, request: PassedRequest) -> Result<Response, reqwest::Error> {
        let mut headers = self.headers.clone();
        headers.remove(CONTENT_TYPE);
        headers.remove(ACCEPT);
        self.add(&request.headers, &mut headers);
        self.client.request(request.method, url).headers(headers).body(request.body).send().await
    }

    /// Adds headers, except those that the configuration sets.
    fn add(&self, more: &HeaderMap, headers: &mut HeaderMap) {
        for name in more.keys().filter(|name| !self.configured.contains(name)) {
            headers.remove(name);
            for value in more.get_all(name) {
                headers.append(name.clone(), value.clone());
            }
        }
    }

    /// The address of another path of the server, such as `/embeddings`; none if the path leads out of the API.
    pub(crate) fn url_of(&self, path: &str, query: Option<&str>) -> Option<Url> {
        let (question, _) = WireFormat::of(self.target.provider).path_and_query(&self.target);
        let api = question.strip_suffix("/chat/completions").unwrap_or_default();
        let base = self.url.path().strip_suffix(question.as_str())?;
        let mut url = self.url.clone();
        url.set_path(&format!("{base}{api}{path}"));
        if !url.path().starts_with(&format!("{base}{api}/")) {
            return None;
        }
        // What is configured, such as the version of the API, counts more than what the request says.
        let ours: Vec<(String, String)> = self.url.query_pairs().into_owned().collect();
        url.set_query(query);
        if !ours.is_empty() {
            let is_other = |(name, _): &(String, String)| ours.iter().all(|(known, _)| known != name);
            let given: Vec<(String, String)> = url.query_pairs().into_owned().filter(is_other).collect();
            url.query_pairs_mut().clear().extend_pairs(given).extend_pairs(&ours);
        }
        Some(url)
    }

    fn account_keys(&self) -> Option<AccountKeys<'_>> {
        AccountKeys::parse(self.secret()?).filter(|_| self.target.provider == Provider::Bedrock)
    }

    /// Host and port for messages: `127.0.0.1:8080`.
    pub(crate) fn server(&self) -> String {
        server(&self.url)
    }

    /// The API key, to redact it in messages.
    pub(crate) fn secret(&self) -> Option<&str> {
        self.target.key.as_ref().map(ExposeSecret::expose_secret)
    }
}

fn check(target: &Target) -> Result<(), TargetError> {
    if target.model.trim().is_empty() {
        return Err(TargetError::NoModel { target: target.name.clone() });
    }
    let timeouts = &target.timeouts;
    for (timeout, duration) in [
        ("connect", timeouts.connect),
        ("first_byte", timeouts.first_byte),
        ("first_token", timeouts.first_token),
        ("idle", timeouts.idle),
        ("total", timeouts.total),
    ] {
        if duration.is_zero() {
            return Err(TargetError::ZeroTimeout { target: target.name.clone(), timeout });
        }
    }
    Ok(())
}

fn endpoint_url(target: &Target, wire: &WireFormat) -> Result<Url, TargetError> {
    let unusable = |problem: &str| TargetError::BaseUrl { target: target.name.clone(), problem: problem.to_owned() };
    let mut url = Url::parse(target.base_url.trim()).map_err(|error| unusable(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(unusable("it does not start with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(unusable("it contains a user name or a password; configure the key separately"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(unusable("it has a query (`?`) or a fragment (`#`)"));
    }
    let (suffix, query) = wire.path_and_query(target);
    let path = format!("{}{suffix}", url.path().trim_end_matches('/'));
    url.set_path(&path);
    url.set_query(query);
    let extra = &target.extras.query;
    if !extra.is_empty() {
        // What is configured counts more than ours.
        let ours: Vec<(String, String)> =
            url.query_pairs().into_owned().filter(|(name, _)| !extra.contains_key(name)).collect();
        url.query_pairs_mut().clear().extend_pairs(ours).extend_pairs(extra);
    }
    Ok(url)
}

fn server(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn sign(headers: &mut HeaderMap, url: &Url, keys: &AccountKeys<'_>, body: &[u8]) {
    let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    let host = server(url);
    let mut signed = vec![("content-type", "application/json"), ("host", &host), ("x-amz-date", &time)];
    signed.extend(keys.session().map(|session| ("x-amz-security-token", session)));
    let request = SignedRequest {
        method: "POST",
        path: url.path(),
        query: url.query().unwrap_or_default(),
        headers: &signed,
        body,
        time: &time,
        region: region(&host),
        service: "bedrock",
    };
    let authorization = request.authorization(keys);
    let values = [("x-amz-date", Some(time.as_str())), ("x-amz-security-token", keys.session())];
    for (name, value) in values.into_iter().chain([("authorization", Some(authorization.as_str()))]) {
        // The parts of a key were checked when the target was.
        if let Some(mut value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
            value.set_sensitive(true);
            headers.insert(name, value);
        }
    }
}

/// The region in the name of a host such as `bedrock-runtime.eu-west-1.amazonaws.com`.
fn region(host: &str) -> &str {
    let mut labels = host.split('.');
    match (labels.next(), labels.next()) {
        (Some(service), Some(region)) if service.starts_with("bedrock-runtime") => region,
        _ => "us-east-1",
    }
}

fn headers(target: &Target, wire: &WireFormat) -> Result<HeaderMap, TargetError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    if target.provider == Provider::Bedrock {
        headers.insert(ACCEPT, HeaderValue::from_static("application/vnd.amazon.eventstream, application/json"));
    }
    if target.provider == Provider::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    for (name, value) in &target.extras.headers {
        let unusable = || TargetError::Header { target: target.name.clone(), header: name.clone() };
        let value = HeaderValue::try_from(value).map_err(|_invalid| unusable())?;
        headers.insert(HeaderName::try_from(name).map_err(|_invalid| unusable())?, value);
    }
    let Some(key) = &target.key else { return Ok(headers) };
    let key = key.expose_secret();
    let unusable = || TargetError::Key { target: target.name.clone() };
    if key.trim().is_empty() || key.trim() != key {
        return Err(unusable());
    }
    if target.provider == Provider::Bedrock && AccountKeys::parse(key).is_some() {
        // A signature takes its place.
        return HeaderValue::try_from(key).map(|_valid| headers).map_err(|_invalid| unusable());
    }
    let (name, prefix) = wire.key_header(target.provider);
    let mut value = HeaderValue::try_from(format!("{prefix}{key}")).map_err(|_invalid| unusable())?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(headers)
}

fn client(url: &Url, target: &Target) -> Result<Client, reqwest::Error> {
    // An error means that the process has a crypto provider already, which is as good.
    let _already_installed = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(concat!("reknit/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(target.timeouts.connect)
        .pool_idle_timeout(POOL_IDLE)
        // A redirect would send the request and the key to a server that the user did not configure.
        .redirect(redirect::Policy::none())
        // The caller counts the attempts.
        .retry(retry::never());
    if is_loopback(url) {
        // A proxy cannot reach the servers of this machine.
        builder = builder.no_proxy();
    }
    if url.scheme() == "http" {
        // Loading the system's certificates takes time and may fail, and plain HTTP does not need them.
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or_else(|_name| host == "localhost" || host.ends_with(".localhost"), |address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Streaming;

    fn problem(target: Target) -> String {
        Endpoint::new(target).unwrap_err().to_string()
    }

    fn at(base_url: &str) -> Target {
        Target::new("a", base_url, "m")
    }

    #[test]
    fn the_path_is_appended_to_base_urls_with_and_without_a_slash() {
        for (base_url, expected) in [
            ("http://localhost:8080/v1", "http://localhost:8080/v1/chat/completions"),
            ("http://localhost:8080/v1/", "http://localhost:8080/v1/chat/completions"),
            (" http://localhost ", "http://localhost/chat/completions"),
        ] {
            assert_eq!(Endpoint::new(at(base_url)).unwrap().url.as_str(), expected);
        }
    }

    #[test]
    fn another_path_of_the_server_is_below_the_base_url_with_what_is_configured() {
        let extra = |target: Target| {
            let query = [("api-version".to_owned(), "7".to_owned())].into();
            Target { extras: crate::RequestExtras { query, ..target.extras }, ..target }
        };
        let azure = |base_url: &str| Target { provider: Provider::Azure, ..at(base_url) };
        for (target, path, query, expected) in [
            (at("http://h/v1"), "/files/f-1/content", None, Some("http://h/v1/files/f-1/content")),
            (at("http://h"), "/files", Some("limit=2&after=a%20b"), Some("http://h/files?limit=2&after=a%20b")),
            (
                extra(at("http://h/v1")),
                "/files",
                Some("api-version=1&a=b"),
                Some("http://h/v1/files?a=b&api-version=7"),
            ),
            (azure("https://x.openai.azure.com"), "/files", None, Some("https://x.openai.azure.com/openai/v1/files")),
            (at("http://h/v1"), "/../admin", None, None),
            (at("http://h/v1"), "/a/%2e%2e/%2E%2e/admin", None, None),
        ] {
            let url = Endpoint::new(target).unwrap().url_of(path, query);
            assert_eq!(url.as_ref().map(Url::as_str), expected, "{path}");
        }
    }

    #[test]
    fn each_provider_has_its_own_url_and_key_header() {
        let gemini = |method: &str| format!("https://generativelanguage.googleapis.com/v1beta/models/m:{method}");
        let (stream, whole) = (gemini("streamGenerateContent?alt=sse"), gemini("generateContent"));
        for (provider, streaming, url, header) in [
            (Provider::OpenAi, Streaming::On, "https://api.openai.com/v1/chat/completions", "authorization"),
            (Provider::OpenAiResponses, Streaming::On, "https://api.openai.com/v1/responses", "authorization"),
            (Provider::Anthropic, Streaming::On, "https://api.anthropic.com/v1/messages", "x-api-key"),
            (Provider::Gemini, Streaming::On, &stream, "x-goog-api-key"),
            (Provider::Gemini, Streaming::Off, &whole, "x-goog-api-key"),
        ] {
            let target = Target { key: Some("k-1".into()), streaming, ..Target::for_provider(provider, "a", "m") };
            let wire = WireFormat::of(provider);
            assert_eq!(endpoint_url(&target, &wire).unwrap().as_str(), url);
            let value = headers(&target, &wire).unwrap().remove(header).unwrap();
            assert!(value.to_str().unwrap().ends_with("k-1") && value.is_sensitive());
        }
    }

    #[test]
    fn an_unusable_target_is_refused_before_any_request() {
        insta::assert_snapshot!(problem(at("localhost:8080/v1")), @"the base URL of model `a` is not usable: it does not start with http:// or https://");
        insta::assert_snapshot!(problem(at("")), @"the base URL of model `a` is not usable: relative URL without a base");
        insta::assert_snapshot!(problem(at("https://")), @"the base URL of model `a` is not usable: empty host");
        insta::assert_snapshot!(problem(at("http://u:geheim@h/v1")), @"the base URL of model `a` is not usable: it contains a user name or a password; configure the key separately");
        insta::assert_snapshot!(problem(at("http://h/v1?key=geheim")), @"the base URL of model `a` is not usable: it has a query (`?`) or a fragment (`#`)");
        insta::assert_snapshot!(problem(Target { model: " ".into(), ..at("http://h") }), @"model `a` has no `model`: the name that the server knows it by");
        let mut target = at("http://h");
        target.timeouts.idle = Duration::ZERO;
        insta::assert_snapshot!(problem(target), @"the timeout `idle` of model `a` is zero");
        for key in ["", " ", "sk-1\n", "sk\u{0}1"] {
            let target = Target { key: Some(key.into()), ..at("http://h") };
            assert_eq!(
                problem(target),
                "the key of model `a` is empty or contains an invalid character, such as a line break"
            );
        }
    }

    #[test]
    fn loopback_hosts_are_recognised() {
        for (url, expected) in [
            ("http://127.0.0.1:1", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:8080", true),
            ("http://localhost", true),
            ("http://model.localhost", true),
            ("http://10.0.0.1", false),
            ("http://localhost.example.com", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
