//! A server of a provider that answers with exact bytes, and keeps the requests as they came.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use parking_lot::Mutex;

/// A request as the provider has received it.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) method: Method,
    /// With the query.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// What the provider answers.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
}

impl Answer {
    pub(crate) fn json(status: u16, body: impl Into<Bytes>) -> Self {
        Self { status, headers: vec![("content-type", "application/json".to_owned())], body: body.into() }
    }

    pub(crate) fn stream(body: impl Into<Bytes>) -> Self {
        Self { status: 200, headers: vec![("content-type", "text/event-stream".to_owned())], body: body.into() }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// The provider. Its answers are given in order, the last one again and again.
#[derive(Debug, Clone)]
pub(crate) struct Upstream {
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Upstream {
    pub(crate) async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let mut answers: VecDeque<Answer> = answers.into_iter().collect();
        let last = answers.back().cloned().expect("an answer");
        let answers = Arc::new(Mutex::new(std::mem::take(&mut answers)));
        let log = Arc::clone(&received);
        let app = Router::new().fallback(async move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
            log.lock().push(Received { method, path: uri.to_string(), headers, body });
            let answer = answers.lock().pop_front().unwrap_or(last);
            let response = Response::builder().status(answer.status);
            let response =
                answer.headers.iter().fold(response, |response, (name, value)| response.header(*name, value));
            response.body(Body::from(answer.body)).expect("a response")
        });
        let (listener, url) = crate::listen().await;
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url: format!("{url}/v1"), received }
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().clone()
    }
}
