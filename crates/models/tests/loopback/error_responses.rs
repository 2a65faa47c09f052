//! Servers that respond with an error.

use reknit_model_api::ErrorClass;
use reknit_models::Target;
use serde_json::json;

use crate::server::{STOP, Server, ServerAction, chunk, delta, stream_head};
use crate::{ask, failure};

const JSON: &str = "content-type: application/json\r\n";

#[tokio::test]
async fn each_error_class_has_the_message_of_the_server() {
    let error = |message: &str, kind: &str, code: &str| {
        json!({"error": {"message": message, "type": kind, "code": code}}).to_string()
    };
    for (status, body, expected) in [
        ("401 Unauthorized", error("wrong key", "", "invalid_api_key"), "unauthorized (HTTP 401): wrong key"),
        ("403 Forbidden", "{\"detail\":\"go away\"}".into(), "unauthorized (HTTP 403): go away"),
        ("429 Too Many Requests", error("pay", "", "insufficient_quota"), "quota exceeded (HTTP 429): pay"),
        ("402 Payment Required", String::new(), "quota exceeded (HTTP 402): Payment Required"),
        ("429 Too Many Requests", error("slowly", "requests", ""), "rate limited (HTTP 429): slowly"),
        ("404 Not Found", error("no `m-1`", "", "model_not_found"), "model error (HTTP 404): no `m-1`"),
        ("422 Unprocessable", "no".into(), "model error (HTTP 422): no"),
        (
            "400 Bad Request",
            error("'response_format' is not supported", "invalid_request_error", ""),
            "model error (HTTP 400): 'response_format' is not supported",
        ),
        (
            "502 Bad Gateway",
            "<html><title>502 Bad Gateway</title><h1>nginx</h1></html>".into(),
            "network error (HTTP 502): an HTML page: 502 Bad Gateway",
        ),
        ("504 Gateway Timeout", String::new(), "timed out (HTTP 504): Gateway Timeout"),
        (
            "400 Bad Request",
            error("This model's maximum context length is 10 tokens", "", ""),
            "too long for the model (HTTP 400): This model's maximum context length is 10 tokens",
        ),
        ("400 Bad Request", error("no", "", "content_filter"), "refused by a content filter (HTTP 400): no"),
    ] {
        let server = Server::responding(status, JSON, &body).await;
        for target in [server.target(), server.whole_target()] {
            let failure = failure(target).await;
            assert_eq!(failure.to_string(), expected);
            assert_eq!(failure.usage, None, "a refused request is not billed");
        }
    }
}

#[tokio::test]
async fn the_retry_after_of_a_server_is_kept() {
    let server = Server::responding("429 Too Many Requests", "retry-after: 2\r\n", "{}").await;
    assert_eq!(failure(server.target()).await.retry_after_ms, Some(2_000));
    let dates = "date: Sun, 06 Nov 1994 08:49:30 GMT\r\nretry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    let server = Server::responding("503 Service Unavailable", dates, "").await;
    assert_eq!(failure(server.target()).await.retry_after_ms, Some(7_000));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let mut elsewhere = Server::new([]).await;
    let location = format!("location: {}/steal\r\n", elsewhere.target().base_url);
    let server = Server::responding("307 Temporary Redirect", &location, "").await;
    let failure = failure(server.target()).await;
    assert_eq!(failure.class, ErrorClass::InvalidResponse);
    assert!(failure.message.ends_with("/v1/steal; redirects are not followed"), "{failure}");
    assert_eq!(elsewhere.requests(), 0);
}

#[tokio::test]
async fn an_error_in_a_successful_response_or_in_a_stream_is_a_failure() {
    let body = json!({"error": {"message": "slowly", "code": 429}}).to_string();
    let server = Server::responding("200 OK", JSON, &body).await;
    let failed = failure(server.whole_target()).await;
    assert_eq!((failed.to_string().as_str(), failed.usage), ("rate limited: slowly", None));

    let server = Server::streaming(&format!("{}data: {body}\n\n{STOP}", delta("hal"))).await;
    let failed = failure(server.target()).await;
    assert_eq!(failed.to_string(), "rate limited: slowly");
    assert_eq!(failed.usage.map(|usage| usage.output_tokens), Some(1), "what had arrived is billed");
}

#[tokio::test]
async fn a_key_that_a_server_quotes_is_redacted() {
    let body = json!({"error": {"message": "bad key sk-top-secret!"}}).to_string();
    let server = Server::responding("401 Unauthorized", JSON, &body).await;
    let target = Target { key: Some("sk-top-secret".into()), ..server.target() };
    assert_eq!(failure(target).await.to_string(), "unauthorized (HTTP 401): bad key [redacted]!");

    // Also in a body that is not an answer.
    let server = Server::responding("200 OK", JSON, "sk-top-secret").await;
    let target = Target { key: Some("sk-top-secret".into()), ..server.target() };
    assert!(!failure(target).await.message.contains("secret"));

    // And in a partial answer.
    let server = Server::new([stream_head(), chunk(&delta("it is sk-top-secret")), ServerAction::Reset]).await;
    let target = Target { key: Some("sk-top-secret".into()), ..server.target() };
    assert_eq!(failure(target).await.partial, "it is [redacted]");
}

#[tokio::test]
async fn the_message_of_a_server_is_cut_to_a_largest_length() {
    let server = Server::responding("400 Bad Request", "", &"x".repeat(100_000)).await;
    assert!(failure(server.target()).await.message.len() < 1_000);
}

#[tokio::test]
async fn an_error_status_counts_even_if_its_body_never_arrives() {
    let head = b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 9\r\n\r\n".to_vec();
    for last in [ServerAction::Reset, ServerAction::Silence] {
        let server = Server::new([ServerAction::Send(head.clone()), last]).await;
        let target = server.target_with_timeouts(|timeouts| timeouts.idle = std::time::Duration::from_millis(50));
        assert_eq!(failure(target).await.to_string(), "unauthorized (HTTP 401): Unauthorized");
    }
}

#[tokio::test]
async fn an_endless_error_body_is_read_up_to_a_largest_length() {
    let head = b"HTTP/1.1 500 Oh\r\n\r\n".to_vec();
    let server = Server::new([ServerAction::Send(head), ServerAction::Repeat(vec![b'x'; 1024])]).await;
    assert_eq!(failure(server.target()).await.class, ErrorClass::NetworkError);
}

#[tokio::test]
async fn a_refusal_of_the_model_has_its_text_as_the_message() {
    let refusal = "data: {\"choices\":[{\"delta\":{\"refusal\":\"I cannot.\"},\"finish_reason\":\"stop\"}]}\n\n";
    let server = Server::new([stream_head(), chunk(refusal), chunk("")]).await;
    let answer = ask(server.target()).await.0.unwrap();
    assert_eq!(answer.require_text().unwrap_err().to_string(), "refused by a content filter: I cannot.");
}
