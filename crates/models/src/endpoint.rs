//! A target made ready for use: checked address, HTTP client, headers with the key.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response, Url, redirect, retry};
use secrecy::ExposeSecret;

use crate::wire::Wire;
use crate::{ConfigError, Target};

/// A target made ready for use.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) target: Target,
    url: Url,
    client: Client,
    headers: HeaderMap,
}

/// Many servers close an idle connection after five seconds. A request that meets the closing fails, so ours go first.
const POOL_IDLE: Duration = Duration::from_secs(4);

impl Endpoint {
    /// Checks the target and makes its client. Needs no network.
    pub(crate) fn new(target: Target) -> Result<Self, ConfigError> {
        check(&target)?;
        let wire = Wire::of(target.provider);
        let url = address(&target, &wire)?;
        let headers = headers(&target, &wire)?;
        let client =
            client(&url, &target).map_err(|source| ConfigError::Client { target: target.name.clone(), source })?;
        Ok(Self { target, url, client, headers })
    }

    /// Sends one request and waits for the head of the response.
    pub(crate) async fn send(&self, body: String) -> Result<Response, reqwest::Error> {
        self.client.post(self.url.clone()).headers(self.headers.clone()).body(body).send().await
    }

    /// The server for messages: `127.0.0.1:8080`.
    pub(crate) fn server(&self) -> impl fmt::Display + use<'_> {
        fmt::from_fn(|out| {
            out.write_str(self.url.host_str().unwrap_or_default())?;
            self.url.port().map_or(Ok(()), |port| write!(out, ":{port}"))
        })
    }

    /// The key, to keep it out of messages.
    pub(crate) fn secret(&self) -> Option<&str> {
        self.target.key.as_ref().map(ExposeSecret::expose_secret)
    }
}

fn check(target: &Target) -> Result<(), ConfigError> {
    if target.model.trim().is_empty() {
        return Err(ConfigError::NoModel { target: target.name.clone() });
    }
    let limits = &target.limits;
    for (limit, duration) in [
        ("connect", limits.connect),
        ("first_byte", limits.first_byte),
        ("first_token", limits.first_token),
        ("idle", limits.idle),
        ("total", limits.total),
    ] {
        if duration.is_zero() {
            return Err(ConfigError::ZeroLimit { target: target.name.clone(), limit });
        }
    }
    Ok(())
}

fn address(target: &Target, wire: &Wire) -> Result<Url, ConfigError> {
    let unusable = |problem: &str| ConfigError::BaseUrl { target: target.name.clone(), problem: problem.to_owned() };
    let mut url = Url::parse(target.base_url.trim()).map_err(|error| unusable(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(unusable("it does not begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(unusable("it holds a user name or a password; the key is a setting of its own"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(unusable("it has a part behind `?` or `#`"));
    }
    let (place, query) = wire.place(target);
    let path = format!("{}{place}", url.path().trim_end_matches('/'));
    url.set_path(&path);
    url.set_query(query);
    Ok(url)
}

fn headers(target: &Target, wire: &Wire) -> Result<HeaderMap, ConfigError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
    if let Some((name, value)) = wire.version_header() {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let Some(key) = &target.key else { return Ok(headers) };
    let key = key.expose_secret();
    let unusable = || ConfigError::Key { target: target.name.clone() };
    if key.trim().is_empty() || key.trim() != key {
        return Err(unusable());
    }
    let (name, before) = wire.key_header();
    let mut value = HeaderValue::try_from(format!("{before}{key}")).map_err(|_invalid| unusable())?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(headers)
}

fn client(url: &Url, target: &Target) -> Result<Client, reqwest::Error> {
    // An error says that this process has a provider already, and then that one will do.
    let _already_installed = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .user_agent(concat!("reknit/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(target.limits.connect)
        .pool_idle_timeout(POOL_IDLE)
        // A redirect would carry question and key to a place that nobody configured.
        .redirect(redirect::Policy::none())
        // Attempts are counted by whoever asks; there are no others.
        .retry(retry::never());
    if is_loopback(url) {
        // What HTTP_PROXY and its like name cannot reach this machine's own servers. Others go through it as people expect.
        builder = builder.no_proxy();
    }
    if url.scheme() == "http" {
        // To read the system's certificates costs time, and fails where there are none, for nothing.
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or_else(|_name| host == "localhost" || host.ends_with(".localhost"), |address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Provider, Streaming};

    fn problem(target: Target) -> String {
        Endpoint::new(target).unwrap_err().to_string()
    }

    fn at(base_url: &str) -> Target {
        Target::new("a", base_url, "m")
    }

    #[test]
    fn the_path_is_appended_however_the_address_ends() {
        for (base_url, expected) in [
            ("http://localhost:8080/v1", "http://localhost:8080/v1/chat/completions"),
            ("http://localhost:8080/v1/", "http://localhost:8080/v1/chat/completions"),
            (" http://localhost ", "http://localhost/chat/completions"),
        ] {
            assert_eq!(Endpoint::new(at(base_url)).unwrap().url.as_str(), expected);
        }
    }

    #[test]
    fn each_provider_is_asked_at_its_own_place_with_its_own_header() {
        for (provider, streaming, url, header) in [
            (Provider::OpenAi, Streaming::On, "https://api.openai.com/v1/chat/completions", "authorization"),
            (Provider::OpenAiResponses, Streaming::On, "https://api.openai.com/v1/responses", "authorization"),
            (Provider::Anthropic, Streaming::On, "https://api.anthropic.com/v1/messages", "x-api-key"),
            (
                Provider::Gemini,
                Streaming::On,
                "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse",
                "x-goog-api-key",
            ),
            (
                Provider::Gemini,
                Streaming::Off,
                "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
                "x-goog-api-key",
            ),
        ] {
            let target = Target { key: Some("k-1".into()), streaming, ..Target::of(provider, "a", "m") };
            let wire = Wire::of(provider);
            assert_eq!(address(&target, &wire).unwrap().as_str(), url);
            let value = headers(&target, &wire).unwrap().remove(header).unwrap();
            assert!(value.to_str().unwrap().ends_with("k-1") && value.is_sensitive());
        }
    }

    #[test]
    fn what_cannot_work_is_refused_before_anything_is_sent() {
        insta::assert_snapshot!(problem(at("localhost:8080/v1")), @"the base URL of model `a` is not usable: it does not begin with http:// or https://");
        insta::assert_snapshot!(problem(at("")), @"the base URL of model `a` is not usable: relative URL without a base");
        insta::assert_snapshot!(problem(at("https://")), @"the base URL of model `a` is not usable: empty host");
        insta::assert_snapshot!(problem(at("http://u:geheim@h/v1")), @"the base URL of model `a` is not usable: it holds a user name or a password; the key is a setting of its own");
        insta::assert_snapshot!(problem(at("http://h/v1?key=geheim")), @"the base URL of model `a` is not usable: it has a part behind `?` or `#`");
        insta::assert_snapshot!(problem(Target { model: " ".into(), ..at("http://h") }), @"model `a` does not say which model it is on the server");
        let mut target = at("http://h");
        target.limits.idle = Duration::ZERO;
        insta::assert_snapshot!(problem(target), @"the limit `idle` of model `a` is zero");
        for key in ["", " ", "sk-1\n", "sk\u{0}1"] {
            let target = Target { key: Some(key.into()), ..at("http://h") };
            assert_eq!(
                problem(target),
                "the key of model `a` is empty or has characters that no key has, such as a line break"
            );
        }
    }

    #[test]
    fn this_machine_is_known_by_all_its_names() {
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
