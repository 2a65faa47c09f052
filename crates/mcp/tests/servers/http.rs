//! A server with streamable HTTP.

use reknit_mcp::{McpConnection, McpEndpoint, McpOptions, McpSource};
use reknit_protocol::{CallTool, Delivery, ReplyBody, SideEffect, ToolReply, TransportFailure, TransportKind, Value};
use reknit_tools::ToolSource as _;

use crate::scripted_service::{Script, start};
use crate::support::{call, endpoint, json, list, route};

async fn echo(options: McpOptions, parameters: &str) -> Result<ToolReply, TransportFailure> {
    let source = McpSource::new(options);
    let echo = route(&list(&source).await, "echo");
    echo.call(&call("echo", parameters), None).await
}

#[tokio::test]
async fn a_service_receives_and_returns_exactly_what_was_sent_in_every_form_of_answer() {
    let parameters = r#"{"id":12345678901234567890123,"price":1.10,"far":1e999,"text":"ü\n","list":[null,true,{}]}"#;
    for script in [Script::Json, Script::Events, Script::Modern] {
        let (url, _) = start(script).await;
        let reply = echo(endpoint(&url), parameters).await.expect("it is answered");
        assert_eq!(json(reply).to_string(), parameters, "case: {script:?}");
    }
}

#[tokio::test]
async fn a_service_without_a_handshake_is_told_version_and_method_with_every_request() {
    let (url, received) = start(Script::Modern).await;
    echo(endpoint(&url), "{}").await.expect("it is answered");
    let received = received.lock().expect("no test has panicked");
    assert_eq!(received.methods, ["server/discover", "tools/list", "tools/call"]);
    let headers = received.headers.last().expect("there was a call");
    assert_eq!(headers["mcp-protocol-version"], "2026-07-28");
    assert_eq!(headers["mcp-method"], "tools/call");
    assert_eq!(headers["mcp-name"], "echo");
}

#[tokio::test]
async fn headers_and_token_are_sent_with_every_request_and_shown_nowhere() {
    let (url, received) = start(Script::Json).await;
    let connection = McpConnection::Http(McpEndpoint {
        url,
        headers: vec![("X-Tenant".to_owned(), "tenant-secret".into())],
        bearer: Some("token-secret".into()),
        ..McpEndpoint::default()
    });
    let options = McpOptions::new("service", connection);
    assert!(!format!("{options:?}").contains("-secret"));
    let source = McpSource::new(options);
    let echo = route(&list(&source).await, "echo");
    let reply = echo.call(&call("echo", r#"{"a":"token-secret"}"#), None).await.expect("it is answered");
    assert_eq!(json(reply).to_string(), r#"{"a":"[redacted]"}"#, "a secret does not come back");
    assert!(!format!("{source:?} {echo:?}").contains("-secret"));
    for headers in &received.lock().expect("no test has panicked").headers {
        assert_eq!(headers["authorization"], "Bearer token-secret");
        assert_eq!(headers["x-tenant"], "tenant-secret");
    }
}

#[tokio::test]
async fn a_service_that_refuses_is_reported_with_its_status() {
    for status in [401, 429, 503, 302] {
        let (url, _) = start(Script::Status(status)).await;
        let problem = McpSource::new(endpoint(&url)).list().await.expect_err("it refuses");
        assert_eq!(problem, format!("it answered with status {status}: no access"));
    }
}

#[tokio::test]
async fn the_status_of_a_call_is_the_status_of_its_reply() {
    let (url, _) = start(Script::BusyCalls).await;
    let reply = echo(endpoint(&url), "{}").await.expect("it is answered");
    assert_eq!(
        reply,
        ToolReply { status: 429, retry_after_ms: Some(7_000), body: ReplyBody::Text("busy".to_owned()), job: None }
    );
}

#[tokio::test]
async fn a_service_that_forgot_its_session_gets_a_new_one_and_the_call_once_more() {
    let (url, received) = start(Script::ForgetsSession).await;
    let reply = echo(endpoint(&url), r#"{"a":1}"#).await.expect("it is answered");
    assert_eq!(json(reply), Value::parse(r#"{"a":1}"#).expect("it is JSON"));
    let received = received.lock().expect("no test has panicked");
    let calls = received.methods.iter().filter(|method| *method == "tools/call").count();
    let handshakes = received.methods.iter().filter(|method| *method == "initialize").count();
    assert_eq!((calls, handshakes), (2, 2));
}

#[tokio::test]
async fn answers_that_cannot_be_used_are_failures_of_their_kind() {
    for (script, kind, message) in [
        (Script::Endless, TransportKind::TooLarge, "its answer is larger than 100000 bytes"),
        (Script::Cut, TransportKind::Reset, "it broke the connection"),
        (Script::Page, TransportKind::Unreadable, "its content type is `text/html`"),
    ] {
        let (url, _) = start(script).await;
        let options = McpOptions { max_message: 100_000, ..endpoint(&url) };
        let failure = echo(options, "{}").await.expect_err("it cannot be used");
        assert_eq!((failure.kind, failure.delivery), (kind, Delivery::Possible), "case: {script:?}");
        assert!(failure.message.contains(message), "case: {script:?}: {failure}");
    }
}

#[tokio::test]
async fn a_service_that_is_not_there_was_sent_nothing() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://user:pass-secret@{}/mcp?key=query-secret", listener.local_addr().expect("an address"));
    drop(listener);
    let source = McpSource::new(endpoint(&url));
    assert!(!source.address().contains("secret"), "{}", source.address());
    let problem = source.list().await.expect_err("nobody listens");
    assert!(problem.starts_with("it cannot be reached: "), "{problem}");
    assert!(!problem.contains("secret"), "{problem}");
}

#[tokio::test]
async fn an_address_that_is_no_url_is_reported() {
    let problem = McpSource::new(endpoint("file:///etc/passwd")).list().await.expect_err("it is no service");
    assert_eq!(problem, "the scheme of the URL must be http or https");
}

#[tokio::test]
async fn a_call_that_may_change_something_gets_a_connection_of_its_own() {
    let (url, received) = start(Script::Json).await;
    let source = McpSource::new(endpoint(&url));
    let echo = route(&list(&source).await, "echo");
    let read = CallTool { side_effect: SideEffect::Read, ..call("echo", "{}") };
    for call in [&read, &read, &call("echo", "{}"), &call("echo", "{}")] {
        echo.call(call, None).await.expect("it is answered");
    }
    let received = received.lock().expect("no test has panicked");
    let Some(&[first_read, second_read, first, second]) = received.peers.last_chunk::<4>() else {
        panic!("four calls")
    };
    assert_eq!(first_read, second_read);
    assert_ne!(first, second_read);
    assert_ne!(first, second);
}
