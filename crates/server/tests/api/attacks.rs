//! Requests of somebody who wants something else than an answer.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use reknit_fakes::paced;
use reknit_runtime::telemetry::log::{Log, LogSettings};
use reknit_server::{Access, Scope, Token};
use reqwest::StatusCode;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tracing::level_filters::LevelFilter;

use crate::{Api, REFUND, bank, error_of, json_of, refunds_are_approved};

async fn with_token(scopes: &[Scope]) -> (Api, String) {
    let (text, hash) = Token::generate().expect("random numbers");
    let access = Access::Tokens(vec![Token::new("ann", hash, scopes)]);
    (Api::open(bank(), vec![refunds_are_approved()], access, 100).await, text)
}

/// Sends bytes as they are, and returns what comes back until the server closes the connection, or sends nothing more for a while.
async fn exchange(api: &Api, bytes: &str) -> String {
    let mut stream = TcpStream::connect(api.url.trim_start_matches("http://")).await.expect("a connection");
    stream.write_all(bytes.as_bytes()).await.expect("it is sent");
    let mut received = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        // A loaded machine may take long for the first byte; what follows it, is on its way then.
        let patience = if received.is_empty() { Duration::from_secs(30) } else { Duration::from_millis(500) };
        match tokio::time::timeout(patience, stream.read(&mut buffer)).await {
            Ok(Ok(read)) if read > 0 => received.extend_from_slice(&buffer[..read]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&received).into_owned()
}

fn statuses(received: &str) -> Vec<&str> {
    received.lines().filter_map(|line| line.strip_prefix("HTTP/1.1 ")).filter_map(|rest| rest.get(..3)).collect()
}

#[tokio::test]
async fn a_path_that_is_written_in_another_way_needs_the_same_token() {
    let (api, _) = with_token(&[Scope::Read]).await;
    for path in [
        "/v1/runs/",
        "//v1/runs",
        "/./v1/runs",
        "/health/../v1/runs",
        "/health/%2e%2e/v1/runs",
        "/v1/%72uns",
        "/v1/runs/..%2f..%2f..%2fetc%2fpasswd",
        "/health%00",
        "/health;/v1/runs",
        "/HEALTH",
        "/metrics",
        "/mcp",
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let received = exchange(&api, &request).await;
        // A browser is sent to the page that asks for a token.
        let asks_to_sign_in = statuses(&received) == ["303"] && received.contains("location: /sign-in?back=");
        assert!(statuses(&received) == ["401"] || asks_to_sign_in, "{path}: {received}");
    }
    let absolute = "GET http://localhost/v1/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(statuses(&exchange(&api, absolute).await), ["401"]);
}

#[tokio::test]
async fn a_token_without_the_scope_cannot_decide_under_another_spelling_of_the_path() {
    let (api, token) = with_token(&[Scope::Read, Scope::Run]).await;
    let body = json!({"plan": REFUND, "run_id": "r"});
    let run = api.post("/v1/runs", &body).bearer_auth(&token);
    let run = json_of(run, StatusCode::OK).await;
    let question = run["questions"][0]["question"].as_str().expect("a question").replace('/', "%2F");
    let decision = json!({"hash": run["questions"][0]["hash"], "decision": "approve"}).to_string();
    for path in ["decisions", "%64ecisions", "Decisions", "./decisions", "x/../decisions"] {
        let request = format!(
            "POST /v1/runs/r/{path}/{question} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{decision}",
            decision.len()
        );
        let received = exchange(&api, &request).await;
        assert!(matches!(statuses(&received)[..], ["403" | "404" | "405"]), "{path}: {received}");
    }
    assert_eq!(api.tool.calls().len(), 0);
}

#[tokio::test]
async fn a_second_request_that_hides_in_the_body_of_the_first_gets_no_rights_from_it() {
    let (api, token) = with_token(&[Scope::Read, Scope::Run]).await;
    let hidden = "GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let body = format!("0\r\n\r\n{hidden}");
    for headers in [
        format!("Content-Length: {}\r\nTransfer-Encoding: chunked\r\n", body.len()),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {}\r\n", body.len()),
        format!("Content-Length: 5\r\nContent-Length: {}\r\n", body.len()),
        "Content-Length: +5\r\n".to_owned(),
        "Transfer-Encoding: xchunked\r\n".to_owned(),
        "Transfer-Encoding : chunked\r\n".to_owned(),
    ] {
        let request = format!(
            "POST /v1/repair HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n{headers}\r\n{body}"
        );
        let received = exchange(&api, &request).await;
        let found = statuses(&received);
        assert!(found.iter().all(|status| status.starts_with('4')), "{headers}: {received}");
        assert!(!received.contains("\"runs\""), "{headers}: {received}");
    }
}

#[tokio::test]
async fn headers_and_bodies_that_are_too_large_are_refused() {
    let (api, token) = with_token(&[Scope::Read, Scope::Run]).await;
    let large = format!("GET /health HTTP/1.1\r\nHost: localhost\r\nX-Large: {}\r\n\r\n", "x".repeat(400_000));
    assert_eq!(statuses(&exchange(&api, &large).await), ["431"]);
    let body = json!({"text": "x".repeat(9 << 20)});
    let refused = error_of(api.post("/v1/repair", &body).bearer_auth(&token), StatusCode::PAYLOAD_TOO_LARGE).await;
    assert!(refused.contains("larger than"), "{refused}");
}

#[test]
fn a_client_that_sends_its_headers_or_its_body_too_slowly_is_let_go() {
    paced(async {
        let (api, token) = with_token(&[Scope::Read, Scope::Run]).await;
        let slow = |bytes: String| {
            let address = api.url.trim_start_matches("http://").to_owned();
            async move {
                let mut stream = TcpStream::connect(address).await.expect("a connection");
                stream.write_all(bytes.as_bytes()).await.expect("it is sent");
                let mut received = String::new();
                let ended = tokio::time::timeout(Duration::from_mins(5), stream.read_to_string(&mut received)).await;
                ended.expect("the server ends the connection").expect("text");
                received
            }
        };
        let headers = slow("GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ".to_owned()).await;
        assert!(!headers.contains("200 OK"), "{headers}");
        let body = slow(format!(
            "POST /v1/repair HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Length: 100\r\n\r\n{{"
        ))
        .await;
        assert_eq!(statuses(&body), ["408"], "{body}");
    });
}

#[tokio::test]
async fn markup_in_texts_stays_text() {
    let (api, token) = with_token(&[Scope::Read, Scope::Run]).await;
    let markup = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>";
    let plan = json!({"request": markup, "steps": [
        {"id": "refund", "tool": "bank/refund", "with": {"amount": markup}, "description": markup}]});
    let body = json!({"plan": plan, "request": markup, "run_id": "r"});
    let started = api.post("/v1/runs", &body).bearer_auth(&token).send().await.expect("an answer");
    assert_eq!(started.headers()["content-type"], "application/json");
    for path in ["/v1/runs/r", "/v1/runs", "/v1/runs/r/explain", "/v1/runs/r/graph.svg", "/v1/runs/%3Cscript%3E"] {
        let response = api.get(path).bearer_auth(&token).send().await.expect("an answer");
        let headers = response.headers().clone();
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert!(headers["content-security-policy"].to_str().expect("text").contains("default-src 'none'"), "{path}");
        let is_svg = headers["content-type"] == "image/svg+xml";
        assert!(is_svg || headers["content-type"] == "application/json", "{path}");
        let text = response.text().await.expect("a body");
        assert!(!is_svg || !text.contains("<script"), "{path}: {text}");
    }
}

#[tokio::test]
async fn an_address_in_a_request_is_never_fetched() {
    let inside = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let (api, token) = with_token(&[Scope::Admin]).await;
    let url = format!("http://{}", inside.local_addr().expect("an address"));
    let message = json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]);
    for (path, body) in [
        ("/v1/runs", json!({"plan": {"steps": [{"id": "a", "tool": format!("{url}/refund")}]}})),
        ("/v1/runs", json!({"agent": format!("---\ntools: [\"{url}\"]\n---\nAnswer."), "request": url})),
        ("/v1/runs", json!({"agent": format!("---\nmodels: [\"{url}\"]\n---\nAnswer."), "request": url})),
        ("/v1/runs", json!({"request": url, "metadata": {"callback_url": url, "url": url}})),
        ("/v1/plans/check", json!({"plan": {"steps": [{"id": "a", "plan": url}]}})),
        ("/v1/repair", json!({"text": "{}", "schema": {"$ref": format!("{url}/schema.json")}})),
        ("/v1/mend", json!({"tool": url, "schema": {"$ref": url}, "parameters": {}, "error": url})),
        ("/v1/chat/completions", json!({"model": url, "messages": message})),
        ("/orchestrate/natural", json!({"request": url, "metadata": {"callback": url}})),
    ] {
        let response = api.post(path, &body).bearer_auth(&token).send().await.expect("an answer");
        assert!(response.status().as_u16() < 500 || response.status() == 503, "{path} {body}: {}", response.status());
    }
    let connected = tokio::time::timeout(Duration::from_millis(200), inside.accept()).await;
    assert!(connected.is_err(), "nobody connects");
}

