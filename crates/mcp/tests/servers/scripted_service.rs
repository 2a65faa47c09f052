//! An MCP server with streamable HTTP, without a library of the protocol.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use reknit_protocol::Value;

/// How the service behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Script {
    /// Answers with JSON, with a handshake and a session.
    Json,
    /// Answers with event streams, with a handshake and without a session.
    Events,
    /// Speaks the protocol without a handshake.
    Modern,
    /// Answers everything with this status.
    Status(u16),
    /// Answers calls with 429.
    BusyCalls,
    /// Forgets its session once, at the first call.
    ForgetsSession,
    /// Answers calls with a body that does not end.
    Endless,
    /// Answers calls with half a body.
    Cut,
    /// Answers calls with a page.
    Page,
}

/// What the service received.
#[derive(Debug, Default)]
pub(crate) struct Received {
    pub(crate) headers: Vec<HeaderMap>,
    pub(crate) methods: Vec<String>,
    /// The address that each request came from.
    pub(crate) peers: Vec<SocketAddr>,
}

#[derive(Clone)]
struct Service {
    script: Script,
    received: Arc<Mutex<Received>>,
}

/// Starts the service. Returns its URL and what it receives.
pub(crate) async fn start(script: Script) -> (String, Arc<Mutex<Received>>) {
    let received = Arc::<Mutex<Received>>::default();
    let service = Service { script, received: Arc::clone(&received) };
    let router = Router::new().fallback(handle).with_state(service);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    tokio::spawn(
        async move { axum::serve(listener, router.into_make_service_with_connect_info::<SocketAddr>()).await },
    );
    (url, received)
}

async fn handle(
    State(service): State<Service>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if method != Method::POST {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let text = String::from_utf8(body.to_vec()).expect("the body is text");
    let message = Value::parse(&text).expect("the body is JSON");
    let name = message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_first_call = {
        let mut received = service.received.lock().expect("no test has panicked");
        received.headers.push(headers.clone());
        received.methods.push(name.clone());
        received.peers.push(peer);
        received.methods.iter().filter(|method| *method == "tools/call").count() == 1
    };
    if let Script::Status(status) = service.script {
        let status = StatusCode::from_u16(status).expect("a status");
        let headers = [("retry-after", "7"), ("location", "http://127.0.0.1:9/other")];
        return (status, headers, "no access").into_response();
    }
    let Some(id) = message.get("id") else { return StatusCode::ACCEPTED.into_response() };
    respond(service.script, &name, id, &message, is_first_call)
}

fn respond(script: Script, name: &str, id: &Value, message: &Value, is_first_call: bool) -> Response {
    let is_call = name == "tools/call";
    match (script, name) {
        (Script::Modern, "server/discover") => json(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}},"ttlMs":0,"cacheScope":"private"}}}}"#
        )),
        // An older server that does not know the session of this request.
        (_, "server/discover") => (StatusCode::BAD_REQUEST, "Bad Request: Server not initialized").into_response(),
        (_, "initialize") => {
            let result = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
            );
            let mut response = answer(script, &result);
            if script != Script::Events {
                response.headers_mut().insert("mcp-session-id", "session-1".parse().expect("a header"));
            }
            response
        }
        (_, "tools/list") => answer(
            script,
            &format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{{"name":"echo","inputSchema":{{"type":"object"}}}}]}}}}"#
            ),
        ),
        (Script::ForgetsSession, _) if is_call && is_first_call => StatusCode::NOT_FOUND.into_response(),
        (Script::BusyCalls, _) if is_call => {
            (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "7")], "busy").into_response()
        }
        (Script::Endless, _) if is_call => {
            let chunks = stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from_static(&[b' '; 4096])));
            ([("content-type", "application/json")], Body::from_stream(chunks)).into_response()
        }
        (Script::Cut, _) if is_call => {
            let chunks: Vec<Result<Bytes, std::io::Error>> =
                vec![Ok(Bytes::from_static(b"{\"jsonrpc\":")), Err(std::io::Error::other("cut"))];
            ([("content-type", "application/json")], Body::from_stream(stream::iter(chunks))).into_response()
        }
        (Script::Page, _) if is_call => ([("content-type", "text/html")], "<html>hello</html>").into_response(),
        _ => {
            let arguments = message.get("params").and_then(|params| params.get("arguments")).expect("arguments");
            let result =
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"structuredContent":{arguments}}}}}"#);
            answer(script, &result)
        }
    }
}

fn answer(script: Script, message: &str) -> Response {
    if script != Script::Events {
        return json(message);
    }
    let events = format!(": ping\n\nevent: message\ndata: {message}\n\n");
    ([("content-type", "text/event-stream")], events).into_response()
}

fn json(message: &str) -> Response {
    ([("content-type", "application/json; charset=utf-8")], message.to_owned()).into_response()
}
