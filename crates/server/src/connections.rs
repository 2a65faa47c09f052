//! The connections of clients: how many there are, how long a client may take to send a request, and which answers are being sent; an
//! id and a log line for each request.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;
use axum::serve::Listener;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use reknit_runtime::telemetry::prometheus::PrometheusMetrics;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// How many connections there are at the same time. Others wait until one is closed.
const MAX_CONNECTIONS: usize = 10_000;
/// How long the headers of a request may take, and how long a connection may be idle between two requests.
const HEADER_TIME: Duration = Duration::from_mins(1);
/// The most that the headers of a request may have, in bytes.
const MAX_HEADERS: usize = 64 << 10;

/// Answers requests until `stop`, then takes no new ones, and waits for those in progress.
pub(crate) async fn serve<L: Listener>(mut listener: L, app: Router, stop: impl Future<Output = ()>) {
    let (connections, places) = (GracefulShutdown::new(), Arc::new(Semaphore::new(MAX_CONNECTIONS)));
    let mut stop = pin!(stop);
    loop {
        let next = async {
            // The semaphore is never closed, so a place always comes.
            let place = Arc::clone(&places).acquire_owned().await.ok();
            (place, listener.accept().await.0)
        };
        let (place, stream) = tokio::select! {
            next = next => next,
            () = &mut stop => break,
        };
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).max_buf_size(MAX_HEADERS);
        let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(app.clone()));
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!("a connection ended: {error}");
            }
            drop(place);
        });
    }
    drop(listener);
    connections.shutdown().await;
}

/// Counts a request to a model until its answer is sent, or given up.
pub(crate) async fn count(State(requests): State<TaskTracker>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let open = requests.token();
    next.run(request).await.map(|body| Body::new(CountedBody { body, _open: open }))
}

/// The body of an answer to a request that is counted.
#[derive(Debug)]
struct CountedBody {
    body: Body,
    _open: TaskTrackerToken,
}

impl HttpBody for CountedBody {
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
/// A longer id of a caller is replaced.
const MAX_ID: usize = 128;

/// Gives the request an id, unless the caller did, returns it with the response, and logs how the request went.
pub(crate) async fn log(State(metrics): State<Arc<PrometheusMetrics>>, mut request: Request, next: Next) -> Response {
    let given = request.headers().get(ID_HEADER).filter(|id| is_plain(id)).cloned();
    let id = given.or_else(|| HeaderValue::from_str(&uuid::Uuid::now_v7().to_string()).ok());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    if let Some(id) = &id {
        request.headers_mut().insert(ID_HEADER, id.clone());
    }
    let start = Instant::now();
    let mut response = next.run(request).await;
    let shown = id.as_ref().and_then(|id| id.to_str().ok()).unwrap_or_default();
    let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::info!(request = shown, method = %method, path, status = response.status().as_u16(), ms, "request");
    let status = response.status().as_u16().to_string();
    metrics.count("reknit_http_requests_total", "Requests to the server.", &[("status", &status)], 1);
    if let Some(id) = id {
        response.headers_mut().insert(ID_HEADER, id);
    }
    response
}

/// Whether an id can be written to a log as it is.
fn is_plain(id: &HeaderValue) -> bool {
    let bytes = id.as_bytes();
    bytes.len() <= MAX_ID && !bytes.is_empty() && bytes.iter().all(u8::is_ascii_graphic)
}
