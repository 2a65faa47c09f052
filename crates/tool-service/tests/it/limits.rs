//! The limits of a service.

use std::time::Duration;

use reknit_tool_service::ServiceLimits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{Caller, bank, start_slow};

#[tokio::test]
async fn a_body_beyond_the_size_limit_is_refused() {
    let (_running, caller, _) = bank().await;
    let body = |size: usize| {
        let frame = r#"{"to":"","amount":1}"#.len();
        format!(r#"{{"to":"{}","amount":1}}"#, "x".repeat(size - frame))
    };
    assert_eq!(caller.call("echo", &body(1024 * 1024)).await.status, 200);
    let answer = caller.call("echo", &body(1024 * 1024 + 1)).await;
    assert_eq!((answer.status, answer.code().as_str()), (413, "PAYLOAD_TOO_LARGE"));
}

#[tokio::test]
async fn a_handler_is_stopped_at_its_time_limit() {
    let slow = start_slow(ServiceLimits { call_timeout: Duration::from_millis(20), ..ServiceLimits::default() }).await;
    let answer = Caller::new(&slow.running).call("wait", "{}").await;
    insta::assert_snapshot!(answer.to_snapshot(), @r#"
    503
    {
      "success": false,
      "error": {
        "code": "REQUEST_TIMEOUT",
        "message": "the capability did not finish within 20ms",
        "category": "SERVICE_ERROR"
      }
    }
    "#);
}

#[tokio::test]
async fn a_body_that_does_not_arrive_in_time_is_refused() {
    let slow = start_slow(ServiceLimits { body_timeout: Duration::from_millis(20), ..ServiceLimits::default() }).await;
    let mut stream = TcpStream::connect(slow.running.address()).await.unwrap();
    let head = "POST /api/capabilities/wait HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 9\r\n\r\n{";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("REQUEST_TIMEOUT"), "{answer}");
}

#[tokio::test]
async fn calls_beyond_the_concurrency_limit_are_refused_at_once() {
    let slow = start_slow(ServiceLimits { concurrent_calls: 1, ..ServiceLimits::default() }).await;
    let first = slow.begin_call().await;
    let refused = Caller::new(&slow.running).call("wait", "{}").await;
    slow.release.notify_one();
    assert_eq!(first.await.unwrap().unwrap().status(), 200);
    assert_eq!((refused.status, refused.code().as_str()), (503, "SERVICE_UNAVAILABLE"));
    assert_eq!(refused.error().retryable.as_bool(), Some(true));
}
