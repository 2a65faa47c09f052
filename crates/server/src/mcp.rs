//! The tools for MCP clients, over HTTP.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use axum::response::IntoResponse;
use axum::routing::any;
use reknit::{Reknit, RunHandle};
use reknit_mcp_server::{McpServer, Offering, RunLimit, SessionLimit, unless_refused};

use crate::access::{Caller, MCP_PATH};
use crate::api_error::ApiError;
use crate::state::ServerState;
use crate::token::Scope;

/// How many sessions a token can have at the same time, and all tokens together. Each takes almost 100 kB.
const MAX_SESSIONS: (usize, usize) = (100, 1_000);

/// Calls count as runs in progress, like the runs of the API. One that waits for a person does not.
impl RunLimit for ServerState {
    fn start(&self, start: Box<dyn FnOnce() -> RunHandle + '_>) -> Result<RunHandle, String> {
        Self::start(self, start).map_err(|error| error.message)
    }
}

/// Offers each caller the tools that it may use, and the agents. Calls are journalled runs like all others.
pub(crate) fn router(server: &ServerState, callers: &[Caller]) -> Router {
    let sessions = SessionLimit::new(MAX_SESSIONS.0, MAX_SESSIONS.1);
    let service = |caller: &Caller| {
        let agents = server.agents.values().cloned();
        let service = McpServer::new(Reknit::clone(&caller.reknit), Offering::EveryTool)
            .with_agents(agents)
            .with_run_limit(Arc::new(server.clone()));
        let service = service.with_approvals(caller.may(Scope::Approve)).http_service(sessions.clone());
        (caller.name().to_owned(), service)
    };
    let services: Arc<HashMap<_, _>> = Arc::new(callers.iter().map(service).collect());
    let handle = move |caller: Caller, request: Request| async move {
        match services.get(caller.name()).cloned() {
            Some(service) => {
                let ends_session = request.method() == Method::DELETE;
                let mut response = match Box::pin(unless_refused(service.handle(request))).await {
                    Ok(response) => response.map(Body::new),
                    Err(refused) => return ApiError::busy(refused.to_string()).with_retry_after(60).into_response(),
                };
                // The session has ended. The library answers 202, which the Python client of MCP reports as a failure.
                if ends_session && response.status() == StatusCode::ACCEPTED {
                    *response.status_mut() = StatusCode::NO_CONTENT;
                }
                response
            }
            // Every caller has a service.
            None => ApiError::not_found("no tools are offered to this token").into_response(),
        }
    };
    Router::new().route(MCP_PATH, any(handle))
}
