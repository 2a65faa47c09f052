//! Bodies of requests, with errors that say where they are wrong.

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use serde::de::DeserializeOwned;

use crate::api_error::ApiError;

/// The most that a request may send.
pub(crate) const MAX_BODY: usize = 8 << 20;
/// How long a body may take to arrive.
const MAX_TIME: Duration = Duration::from_mins(1);

/// The body of a request.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let bytes = read_body(request.into_body(), MAX_BODY).await?;
        let value = serde_json::from_slice(&bytes);
        value.map(Self).map_err(|error| ApiError::invalid(format!("the body is not as it should be: {error}")))
    }
}

/// Reads a body of at most `limit` bytes.
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
