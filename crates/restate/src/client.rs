//! The client: begins runs at Restate, follows them, and registers workers.

use std::time::Duration;

use reknit_engine::Event;
use reknit_journal::DueEffect;
use reknit_protocol::RunId;
use reknit_runtime::{BoxFuture, RemoteEngine, RemoteError, RemoteEvent};
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::messages::{BeginRun, EventPage, EventRow, NOT_HERE, OutsideEvent, RUN_OBJECT, ReadEvents, SignalHandled};

/// How long one request may take. Restate answers when the object has handled it.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A Restate server, at its ingress or its admin API.
#[derive(Debug, Clone)]
pub struct RestateClient {
    http: Client,
    base: Url,
}

/// Why an address cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("`{address}` is not an address of a Restate server: {problem}")]
pub struct RestateAddressError {
    pub address: String,
    pub problem: String,
}

impl RestateClient {
    /// A client of the server at this address, such as `http://127.0.0.1:8080` (ingress) or `http://127.0.0.1:9070` (admin API).
    pub fn new(address: &str) -> Result<Self, RestateAddressError> {
        let problem = |problem: String| RestateAddressError { address: address.to_owned(), problem };
        let base = Url::parse(address).map_err(|error| problem(error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() {
            return Err(problem("write one like http://127.0.0.1:8080".to_owned()));
        }
        let _already_installed = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder().timeout(TIMEOUT).no_proxy().build().map_err(|error| problem(error.to_string()))?;
        Ok(Self { http, base })
    }

    /// Registers the workers at an address, as Restate reaches them: at a load balancer, if there are several. The services of a
    /// build that were registered under the same address before are replaced.
    pub async fn register(&self, workers: &str) -> Result<(), RemoteError> {
        let body = json!({ "uri": workers, "force": true }).to_string();
        let request = self.http.post(self.url(&["deployments"])).header("content-type", "application/json").body(body);
        self.answer(request.send().await).await.map(|_| ())
    }

    fn url(&self, segments: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    async fn call(&self, run: &RunId, handler: &str, id: Option<&str>, body: String) -> Result<String, RemoteError> {
        let url = self.url(&[RUN_OBJECT, run.as_str(), handler]);
        let mut request = self.http.post(url).header("content-type", "application/json").body(body);
        if let Some(id) = id {
            request = request.header("idempotency-key", format!("{run}/{id}"));
        }
        self.answer(request.send().await).await
    }

    async fn answer(&self, response: reqwest::Result<Response>) -> Result<String, RemoteError> {
        let response = response.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        let text = response.text().await.map_err(|error| self.unreachable(&error))?;
        if status.is_success() {
            return Ok(text);
        }
        let address = self.base.to_string();
        let message = serde_json::from_str::<Value>(&text).ok();
        let message = message.as_ref().and_then(|body| body.get("message")?.as_str()).unwrap_or(text.trim());
        let problem = format!("{status}: {message}");
        // Without workers, Restate does not know the object, which answers as 404.
        Err(match status {
            StatusCode::BAD_REQUEST | StatusCode::CONFLICT => RemoteError::Refused { address, problem },
            status if status.as_u16() == NOT_HERE => RemoteError::NotThere { address, problem },
            _ => RemoteError::Unreachable { address, problem },
        })
    }

    fn unreachable(&self, error: &reqwest::Error) -> RemoteError {
        let causes = std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source());
        // The first one repeats the address.
        let problem = causes.skip(1).map(ToString::to_string).collect::<Vec<_>>().join(": ");
        let problem = if error.is_timeout() { "it does not answer".to_owned() } else { problem };
        RemoteError::Unreachable { address: self.base.to_string(), problem }
    }

    /// The message is ours, so it can be serialized; if not, nothing was sent.
    fn json(&self, message: &impl serde::Serialize) -> Result<String, RemoteError> {
        serde_json::to_string(message).map_err(|error| self.unreadable(&error))
    }

    fn page(&self, text: &str) -> Result<Vec<RemoteEvent>, RemoteError> {
        let page: EventPage = serde_json::from_str(text).map_err(|error| self.unreadable(&error))?;
        let event = |row: EventRow| RemoteEvent {
            body: row.body.get().to_owned(),
            due: row.due.into_iter().map(|(effect, digest)| DueEffect::new(effect, digest)).collect(),
        };
        Ok(page.events.into_iter().map(event).collect())
    }

    fn unreadable(&self, error: &serde_json::Error) -> RemoteError {
        RemoteError::Refused { address: self.base.to_string(), problem: format!("a message cannot be read: {error}") }
    }
}

impl RemoteEngine for RestateClient {
    fn begin<'a>(&'a self, run: &'a RunId, first: &'a str) -> BoxFuture<'a, Result<Vec<RemoteEvent>, RemoteError>> {
        Box::pin(async move {
            let first = RawValue::from_string(first.to_owned()).map_err(|error| self.unreadable(&error))?;
            let text = self.call(run, "begin", None, self.json(&BeginRun { first })?).await?;
            // A worker of the first build answers with nothing.
            if text.is_empty() { Ok(Vec::new()) } else { self.page(&text) }
        })
    }

    fn events<'a>(&'a self, run: &'a RunId, from: u64) -> BoxFuture<'a, Result<Vec<RemoteEvent>, RemoteError>> {
        Box::pin(async move {
            let text = self.call(run, "events", None, self.json(&ReadEvents { from })?).await?;
            self.page(&text)
        })
    }

    fn send<'a>(&'a self, run: &'a RunId, id: &'a str, event: &'a Event) -> BoxFuture<'a, Result<u64, RemoteError>> {
        Box::pin(async move {
            let body = self.json(&OutsideEvent { event: event.clone() })?;
            let text = self.call(run, "signal", Some(id), body).await?;
            // A worker of the first build answers with nothing.
            let handled: SignalHandled = serde_json::from_str(&text).unwrap_or_default();
            Ok(handled.len)
        })
    }
}
