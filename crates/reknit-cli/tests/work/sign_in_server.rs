//! An MCP server that lets in only who has signed in, and the authorization server that it names, both on loopback.

use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use reknit_protocol::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// What the two servers accept and have received.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    /// The access token that is accepted, the token that renews it, and the one that is handed out next.
    pub(crate) accepted: String,
    pub(crate) refresh: String,
    pub(crate) next: String,
    /// Whether calls are refused although the token is good.
    pub(crate) refuses_calls: bool,
    /// Whether the person refuses.
    pub(crate) refuses_sign_in: bool,
    /// The bodies of the requests for tokens.
    pub(crate) exchanges: Vec<String>,
    /// The token of each request to the MCP server; empty if there was none.
    pub(crate) tokens: Vec<String>,
}

#[derive(Clone)]
pub(crate) struct SignInServer {
    base: String,
    rules: Arc<Mutex<Rules>>,
}

impl SignInServer {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let server = Self { base, rules: Arc::default() };
        let router = Router::new().fallback(handle).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        server.rules().next = "access-1".to_owned();
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.base)
    }

    pub(crate) fn rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().expect("no test has panicked")
    }

    fn mcp(&self, headers: &HeaderMap, text: &str) -> Response {
        let token = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
        let token = token.trim_start_matches("Bearer ").to_owned();
        let message = Value::parse(text).unwrap_or_default();
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let mut rules = self.rules();
        rules.tokens.push(token.clone());
        if token.is_empty() || token != rules.accepted || rules.refuses_calls && method == "tools/call" {
            let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", self.base);
            let challenge = format!(r#"Bearer resource_metadata="{metadata}""#);
            return (StatusCode::UNAUTHORIZED, [("www-authenticate", challenge)]).into_response();
        }
        let Some(id) = message.get("id") else { return StatusCode::ACCEPTED.into_response() };
        let result = match method {
            "initialize" => {
                r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#
                    .to_owned()
            }
            "tools/list" => r#"{"tools":[{"name":"whoami","inputSchema":{"type":"object"}}]}"#.to_owned(),
            "tools/call" => format!(r#"{{"content":[],"structuredContent":{{"token":"{token}"}}}}"#),
            _ => {
                let error = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"unknown"}}}}"#);
                return json(StatusCode::OK, error);
            }
        };
        json(StatusCode::OK, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
    }

    fn token(&self, text: String) -> Response {
        let mut rules = self.rules();
        let is_good = text.contains("code=code-1") || text.contains(&format!("refresh_token={}", rules.refresh));
        rules.exchanges.push(text);
        if !is_good {
            return json(StatusCode::BAD_REQUEST, r#"{"error":"invalid_grant"}"#.to_owned());
        }
        rules.accepted = rules.next.clone();
        rules.refresh = format!("refresh-of-{}", rules.accepted);
        let (access, refresh) = (&rules.accepted, &rules.refresh);
        let tokens = format!(
            r#"{{"access_token":"{access}","token_type":"Bearer","expires_in":3600,"refresh_token":"{refresh}"}}"#
        );
        json(StatusCode::OK, tokens)
    }

    fn authorize(&self, query: &str) -> Response {
        let url = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
        let back = decoded(url("redirect_uri").expect("a place to go back to"));
        let state = url("state").expect("a state");
        let end = if self.rules().refuses_sign_in { "error=access_denied" } else { "code=code-1" };
        (StatusCode::FOUND, [("location", format!("{back}?{end}&state={state}"))]).into_response()
    }
}

async fn handle(State(server): State<SignInServer>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let (base, text) = (&server.base, String::from_utf8(body.to_vec()).expect("the body is text"));
    let answer = match uri.path() {
        "/mcp" => return server.mcp(&headers, &text),
        "/token" => return server.token(text),
        "/authorize" => return server.authorize(uri.query().unwrap_or_default()),
        "/register" => {
            let redirect = Value::parse(&text).expect("JSON").get("redirect_uris").expect("addresses").to_string();
            return json(StatusCode::CREATED, format!(r#"{{"client_id":"client-1","redirect_uris":{redirect}}}"#));
        }
        "/.well-known/oauth-protected-resource/mcp" => {
            format!(r#"{{"resource":"{base}/mcp","authorization_servers":["{base}"]}}"#)
        }
        "/.well-known/oauth-authorization-server" => format!(
            r#"{{"issuer":"{base}","authorization_endpoint":"{base}/authorize","token_endpoint":"{base}/token","registration_endpoint":"{base}/register","response_types_supported":["code"],"code_challenge_methods_supported":["S256"]}}"#
        ),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    json(StatusCode::OK, answer)
}

fn json(status: StatusCode, body: String) -> Response {
    (status, [("content-type", "application/json")], body).into_response()
}

fn decoded(text: &str) -> String {
    text.replace("%3A", ":").replace("%2F", "/")
}

/// What a browser sees at an address: the status line and the headers, then the body.
pub(crate) async fn get(url: &str) -> String {
    let (host, path) = url.trim_start_matches("http://").split_once('/').expect("a path");
    let mut stream = tokio::net::TcpStream::connect(host).await.expect("somebody listens");
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("it is sent");
    let mut page = String::new();
    stream.read_to_string(&mut page).await.expect("it is answered");
    page
}

/// The address to which a page sends a browser.
pub(crate) fn location(page: &str) -> String {
    let line = page.lines().find_map(|line| line.strip_prefix("location: "));
    line.unwrap_or_else(|| panic!("no redirect: {page}")).to_owned()
}
