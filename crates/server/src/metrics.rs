//! Metrics for Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

use crate::state::ServerState;

/// Returns the metrics of the runs that this process drives, of the gateway and of the server, in the text format of Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "operation",
    responses((status = 200, content_type = "text/plain", body = String)))]
pub(crate) async fn metrics(State(server): State<ServerState>) -> impl IntoResponse {
    let mut text = server.metrics.render();
    for (name, help, value) in [
        ("reknit_runs_in_progress", "Runs that this process drives.", server.runs.driven()),
        ("reknit_runs_limit", "Runs that this process drives at most.", server.max_runs),
        ("reknit_stopping", "1 while the server stops.", usize::from(server.stopping.load(Ordering::Relaxed))),
    ] {
        // Writing to a string cannot fail.
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}\n");
    }
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text)
}