#[tokio::test]
async fn a_request_cannot_write_a_line_of_its_own_into_the_log() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&lines);
    let settings = LogSettings { level: LevelFilter::INFO, ..LogSettings::default() };
    let log = Log::new(settings, move |line| written.lock().expect("no panic").push(line.to_owned()));
    let _log = tracing::subscriber::set_default(log);
    let (api, token) = with_token(&[Scope::Admin]).await;
    let forged = "x%0A2026-01-01%20INFO%20forged%1B%5B2J";
    for path in [format!("/v1/runs/{forged}"), format!("/{forged}"), format!("/v1/runs/{forged}/events")] {
        api.get(&path).bearer_auth(&token).header("x-request-id", "a b").send().await.expect("an answer");
        api.get(&path).bearer_auth("x\ty").send().await.expect("an answer");
    }
    let decision = json!({"hash": "\nforged", "decision": "deny", "reason": "\nforged\u{1b}[2J"});
    let path = format!("/v1/runs/{forged}/decisions/{forged}");
    api.post(&path, &decision).bearer_auth(&token).send().await.expect("an answer");
    let body = json!({"plan": REFUND, "request": "\nforged\u{1b}[2J", "run_id": "r"});
    api.post("/v1/runs", &body).bearer_auth(&token).send().await.expect("an answer");
    let lines = lines.lock().expect("no panic").clone();
    assert!(lines.len() >= 8, "{lines:?}");
    for line in lines {
        let line = line.trim_end_matches('\n');
        assert!(!line.contains(['\n', '\r', '\u{1b}']), "{line:?}");
    }
}
