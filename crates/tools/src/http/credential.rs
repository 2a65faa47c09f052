//! Credentials of a service: what is sent with a request, and what must never be shown.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use reqwest::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};

use crate::secrets::KnownSecrets;

/// What a service is told about who calls it.
#[derive(Debug, Clone)]
pub enum Credential {
    /// `Authorization: Bearer <token>`.
    Bearer(SecretString),
    /// `Authorization: Basic <user and password>`.
    Basic {
        user: String,
        password: SecretString,
    },
    Header {
        name: String,
        key: SecretString,
    },
    Query {
        name: String,
        key: SecretString,
    },
    Cookie {
        name: String,
        key: SecretString,
    },
}

/// Why a credential cannot be sent. It does not contain the secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{part} is not valid in {place}")]
pub struct CredentialError {
    part: String,
    place: &'static str,
}

#[derive(Clone, Default)]
pub(crate) struct PreparedCredentials {
    headers: HeaderMap,
    /// Pairs of the query, encoded.
    query: Vec<String>,
    secrets: KnownSecrets,
}

impl fmt::Debug for PreparedCredentials {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}", self.secrets)
    }
}

impl PreparedCredentials {
    pub(crate) fn new(credentials: &[Credential]) -> Result<Self, CredentialError> {
        let mut prepared = Self::default();
        let mut cookies = Vec::new();
        for credential in credentials {
            match credential {
                Credential::Bearer(token) => {
                    prepared.bearer(token)?;
                }
                Credential::Basic { user, password } => {
                    let value = basic(user, password.expose_secret());
                    prepared.header(AUTHORIZATION, &value)?;
                    prepared.keep_secret(value.trim_start_matches("Basic "));
                    prepared.keep_secret(password.expose_secret());
                }
                Credential::Header { name, key } => {
                    let invalid = |_| CredentialError { part: format!("the name `{name}`"), place: "a header" };
                    let name = HeaderName::try_from(name.as_str()).map_err(invalid)?;
                    prepared.header(name, key.expose_secret())?;
                    prepared.keep_secret(key.expose_secret());
                }
                Credential::Query { name, key } => {
                    let mut pairs = reqwest::Url::parse("http://x")
                        .map_err(|_| CredentialError { part: "the key".to_owned(), place: "a query" })?;
                    pairs.query_pairs_mut().append_pair(name, key.expose_secret());
                    prepared.query.extend(pairs.query().map(str::to_owned));
                    prepared.keep_secret(key.expose_secret());
                    if let Some((_, encoded)) = pairs.query().and_then(|query| query.split_once('=')) {
                        prepared.keep_secret(encoded);
                    }
                }
                Credential::Cookie { name, key } => {
                    cookies.push(format!("{name}={}", key.expose_secret()));
                    prepared.keep_secret(key.expose_secret());
                }
            }
        }
        if !cookies.is_empty() {
            prepared.header(COOKIE, &cookies.join("; "))?;
        }
        Ok(prepared)
    }

    fn header(&mut self, name: HeaderName, value: &str) -> Result<(), CredentialError> {
        let invalid = |_| CredentialError { part: format!("the key for `{name}`"), place: "a header" };
        let mut value = HeaderValue::try_from(value).map_err(invalid)?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Ok(())
    }

    fn bearer(&mut self, token: &SecretString) -> Result<(), CredentialError> {
        self.keep_secret(token.expose_secret());
        self.header(AUTHORIZATION, &format!("Bearer {}", token.expose_secret()))
    }

    /// Replaces this text as well in what the service returns.
    pub(crate) fn keep_secret(&mut self, secret: &str) {
        self.secrets.add(secret);
    }

    /// What is replaced in everything that the service returns: it may echo a request.
    pub(crate) fn secrets(&self) -> &KnownSecrets {
        &self.secrets
    }

    pub(crate) fn with_token(&self, token: &SecretString) -> Result<Self, CredentialError> {
        let mut both = self.clone();
        both.bearer(token)?;
        Ok(both)
    }

    pub(crate) fn apply(&self, request: &mut reqwest::Request) {
        for (name, value) in &self.headers {
            if *name == COOKIE
                && let Some(own) = request.headers().get(COOKIE)
            {
                // Both are valid header values, so their concatenation is one.
                let joined = HeaderValue::from_bytes(&[own.as_bytes(), b"; ", value.as_bytes()].concat());
                if let Ok(mut joined) = joined {
                    joined.set_sensitive(true);
                    request.headers_mut().insert(COOKIE, joined);
                }
                continue;
            }
            request.headers_mut().insert(name.clone(), value.clone());
        }
        if !self.query.is_empty() {
            let own = request.url().query().filter(|query| !query.is_empty()).map(str::to_owned);
            let pairs: Vec<String> = own.into_iter().chain(self.query.iter().cloned()).collect();
            request.url_mut().set_query(Some(&pairs.join("&")));
        }
    }
}

/// The value of the header `authorization` for a user and a password.
pub(crate) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64.encode(format!("{user}:{password}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(credentials: &[Credential]) -> PreparedCredentials {
        PreparedCredentials::new(credentials).expect("the credentials are valid")
    }

    fn request(url: &str, credentials: &[Credential]) -> reqwest::Request {
        let mut request = reqwest::Request::new(reqwest::Method::GET, reqwest::Url::parse(url).expect("a URL"));
        request.headers_mut().insert(COOKIE, HeaderValue::from_static("own=1"));
        prepared(credentials).apply(&mut request);
        request
    }

    #[test]
    fn each_kind_of_credential_is_sent_in_its_place() {
        let header = |request: &reqwest::Request, name: &str| {
            request.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let sent = request(
            "http://a/x?y=1",
            &[
                Credential::Basic { user: "ann".to_owned(), password: "hunter2".into() },
                Credential::Query { name: "api key".to_owned(), key: "a&b".into() },
                Credential::Header { name: "X-Key".to_owned(), key: "k1".into() },
                Credential::Cookie { name: "sid".to_owned(), key: "c1".into() },
            ],
        );
        assert_eq!(sent.url().as_str(), "http://a/x?y=1&api+key=a%26b");
        assert_eq!(header(&sent, "authorization").as_deref(), Some("Basic YW5uOmh1bnRlcjI="));
        assert_eq!(header(&sent, "x-key").as_deref(), Some("k1"));
        assert_eq!(header(&sent, "cookie").as_deref(), Some("own=1; sid=c1"));
        let sent = request("http://a/x", &[Credential::Bearer("t1".into())]);
        assert_eq!(header(&sent, "authorization").as_deref(), Some("Bearer t1"));
    }

    #[test]
    fn a_secret_that_a_service_echoes_is_redacted_in_every_form_in_which_it_was_sent() {
        let prepared = prepared(&[
            Credential::Basic { user: "ann".to_owned(), password: "hunter22".into() },
            Credential::Query { name: "key".to_owned(), key: "a b/c&d".into() },
        ]);
        let echoed = b"hunter22 YW5uOmh1bnRlcjIy a b/c&d a+b%2Fc%26d hunter22".to_vec();
        let shown = String::from_utf8(prepared.secrets().redact_bytes(echoed)).expect("text");
        assert_eq!(shown, "[redacted] [redacted] [redacted] [redacted] [redacted]");
        assert!(!format!("{prepared:?}").contains("hunter22"));
    }

    #[test]
    fn a_credential_that_is_not_valid_in_a_header_is_an_error_without_the_secret() {
        let error = PreparedCredentials::new(&[Credential::Bearer("line\nbreak".into())]).expect_err("it is invalid");
        assert_eq!(error.to_string(), "the key for `authorization` is not valid in a header");
    }
}
