//! Servers that say no.

use reknit_dialogue::ErrorClass;
use reknit_models::Target;
use serde_json::json;

use crate::server::{Act, STOP, Server, chunk, delta, stream_head};
use crate::{ask, failure};

const JSON: &str = "content-type: application/json\r\n";

#[tokio::test]
async fn each_class_of_error_comes_with_the_words_of_the_server() {
    let error = |message: &str, kind: &str, code: &str| {
        json!({"error": {"message": message, "type": kind, "code": code}}).to_string()
    };
    for (status, body, expected) in [
        ("401 Unauthorized", error("wrong key", "", "invalid_api_key"), "not allowed (HTTP 401): wrong key"),
        ("403 Forbidden", "{\"detail\":\"go away\"}".into(), "not allowed (HTTP 403): go away"),
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
            "network error (HTTP 502): a web page: 502 Bad Gateway",
        ),
        ("504 Gateway Timeout", String::new(), "timed out (HTTP 504): Gateway Timeout"),
        (
            "400 Bad Request",
            error("This model's maximum context length is 10 tokens", "", ""),
            "too long for the model (HTTP 400): This model's maximum context length is 10 tokens",
        ),
        ("400 Bad Request", error("no", "", "content_filter"), "refused for its content (HTTP 400): no"),
    ] {
        let server = Server::responding(status, JSON, &body).await;
        for target in [server.target(), server.target_in_one_piece()] {
            let failure = failure(target).await;
            assert_eq!(failure.to_string(), expected);
            assert_eq!(failure.usage, None, "a refused request costs nothing");
        }
    }
}

#[tokio::test]
async fn the_wait_that_a_server_asks_for_is_kept() {
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
async fn an_error_inside_an_answer_or_a_stream_is_an_error() {
    let body = json!({"error": {"message": "slowly", "code": 429}}).to_string();
    let server = Server::responding("200 OK", JSON, &body).await;
    let failed = failure(server.target_in_one_piece()).await;
    assert_eq!((failed.to_string().as_str(), failed.usage), ("rate limited: slowly", None));

    let server = Server::streaming(&format!("{}data: {body}\n\n{STOP}", delta("hal"))).await;
    let failed = failure(server.target()).await;
    assert_eq!(failed.to_string(), "rate limited: slowly");
    assert_eq!(failed.usage.map(|usage| usage.output_tokens), Some(1), "what had arrived has been paid for");
}

#[tokio::test]
async fn a_key_that_a_server_quotes_is_not_shown() {
    let body = json!({"error": {"message": "bad key sk-top-secret!"}}).to_string();
    let server = Server::responding("401 Unauthorized", JSON, &body).await;
    let target = Target { key: Some("sk-top-secret".into()), ..server.target() };
    assert_eq!(failure(target).await.to_string(), "not allowed (HTTP 401): bad key [redacted]!");

    // In the place of an answer, too.
    let server = Server::responding("200 OK", JSON, "sk-top-secret").await;
    let target = Target { key: Some("sk-top-secret".into()), ..server.target() };
    assert!(!failure(target).await.message.contains("secret"));

    // And in what had arrived of one.
    let server = Server::new([stream_head(), chunk(&delta("it is sk-top-secret")), Act::Reset]).await;
    let target = Target { key: Some("sk-top-secret".into()), ..server.target() };
    assert_eq!(failure(target).await.partial, "it is [redacted]");
}

#[tokio::test]
async fn the_words_of_a_server_are_cut_to_a_length() {
    let server = Server::responding("400 Bad Request", "", &"x".repeat(100_000)).await;
    assert!(failure(server.target()).await.message.len() < 1_000);
}

#[tokio::test]
async fn a_refusal_whose_body_never_comes_is_a_refusal_all_the_same() {
    let head = b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 9\r\n\r\n".to_vec();
    for last in [Act::Reset, Act::Silence] {
        let server = Server::new([Act::Send(head.clone()), last]).await;
        let target = server.target_within(|limits| limits.idle = std::time::Duration::from_millis(50));
        assert_eq!(failure(target).await.to_string(), "not allowed (HTTP 401): Unauthorized");
    }
}

#[tokio::test]
async fn a_refusal_without_end_is_read_to_a_length() {
    let head = b"HTTP/1.1 500 Oh\r\n\r\n".to_vec();
    let server = Server::new([Act::Send(head), Act::Repeat(vec![b'x'; 1024])]).await;
    assert_eq!(failure(server.target()).await.class, ErrorClass::NetworkError);
}

#[tokio::test]
async fn a_refusal_by_the_model_comes_with_its_words() {
    let refusal = "data: {\"choices\":[{\"delta\":{\"refusal\":\"I cannot.\"},\"finish_reason\":\"stop\"}]}\n\n";
    let server = Server::new([stream_head(), chunk(refusal), chunk("")]).await;
    let answer = ask(server.target()).await.0.unwrap();
    assert_eq!(answer.words().unwrap_err().to_string(), "refused for its content: I cannot.");
}
