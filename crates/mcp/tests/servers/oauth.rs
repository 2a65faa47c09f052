//! Signing in at a server with OAuth.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use reknit_mcp::{McpConnection, McpEndpoint, McpOAuth, McpOptions, McpSource, TokenKey};
use reknit_protocol::Value;
use reknit_tools::ToolSource as _;

use crate::support::list;

const REDIRECT: &str = "http://127.0.0.1:8123/callback";

#[derive(Clone)]
struct Service {
    base: String,
    /// The bodies of the requests for tokens.
    exchanges: Arc<Mutex<Vec<String>>>,
    /// Whether the list of tools is refused to everybody.
    refuses_list: Arc<AtomicBool>,
}

impl Service {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let service = Self { base, exchanges: Arc::default(), refuses_list: Arc::default() };
        let router = Router::new().fallback(handle).with_state(service.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        service
    }

    fn options(&self, folder: &Path) -> McpOptions {
        let oauth = McpOAuth {
            client_id: None,
            client_secret: None,
            client_metadata_url: None,
            scopes: Vec::new(),
            redirect_port: 0,
            token_file: folder.join("tokens.json"),
            token_key: TokenKey::Text("key-secret".into()),
        };
        let endpoint = McpEndpoint { url: format!("{}/mcp", self.base), oauth: Some(oauth), ..McpEndpoint::default() };
        McpOptions::new("service", McpConnection::Http(endpoint))
    }
}

/// A service that lets in only those with the token `access-1`, and is its own authorization server.
async fn handle(State(service): State<Service>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let base = &service.base;
    let text = String::from_utf8(body.to_vec()).expect("the body is text");
    let answer = match uri.path() {
        "/.well-known/oauth-protected-resource/mcp" => {
            format!(r#"{{"resource":"{base}/mcp","authorization_servers":["{base}"]}}"#)
        }
        "/.well-known/oauth-authorization-server" => format!(
            r#"{{"issuer":"{base}","authorization_endpoint":"{base}/authorize","token_endpoint":"{base}/token","registration_endpoint":"{base}/register","response_types_supported":["code"],"code_challenge_methods_supported":["S256"]}}"#
        ),
        "/register" => r#"{"client_id":"client-1","redirect_uris":["http://127.0.0.1:8123/callback"]}"#.to_owned(),
        "/token" => {
            service.exchanges.lock().expect("no test has panicked").push(text);
            r#"{"access_token":"access-1","token_type":"Bearer","expires_in":3600,"refresh_token":"refresh-1"}"#
                .to_owned()
        }
        "/mcp"
            if headers.get("authorization").is_none_or(|token| token != "Bearer access-1")
                || text.contains("tools/list") && service.refuses_list.load(Ordering::Relaxed) =>
        {
            let challenge = format!(r#"Bearer resource_metadata="{base}/.well-known/oauth-protected-resource/mcp""#);
            return (StatusCode::UNAUTHORIZED, [("www-authenticate", challenge)]).into_response();
        }
        "/mcp" => match Value::parse(&text).ok().and_then(|message| respond(&message)) {
            Some(answer) => answer,
            None => return StatusCode::ACCEPTED.into_response(),
        },
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let status = if uri.path() == "/register" { StatusCode::CREATED } else { StatusCode::OK };
    (status, [("content-type", "application/json")], answer).into_response()
}

fn respond(message: &Value) -> Option<String> {
    let id = message.get("id")?;
    let result = match message.get("method").and_then(Value::as_str) {
        Some("initialize") => {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#
        }
        Some("tools/list") => r#"{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}"#,
        _ => return Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"unknown"}}}}"#)),
    };
    Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
}

fn parameters(text: &str) -> HashMap<String, String> {
    let url = reqwest::Url::parse(&format!("http://x/?{text}")).expect("a query");
    url.query_pairs().into_owned().collect()
}

#[tokio::test]
async fn a_person_signs_in_once_and_the_tokens_are_stored_encrypted() {
    let service = Service::start().await;
    let (base, exchanges) = (&service.base, &service.exchanges);
    let folder = tempfile::tempdir().expect("a folder");
    let options = service.options(folder.path());
    let source = McpSource::new(options.clone());
    let refusal = source.list().await.expect_err("nobody has signed in");
    assert_eq!(refusal, "needs sign-in: `reknit tools sign-in service`");

    let sign_in = source.sign_in(REDIRECT).await.expect("the server says how");
    let asked = parameters(sign_in.url().split_once('?').expect("a query").1);
    assert_eq!(asked["code_challenge_method"], "S256");
    assert_eq!(asked["resource"], format!("{base}/mcp"));
    let callback = format!("http://127.0.0.1:8123/callback?code=code-1&state={}", asked["state"]);
    sign_in.finish(&callback).await.expect("the code is exchanged");
    let exchange = parameters(&exchanges.lock().expect("no test has panicked")[0]);
    assert_eq!(exchange["code"], "code-1");
    assert!(exchange.contains_key("code_verifier"), "{exchange:?}");

    assert_eq!(list(&source).await.capabilities.len(), 1);
    let stored = std::fs::read_to_string(folder.path().join("tokens.json")).expect("it is there");
    assert!(!stored.contains("access-1") && !stored.contains("refresh-1"), "{stored}");
    // Another process finds the tokens.
    assert_eq!(list(&McpSource::new(options)).await.capabilities.len(), 1);
}

#[tokio::test]
async fn a_server_that_refuses_only_its_list_of_tools_needs_a_sign_in() {
    let service = Service::start().await;
    let folder = tempfile::tempdir().expect("a folder");
    let source = McpSource::new(service.options(folder.path()));
    sign_in(&source).await;
    let saved = list(&source).await.saved.expect("a text");
    service.refuses_list.store(true, Ordering::Relaxed);
    let refusal = source.list().await.expect_err("the list is refused");
    assert_eq!(refusal, "needs sign-in: `reknit tools sign-in service`");
    assert_eq!(source.restore(&saved).expect_err("its tools stay hidden"), "nobody is signed in");
    service.refuses_list.store(false, Ordering::Relaxed);
    sign_in(&source).await;
    assert_eq!(list(&source).await.capabilities.len(), 1);
}

/// Signs in as a person would who agrees at once.
async fn sign_in(source: &McpSource) {
    let sign_in = source.sign_in(REDIRECT).await.expect("the server says how");
    let asked = parameters(sign_in.url().split_once('?').expect("a query").1);
    let callback = format!("{REDIRECT}?code=code-1&state={}", asked["state"]);
    sign_in.finish(&callback).await.expect("the code is exchanged");
}

#[tokio::test]
async fn a_server_without_oauth_has_no_sign_in() {
    let source = McpSource::new(crate::support::endpoint("http://127.0.0.1:9/mcp"));
    let problem = source.sign_in(REDIRECT).await.expect_err("there is no OAuth");
    assert_eq!(problem, "no OAuth is configured for this server");
}
