//! Requests over plain HTTP/1.1, without a proxy.
//!
//! A call may wait for its response for minutes, and thousands of calls may wait at once. A waiting connection of hyper has 26 kB of
//! buffers and channels. Here, a waiting call has its socket and nothing else: the request is written first, and hyper takes over the
//! connection when the response begins.

mod exchange;
mod pool;

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use http::header::{ACCEPT, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TRANSFER_ENCODING, UPGRADE, USER_AGENT};
use hyper_util::client::legacy::connect::HttpConnector;
use reqwest::Request;
use tokio::net::TcpStream;
use tower_service::Service as _;

use super::send_error::SendError;
use exchange::Exchange;
use pool::Pool;

/// How often the system asks whether the other side of a silent connection is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const KEEP_ALIVE_RETRIES: u32 = 3;
/// How long sent bytes may stay without acknowledgement.
#[cfg(target_os = "linux")]
const ACKNOWLEDGEMENT_TIMEOUT: Duration = Duration::from_secs(30);
/// How long an idle connection is kept for requests that only read.
const MAX_IDLE_OF_READS: Duration = Duration::from_secs(90);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reuse {
    Any,
    /// One that was used a short time ago.
    Recent,
    /// None. Its own connection is not used again either.
    Never,
}

#[derive(Debug, Clone)]
pub(crate) struct DirectClient {
    connector: HttpConnector,
    connect_timeout: Duration,
    user_agent: &'static str,
    any: Arc<Pool>,
    recent: Arc<Pool>,
}

impl DirectClient {
    pub(crate) fn new(connect_timeout: Duration, recent: Duration, user_agent: &'static str) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(connect_timeout));
        connector.set_nodelay(true);
        connector.set_keepalive(Some(KEEP_ALIVE));
        connector.set_keepalive_interval(Some(KEEP_ALIVE));
        connector.set_keepalive_retries(Some(KEEP_ALIVE_RETRIES));
        #[cfg(target_os = "linux")]
        connector.set_tcp_user_timeout(Some(ACKNOWLEDGEMENT_TIMEOUT));
        let (any, recent) = (Arc::new(Pool::new(MAX_IDLE_OF_READS)), Arc::new(Pool::new(recent)));
        Self { connector, connect_timeout, user_agent, any, recent }
    }

    pub(crate) async fn send(&self, request: DirectRequest, reuse: Reuse) -> Result<reqwest::Response, SendError> {
        let DirectRequest { uri, place, bytes, after } = request;
        let pool = match reuse {
            Reuse::Any => Some(&self.any),
            Reuse::Recent => Some(&self.recent),
            Reuse::Never => None,
        };
        let idle = pool.and_then(|pool| pool.take(&place));
        let stream = match idle {
            Some(stream) => stream,
            // Boxed: it is done before the call waits.
            None => Box::pin(self.connect(uri)).await?,
        };
        let mut exchange = Exchange::new(stream, bytes);
        poll_fn(|context| exchange.poll_response(context)).await;
        Box::pin(exchange::read_response(exchange, after, pool.map(|pool| (Arc::clone(pool), place))))
            .await
            .map_err(SendError::Exchange)
    }

    async fn connect(&self, uri: Box<Uri>) -> Result<TcpStream, SendError> {
        let mut connector = self.connector.clone();
        let connected = async {
            poll_fn(|context| connector.poll_ready(context)).await?;
            connector.call(*uri).await
        };
        match tokio::time::timeout(self.connect_timeout, connected).await {
            Ok(Ok(stream)) => Ok(stream.into_inner()),
            Ok(Err(error)) => Err(SendError::Connect(error.into())),
            Err(_) => Err(SendError::Connect("operation timed out".into())),
        }
    }

    /// The request as it is sent here. Returns it unchanged if it needs TLS or has a header about the framing.
    pub(crate) fn accept(&self, request: Box<Request>) -> Result<DirectRequest, Box<Request>> {
        DirectRequest::of(&request, self.user_agent).ok_or(request)
    }
}

#[derive(Debug)]
pub(crate) struct DirectRequest {
    uri: Box<Uri>,
    /// Host and port, which idle connections are kept by.
    place: Box<str>,
    bytes: Vec<u8>,
    after: Box<AfterRequest>,
}

#[derive(Debug)]
struct AfterRequest {
    method: http::Method,
    url: reqwest::Url,
}

impl DirectRequest {
    fn of(request: &Request, user_agent: &str) -> Option<Self> {
        let (url, headers) = (request.url(), request.headers());
        let has_framing = [CONNECTION, CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING, UPGRADE]
            .iter()
            .any(|name| headers.contains_key(name));
        if url.scheme() != "http" || has_framing || request.version() != http::Version::HTTP_11 {
            return None;
        }
        let uri: Uri = url.as_str().parse().ok()?;
        let body = match request.body() {
            Some(body) => body.as_bytes()?,
            None => &[],
        };
        let host = url.host_str()?;
        let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        let mut bytes = format!("{} {target} HTTP/1.1\r\n", request.method()).into_bytes();
        let mut add = |name: &str, value: &[u8]| bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        for (name, value) in headers {
            add(name.as_str(), value.as_bytes());
        }
        for (name, value) in [(ACCEPT, "*/*"), (USER_AGENT, user_agent), (HOST, &host)] {
            if !headers.contains_key(&name) {
                add(name.as_str(), value.as_bytes());
            }
        }
        if !body.is_empty() {
            add(CONTENT_LENGTH.as_str(), body.len().to_string().as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(body);
        let after = Box::new(AfterRequest { method: request.method().clone(), url: url.clone() });
        Some(Self { uri: Box::new(uri), place: host.into(), bytes, after })
    }
}
