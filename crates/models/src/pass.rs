//! Requests of other programs to any path of a server, which are passed on without being read.

use reknit_model_api::{ErrorClass, ModelFailure, TargetName};
use reqwest::header::HeaderMap;
use reqwest::{Method, Response};

use crate::Models;
use crate::sanitize::{root_cause, sanitize};
use crate::timeouts::{Stage, TimeoutTracker};

/// A request of another program.
#[derive(Debug, Clone)]
pub struct PassedRequest {
    pub method: Method,
    /// The path below the base URL: `/embeddings`.
    pub path: String,
    pub query: Option<String>,
    /// Headers of the program, never a key. Those that the configuration sets count more.
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// The response to a [`PassedRequest`], whatever its status is.
#[derive(Debug)]
pub struct PassedResponse {
    pub status: u16,
    pub headers: HeaderMap,
    response: Response,
    tracker: TimeoutTracker,
}

impl PassedResponse {
    /// The next bytes of the body; none at its end.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>, ModelFailure> {
        let chunk = self.tracker.within(Stage::NextToken, self.response.chunk()).await;
        self.tracker.note_progress();
        match chunk {
            Ok(Ok(chunk)) => Ok(chunk.map(Into::into)),
            Ok(Err(error)) => Err(ModelFailure::new(ErrorClass::NetworkError, root_cause(&error))),
            Err(exceeded) => Err(ModelFailure::new(ErrorClass::Timeout, exceeded.to_string())),
        }
    }
}

impl Models {
    /// Sends a request of another program to the server of a target once. Only a request without a response fails.
    pub async fn pass(&self, target: &TargetName, request: PassedRequest) -> Result<PassedResponse, ModelFailure> {
        let refused = |message: String| ModelFailure::new(ErrorClass::ModelError, message).with_status(404);
        let Some(endpoint) = self.server(target) else {
            return Err(refused(format!("the model `{target}` has no server")));
        };
        let Some(url) = endpoint.url_of(&request.path, request.query.as_deref()) else {
            return Err(refused(format!("the path `{}` is not one of the API", request.path)));
        };
        let mut tracker = TimeoutTracker::start(endpoint.target.timeouts);
        let sent = tracker.within(Stage::Headers, endpoint.send_to(url, request)).await;
        let response = sent.map_err(|exceeded| ModelFailure::new(ErrorClass::Timeout, exceeded.to_string()))?;
        let response = response.map_err(|error| {
            let cause = sanitize(&root_cause(&error), endpoint.secret());
            ModelFailure::new(ErrorClass::NetworkError, format!("{} did not answer: {cause}", endpoint.server()))
        })?;
        tracker.note_progress();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(PassedResponse { status, headers, response, tracker })
    }
}
