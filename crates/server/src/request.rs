//! What handlers take from a request: its body, read within a time and a size, and the run that its path names.

use std::collections::HashMap;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRef, FromRequest, FromRequestParts, Path, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use reknit_protocol::RunId;
use reknit_runtime::Runtime;
use serde::de::DeserializeOwned;

use crate::access::Caller;
use crate::api_error::ApiError;
use crate::run_view::{RunView, view};
use crate::state::ServerState;

/// The most bytes that a request may send.
pub(crate) const MAX_BODY: usize = 8 << 20;
/// How long a body may take to arrive.
const MAX_TIME: Duration = Duration::from_mins(1);

/// A JSON body. The error says where it is wrong.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let bytes = read_body(request.into_body(), MAX_BODY).await?;
        let body = serde_json::from_slice(&bytes).map(Self);
        body.map_err(|error| ApiError::invalid(format!("invalid request body: {error}")))
    }
}

pub(crate) async fn read_body(body: Body, limit: usize) -> Result<Bytes, ApiError> {
    match tokio::time::timeout(MAX_TIME, to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => {
            let message = format!("the body is larger than {limit} bytes, or broken off");
            Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message))
        }
        Err(_) => {
            let message = format!("the body did not arrive within {} s", MAX_TIME.as_secs());
            Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", message))
        }
    }
}

/// The answer to a request that changes a run: 202, with the run as it is then.
pub(crate) type Accepted = Result<(StatusCode, Json<RunView>), ApiError>;

/// A request about an existing run that the caller may see.
#[derive(Debug, Clone)]
pub(crate) struct RunRequest {
    pub(crate) server: ServerState,
    pub(crate) caller: Caller,
    pub(crate) run: RunId,
}

impl RunRequest {
    pub(crate) fn runtime(&self) -> &Runtime {
        self.caller.reknit.runtime()
    }

    pub(crate) async fn accepted(&self) -> Accepted {
        Ok((StatusCode::ACCEPTED, Json(view(self.runtime(), &self.run).await?)))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RunRequest
where
    ServerState: FromRef<S>,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let caller = Caller::from_request_parts(parts, state).await?;
        let path = Path::<HashMap<String, String>>::from_request_parts(parts, state).await;
        let Path(mut path) = path.map_err(|error| ApiError::invalid(error.body_text()))?;
        let run = RunId::new(path.remove("run").unwrap_or_default());
        // Fails for a run that the caller may not see.
        caller.reknit.runtime().summary(&run).await?;
        Ok(Self { server: ServerState::from_ref(state), caller, run })
    }
}
