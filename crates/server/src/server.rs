//! The server: which paths the HTTP API has, and how it starts and stops.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::routing::{any, get, post};
use axum::{Json, Router, middleware};
use reknit::{Mender, Reknit};
use reknit_runtime::NamedAgent;
use reknit_runtime::telemetry::prometheus::PrometheusMetrics;
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::{self, Access, Gate};
use crate::api_error::ApiError;
use crate::request::MAX_BODY;
use crate::state::{ActiveRuns, ServerState};
use crate::tls::{Tls, TlsFiles};
use crate::{catalogue, compat, connections, control, events, gateway, mcp, mending, runs, start_run, ui};

/// How many runs this process drives at the same time, if nothing else is set.
const MAX_RUNS: usize = 1_000;
/// How often a server looks for runs whose process has died.
const TAKE_OVER_INTERVAL: Duration = Duration::from_secs(5);
/// How long runs in progress may go on after the server was told to stop, if nothing else is set.
const DRAIN: Duration = Duration::from_secs(20);

/// The HTTP API of a [`Reknit`].
#[derive(Debug)]
pub struct Server {
    state: ServerState,
    access: Access,
    drain: Duration,
    tls: Option<TlsFiles>,
}

impl Server {
    /// A server for these tools, models and this journal.
    pub fn new(reknit: Reknit, access: Access) -> Self {
        let metrics = Arc::new(PrometheusMetrics::default());
        let reknit = Arc::new(reknit.with_sink(Arc::clone(&metrics) as _));
        let state = ServerState {
            runs: ActiveRuns::new(Arc::clone(&reknit)),
            open_requests: TaskTracker::new(),
            reknit,
            mender: Arc::new(Mender::new()),
            metrics,
            agents: Arc::default(),
            plan_answers: false,
            max_runs: MAX_RUNS,
            stopping: Arc::default(),
        };
        Self { state, access, drain: DRAIN, tls: None }
    }

    /// Lets a model write the answers of plans too. Otherwise it only does so for requests, and a plan answers with its results.
    #[must_use]
    pub fn with_plan_answers(mut self, written: bool) -> Self {
        self.state.plan_answers = written;
        self
    }

    /// Mends calls of other programs with this mender, which may have models. The default is plain code alone.
    #[must_use]
    pub fn with_mender(mut self, mender: Mender) -> Self {
        self.state.mender = Arc::new(mender);
        self
    }

    /// Offers agents as models of the gateway: `agent/NAME`.
    #[must_use]
    pub fn with_agents(mut self, agents: impl IntoIterator<Item = NamedAgent>) -> Self {
        self.state.agents = Arc::new(agents.into_iter().map(|agent| (agent.name.clone(), agent)).collect());
        self
    }

    /// Serves HTTPS with this certificate and key. They are read again when they change.
    #[must_use]
    pub fn with_tls(self, files: TlsFiles) -> Self {
        Self { tls: Some(files), ..self }
    }

    /// Limits how many runs this process drives at the same time. More are answered with 429.
    #[must_use]
    pub fn with_max_runs(mut self, runs: usize) -> Self {
        self.state.max_runs = runs;
        self
    }

    /// How long runs in progress may go on after the server was told to stop. The next process continues the others.
    #[must_use]
    pub fn with_drain(self, drain: Duration) -> Self {
        Self { drain, ..self }
    }

