//! Bodies in JSON, with errors that say where they are wrong.

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use serde::de::DeserializeOwned;

use crate::api_error::ApiError;

/// The most that a request may send.
pub(crate) const MAX_BODY: usize = 8 << 20;

/// The body of a request.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let bytes = to_bytes(request.into_body(), MAX_BODY).await.map_err(|_| {
            let message = format!("the body is larger than {MAX_BODY} bytes, or broken off");
            ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
        })?;
        let value = serde_json::from_slice(&bytes);
        value.map(Self).map_err(|error| ApiError::invalid(format!("the body is not as it should be: {error}")))
    }
}
