//! Bearer tokens that are fetched with OAuth client credentials and kept until they expire.

use std::time::{Duration, Instant};

use reknit_protocol::{Number, SideEffect, Value, percent_encoded};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::Mutex;

use super::body::read_bytes;
use super::client::{Client, last_cause};
use super::credential::basic;
use crate::secrets::KnownSecrets;

/// A token is renewed this long before it expires, for a request takes time.
const RESERVE: Duration = Duration::from_secs(30);
/// How long a token is valid if the server does not say.
const DEFAULT_LIFETIME: Duration = Duration::from_mins(5);
/// The longest time for which a token is kept, whatever the server says.
const MAX_LIFETIME: Duration = Duration::from_hours(24);
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_ANSWER: usize = 1 << 20;

/// How tokens are fetched with client credentials.
#[derive(Debug, Clone)]
pub struct ClientCredentials {
    /// Where they are fetched.
    pub token_url: reqwest::Url,
    pub client_id: String,
    pub client_secret: SecretString,
    pub scopes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TokenError {
    /// The server refuses the client. Another try would not help.
    Refused(String),
    /// The server cannot be reached or is broken. Another try may help.
    Unavailable(String),
}

/// A source of tokens, which fetches one at a time.
#[derive(Debug)]
pub(crate) struct TokenSource {
    credentials: ClientCredentials,
    current: Mutex<Option<Token>>,
}

#[derive(Debug, Clone)]
struct Token {
    text: SecretString,
    renew_at: Instant,
}

#[derive(Debug, Clone)]
pub(crate) struct CurrentToken {
    pub(crate) text: SecretString,
    pub(crate) is_new: bool,
}

impl TokenSource {
    pub(crate) fn new(credentials: ClientCredentials) -> Self {
        Self { credentials, current: Mutex::new(None) }
    }

    /// The current token, or a new one. Calls that need one at the same time wait for the same request.
    pub(crate) async fn token(&self, client: &Client) -> Result<CurrentToken, TokenError> {
        let mut current = self.current.lock().await;
        if let Some(token) = current.as_ref().filter(|token| Instant::now() < token.renew_at) {
            return Ok(CurrentToken { text: token.text.clone(), is_new: false });
        }
        let token = self.fetch(client).await?;
        let text = token.text.clone();
        *current = Some(token);
        Ok(CurrentToken { text, is_new: true })
    }

    /// Forgets a token that the service has refused, unless another one is there already.
    pub(crate) async fn forget(&self, refused: &SecretString) {
        let mut current = self.current.lock().await;
        if current.as_ref().is_some_and(|token| token.text.expose_secret() == refused.expose_secret()) {
            *current = None;
        }
    }

    fn secrets(&self) -> KnownSecrets {
        let mut secrets = KnownSecrets::default();
        secrets.add(self.credentials.client_secret.expose_secret());
        secrets.add(self.authorization().trim_start_matches("Basic "));
        secrets
    }

    fn authorization(&self) -> String {
        let ClientCredentials { client_id, client_secret, .. } = &self.credentials;
        basic(&percent_encoded(client_id), &percent_encoded(client_secret.expose_secret()))
    }

    async fn fetch(&self, client: &Client) -> Result<Token, TokenError> {
        let host = self.credentials.token_url.host_str().unwrap_or_default().to_owned();
        let unavailable = |problem: String| TokenError::Unavailable(format!("no token from {host}: {problem}"));
        let exchange = async {
            let response = client.execute(Box::new(self.request()), SideEffect::Read).await;
            let response = response.map_err(|error| unavailable(last_cause(&error).unwrap_or_default()))?;
            let status = response.status();
            let body = read_bytes(response, MAX_ANSWER).await.map_err(|error| unavailable(error.to_string()))?;
            let answer = Value::parse(&String::from_utf8_lossy(&body)).unwrap_or(Value::Null);
            let text = |key: &str| answer.get(key).and_then(Value::as_str);
            if status.is_client_error() {
                let reason = text("error_description").or_else(|| text("error")).unwrap_or_default();
                // The reason comes from the server, and the secret may be a part of it.
                let reason = self.secrets().redact(reason).into_owned();
                return Err(TokenError::Refused(format!("no token from {host}: it answered {status} {reason}")));
            }
            let token = text("access_token").filter(|_| status.is_success());
            let token = token.ok_or_else(|| unavailable(format!("it answered {status} without an access token")))?;
            let seconds = answer.get("expires_in").and_then(Value::as_number).and_then(Number::as_u64);
            let lifetime = seconds.map_or(DEFAULT_LIFETIME, Duration::from_secs).min(MAX_LIFETIME);
            // A short-lived token is used for half of its life.
            let usable = lifetime.checked_sub(RESERVE).unwrap_or_default().max(lifetime / 2);
            Ok(Token { text: token.into(), renew_at: Instant::now() + usable })
        };
        let outcome = tokio::time::timeout(TIMEOUT, exchange).await;
        outcome.unwrap_or_else(|_| Err(unavailable(format!("it did not answer within {TIMEOUT:?}"))))
    }

    fn request(&self) -> reqwest::Request {
        let ClientCredentials { token_url, scopes, .. } = &self.credentials;
        let mut form = "grant_type=client_credentials".to_owned();
        if !scopes.is_empty() {
            form.extend(["&scope=", &percent_encoded(&scopes.join(" "))]);
        }
        let mut request = reqwest::Request::new(reqwest::Method::POST, token_url.clone());
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if let Ok(mut basic) = HeaderValue::try_from(self.authorization()) {
            basic.set_sensitive(true);
            headers.insert(reqwest::header::AUTHORIZATION, basic);
        }
        *request.body_mut() = Some(form.into());
        request
    }
}
