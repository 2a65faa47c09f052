//! An id and a log line for each request.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::middleware::Next;
use axum::response::Response;
use reknit_runtime::telemetry::prometheus::PrometheusMetrics;

const HEADER: &str = "x-request-id";
/// A longer id of a caller is replaced.
const MAX_ID: usize = 128;

/// Gives the request an id, unless the caller did, returns it with the response, and logs how the request went.
pub(crate) async fn log(State(metrics): State<Arc<PrometheusMetrics>>, mut request: Request, next: Next) -> Response {
    let given = request.headers().get(HEADER).filter(|id| is_plain(id)).cloned();
    let id = given.or_else(|| HeaderValue::from_str(&uuid::Uuid::now_v7().to_string()).ok());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    if let Some(id) = &id {
        request.headers_mut().insert(HEADER, id.clone());
    }
    let start = std::time::Instant::now();
    let mut response = next.run(request).await;
    let shown = id.as_ref().and_then(|id| id.to_str().ok()).unwrap_or_default();
    let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::info!(request = shown, method = %method, path, status = response.status().as_u16(), ms, "request");
    let status = response.status().as_u16().to_string();
    metrics.count("reknit_http_requests_total", "Requests to the server.", &[("status", &status)], 1);
    if let Some(id) = id {
        response.headers_mut().insert(HEADER, id);
    }
    response
}

/// Whether an id can be written to a log as it is.
fn is_plain(id: &HeaderValue) -> bool {
    let bytes = id.as_bytes();
    bytes.len() <= MAX_ID && !bytes.is_empty() && bytes.iter().all(u8::is_ascii_graphic)
}