    /// Answers requests until `stop`, then takes no new ones and waits for the runs in progress, and for answers of models. Runs
    /// that another process left unfinished are continued meanwhile.
    ///
    /// Fails at once if a listener that others can reach has no tokens.
    pub async fn serve(self, listener: TcpListener, stop: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let address = listener.local_addr()?;
        if matches!(self.access, Access::OwnMachine) && !address.ip().is_loopback() {
            let message = format!("other machines can reach {address}, so tokens are needed");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        let state = self.state;
        let callers = access::callers(self.access, &state.reknit);
        let mcp = mcp::router(&state, &callers);
        let gate = Arc::new(Gate::new(callers, address));
        let app = router(state.clone())
            .merge(mcp)
            .merge(ui::router(&state, Arc::clone(&gate)))
            .layer(middleware::from_fn_with_state(gate, access::check))
            .layer(middleware::from_fn(ui::errors_as_pages))
            .layer(middleware::from_fn_with_state(Arc::clone(&state.metrics), connections::log));
        let tls = self.tls.map(Tls::new).transpose()?;
        accept((listener, tls), app, state, stop, self.drain).await;
        Ok(())
    }
}

/// Answers requests until `stop`, then waits for the runs in progress, for this long at most.
async fn accept(
    (listener, tls): (TcpListener, Option<Tls>),
    app: Router,
    state: ServerState,
    stop: impl Future<Output = ()> + Send + 'static,
    drain: Duration,
) {
    let stopping = Arc::clone(&state.stopping);
    // Streams of events end with their runs, which may take longer than the server waits.
    let ended = Arc::new(tokio::sync::Notify::new());
    let told = Arc::clone(&ended);
    let stopped = async move {
        stop.await;
        stopping.store(true, Ordering::Relaxed);
        told.notify_one();
    };
    let drained = async {
        // A server that stops takes over no more runs.
        tokio::select! {
            () = ended.notified() => {}
            () = take_over(&state) => {}
        }
        let answered = async {
            state.open_requests.close();
            state.open_requests.wait().await;
            // A run that a request has started ends with it, or goes on.
            state.runs.drained().await;
        };
        let _ = tokio::time::timeout(drain, answered).await;
        // The last answers are on their way.
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    // Runs are waited for also if no client is connected any more.
    let served = async {
        connections::serve(listener, tls, app, stopped).await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = drained => {}
        () = served => {}
    }
}

/// Continues the runs that were left unfinished, and then those of other processes that have died, again and again.
async fn take_over(state: &ServerState) {
    loop {
        match state.reknit.resume_unfinished().await {
            Ok(handles) => break handles.iter().for_each(|handle| state.runs.add(handle)),
            Err(error) => tracing::error!("unfinished runs cannot be continued: {error}"),
        }
        tokio::time::sleep(TAKE_OVER_INTERVAL).await;
    }
    loop {
        tokio::time::sleep(TAKE_OVER_INTERVAL).await;
        match state.reknit.resume_abandoned().await {
            Ok(handles) => handles.iter().for_each(|handle| {
                tracing::info!(run = %handle.id, "continues a run whose process has ended");
                state.runs.add(handle);
            }),
            Err(error) => tracing::error!("runs of other processes cannot be continued: {error}"),
        }
    }
}

#[derive(OpenApi)]
#[openapi(
    info(title = "Reknit", description = "Runs requests over tools, and mends the calls that fail."),
    modifiers(&BearerToken)
)]
struct ApiDocument;

struct BearerToken;

impl utoipa::Modify for BearerToken {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(bearer));
    }
}

fn routes() -> OpenApiRouter<ServerState> {
    OpenApiRouter::with_openapi(ApiDocument::openapi())
        .routes(routes!(runs::list, start_run::start))
        .routes(routes!(runs::show))
        .routes(routes!(runs::explain))
        .routes(routes!(runs::graph))
        .routes(routes!(runs::interactions))
        .routes(routes!(events::follow))
        .routes(routes!(control::cancel))
        .routes(routes!(control::resume))
        .routes(routes!(control::retry))
        .routes(routes!(control::message))
        .routes(routes!(control::decide))
        .route("/v1/runs/{run}/decisions/{question}/{*rest}", post(control::decide_plain))
        .routes(routes!(mending::mend))
        .routes(routes!(mending::repair))
        .routes(routes!(start_run::check))
        .routes(routes!(catalogue::tools))
        .routes(routes!(catalogue::targets))
        .routes(routes!(catalogue::stats))
        .routes(routes!(catalogue::token))
        .routes(routes!(catalogue::metrics))
        .routes(routes!(catalogue::health))
        .routes(routes!(catalogue::ready))
        .routes(routes!(compat::natural))
}

/// The endpoints that speak the APIs of model providers. They take larger bodies.
fn gateway_routes() -> OpenApiRouter<ServerState> {
    OpenApiRouter::new()
        .routes(routes!(gateway::chat_completions))
        .routes(routes!(gateway::responses))
        .routes(routes!(gateway::messages))
        .routes(routes!(gateway::models))
        .route("/v1/{*rest}", any(gateway::pass))
}

fn router(state: ServerState) -> Router {
    let (router, mut document) = routes().split_for_parts();
    let (gateway, gateway_document) = gateway_routes().split_for_parts();
    let counted = middleware::from_fn_with_state(state.open_requests.clone(), connections::count);
    // A path of a provider may have more methods there than here.
    let gateway = gateway
        .method_not_allowed_fallback(gateway::pass)
        .layer(DefaultBodyLimit::max(gateway::MAX_BODY))
        .layer(counted);
    document.merge(gateway_document);
    router
        .route("/openapi.json", get(async move || Json(document)))
        .fallback(async || ApiError::not_found("there is no such path; `/openapi.json` lists all of them"))
        .method_not_allowed_fallback(async || {
            ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "the path has other methods")
        })
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .merge(gateway)
        .with_state(state)
}

/// The OpenAPI document of the API.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let mut document = routes().into_openapi();
    document.merge(gateway_routes().into_openapi());
    document
}
