//! The connections of clients: how long a client may take to send a request, and which answers are being sent; an id and a log line
//! for each request.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use reknit_runtime::telemetry::prometheus::PrometheusMetrics;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::task::TaskTracker;

use crate::access::is_health_check;
use crate::api_error::ApiError;
use crate::places::{Answering, Place, PlaceKind, Places};
use crate::tls::Tls;

/// How long the headers of a later request may take, and how long a connection may be idle between two requests.
const HEADER_TIME: Duration = Duration::from_mins(1);
/// How long a client may take to agree on keys.
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);
/// The most that the headers of a request may have, in bytes.
const MAX_HEADERS: usize = 64 << 10;
/// The pause after an error of the operating system, such as too many open files, before the next is accepted.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers requests until `stop`, then takes no new ones, and waits for those in progress.
pub(crate) async fn serve(listener: TcpListener, tls: Option<Tls>, app: Router, stop: impl Future<Output = ()>) {
    let (graceful, places) = (GracefulShutdown::new(), Places::new());
    let mut stop = pin!(stop);
    loop {
        let (stream, place) = tokio::select! {
            // A client that waits for a place is accepted: so it is known that there is one too many.
            next = async { (next_client(&listener).await, places.take().await) } => next,
            () = &mut stop => break,
        };
        let connection = Connection { app: app.clone(), place, watcher: graceful.watcher() };
        match &tls {
            None => drop(tokio::spawn(connection.answer(stream))),
            Some(tls) => drop(tokio::spawn(connection.answer_encrypted(stream, tls.acceptor()))),
        }
    }
    drop(listener);
    graceful.shutdown().await;
}

async fn next_client(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Small pieces of an answer are sent at once.
                let _ = stream.set_nodelay(true);
                return stream;
            }
            Err(error) => {
                tracing::warn!("a connection cannot be accepted: {error}");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// A connection of a client.
struct Connection {
    app: Router,
    place: Place,
    watcher: Watcher,
}

impl Connection {
    async fn answer_encrypted(self, stream: TcpStream, acceptor: TlsAcceptor) {
        match tokio::time::timeout(HANDSHAKE_TIME, self.place.unless_cut(acceptor.accept(stream))).await {
            Ok(Some(Ok(stream))) => self.answer(stream).await,
            Ok(Some(Err(error))) => tracing::debug!("no TLS: {error}"),
            Ok(None) | Err(_) => tracing::debug!("no TLS: too slow"),
        }
    }

    async fn answer(self, stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
        let Self { app, place, watcher } = self;
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).max_buf_size(MAX_HEADERS);
        let (app, activity, kind) = (TowerToHyperService::new(app), Arc::clone(&place.activity), place.kind);
        let service = service_fn(move |request: Request<Incoming>| {
            let answering = Answering::new(Arc::clone(&activity));
            let is_refused = kind == PlaceKind::Reserve && !is_health_check(request.uri().path());
            let answer = (!is_refused).then(|| app.call(request));
            async move {
                let response = match answer {
                    Some(answer) => answer.await?,
                    None => crowded(),
                };
                Ok::<_, Infallible>(response.map(|body| HeldBody { body, _held: answering }))
            }
        });
        let connection = watcher.watch(http.serve_connection(TokioIo::new(stream), service));
        match place.unless_cut(connection).await {
            Some(Err(error)) => tracing::debug!("a connection ended: {error}"),
            Some(Ok(())) => {}
            None => tracing::debug!("a connection was closed, because it sent no request"),
        }
    }
}

/// The answer to any other request than a health check if there is only a place for those.
fn crowded() -> Response {
    let mut response = ApiError::busy("all connections of the server wait for answers").into_response();
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Counts a request to a model until its answer is sent, or given up.
pub(crate) async fn count(State(requests): State<TaskTracker>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let open = requests.token();
    next.run(request).await.map(|body| Body::new(HeldBody { body, _held: open }))
}

/// The body of an answer that holds something until it is sent, or given up.
#[derive(Debug)]
struct HeldBody<T> {
    body: Body,
    _held: T,
}

impl<T: Unpin> HttpBody for HeldBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

const ID_HEADER: &str = "x-request-id";
const OWN_ID_HEADER: &str = "x-reknit-request-id";
/// A longer id of a caller is replaced.
const MAX_ID: usize = 128;

/// Gives the request an id, unless the caller did, returns it with the response, and logs how the request went.
pub(crate) async fn log(State(metrics): State<Arc<PrometheusMetrics>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(ID_HEADER).filter(|id| is_plain(id)).cloned();
    let id = given.or_else(|| HeaderValue::from_str(&uuid::Uuid::now_v7().to_string()).ok());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let start = Instant::now();
    let mut response = next.run(request).await;
    let shown = id.as_ref().and_then(|id| id.to_str().ok()).unwrap_or_default();
    let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::info!(request = shown, method = %method, path, status = response.status().as_u16(), ms, "request");
    let status = response.status().as_u16().to_string();
    metrics.count("reknit_http_requests_total", "Requests to the server.", &[("status", &status)], 1);
    if let Some(id) = id {
        // A provider's response has an id of its own, by which the provider knows the request.
        let name = if response.headers().contains_key(ID_HEADER) { OWN_ID_HEADER } else { ID_HEADER };
        response.headers_mut().insert(name, id);
    }
    response
}

/// Whether an id can be written to a log as it is.
fn is_plain(id: &HeaderValue) -> bool {
    let bytes = id.as_bytes();
    bytes.len() <= MAX_ID && !bytes.is_empty() && bytes.iter().all(u8::is_ascii_graphic)
}
