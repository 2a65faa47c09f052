//! A server that records requests as they arrive, and always gives the same answer.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use tokio::net::TcpListener;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) method: String,
    /// The path and the query, not decoded.
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Recorded {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The pairs of the query, decoded.
    pub(crate) fn query(&self) -> Vec<(String, String)> {
        pairs(self.target.split_once('?').map_or("", |(_, query)| query))
    }

    /// The segments of the path, decoded.
    pub(crate) fn segments(&self) -> Vec<String> {
        let path = self.target.split('?').next().unwrap_or_default();
        path.trim_start_matches('/').split('/').map(decode).collect()
    }
}

/// The pairs of a query or a form, decoded.
pub(crate) fn pairs(text: &str) -> Vec<(String, String)> {
    let pair = |pair: &str| pair.split_once('=').map(|(name, value)| (decode(name), decode(value)));
    text.split('&').filter_map(pair).collect()
}

fn decode(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let digits = std::str::from_utf8(&after[..2]).expect("two digits");
            bytes.push(u8::from_str_radix(digits, 16).expect("hexadecimal digits"));
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).expect("UTF-8")
}

/// The server. It ends with the runtime of the test.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Recorded>>>,
}

impl Recorder {
    /// Starts a server that answers with this status and body.
    pub(crate) async fn start(status: u16, answer: &str) -> Self {
        let requests: Arc<Mutex<Vec<Recorded>>> = Arc::default();
        let (log, answer) = (Arc::clone(&requests), answer.to_owned());
        let record = move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
            let body = String::from_utf8(body.to_vec()).expect("UTF-8");
            let recorded = Recorded { method: method.to_string(), target: uri.to_string(), headers, body };
            log.lock().expect("no panic").push(recorded);
            let answer = answer.clone();
            async move { (StatusCode::from_u16(status).expect("a status"), answer) }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(record)).await });
        Self { url, requests }
    }

    pub(crate) fn last(&self) -> Recorded {
        self.requests.lock().expect("no panic").last().cloned().expect("a request")
    }

    pub(crate) fn count(&self) -> usize {
        self.requests.lock().expect("no panic").len()
    }
}
