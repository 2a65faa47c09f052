//! The limits of a service.

use std::sync::Arc;
use std::time::Duration;

use reknit_protocol::{SideEffect, ToolError};
use reknit_tool_service::{CallContext, CapabilityDefinition, Service, ServiceLimits};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use crate::support::{Caller, bank};

#[derive(Deserialize, JsonSchema)]
struct NoArguments {}

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
    let never = |_: CallContext, _: NoArguments| std::future::pending::<Result<(), ToolError>>();
    let running = Service::new("stuck")
        .capability(CapabilityDefinition::new("never", SideEffect::Read, never))
        .limits(ServiceLimits { call_timeout: Duration::from_millis(20), ..ServiceLimits::default() })
        .start()
        .await
        .unwrap();
    let answer = Caller::new(&running).call("never", "{}").await;
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
    let never = |_: CallContext, _: NoArguments| std::future::pending::<Result<(), ToolError>>();
    let running = Service::new("patient")
        .capability(CapabilityDefinition::new("never", SideEffect::Read, never))
        .limits(ServiceLimits { body_timeout: Duration::from_millis(20), ..ServiceLimits::default() })
        .start()
        .await
        .unwrap();
    let mut stream = TcpStream::connect(running.address()).await.unwrap();
    let head = "POST /api/capabilities/never HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 9\r\n\r\n{";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(answer.contains("REQUEST_TIMEOUT"), "{answer}");
}

#[tokio::test]
async fn calls_beyond_the_concurrency_limit_are_refused_at_once() {
    let (started, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let wait = {
        let (started, release) = (Arc::clone(&started), Arc::clone(&release));
        move |_: CallContext, _: NoArguments| {
            let (started, release) = (Arc::clone(&started), Arc::clone(&release));
            async move {
                started.notify_one();
                release.notified().await;
                Ok::<_, ToolError>("done")
            }
        }
    };
    let running = Service::new("narrow")
        .capability(CapabilityDefinition::new("wait", SideEffect::Read, wait))
        .limits(ServiceLimits { concurrent_calls: 1, ..ServiceLimits::default() })
        .start()
        .await
        .unwrap();
    let caller = Caller::new(&running);
    let second = async {
        started.notified().await;
        let refused = caller.call("wait", "{}").await;
        release.notify_one();
        refused
    };
    let (first, refused) = tokio::join!(caller.call("wait", "{}"), second);
    assert_eq!(first.status, 200);
    assert_eq!((refused.status, refused.code().as_str()), (503, "SERVICE_UNAVAILABLE"));
    assert_eq!(refused.error().retryable.as_bool(), Some(true));
}
