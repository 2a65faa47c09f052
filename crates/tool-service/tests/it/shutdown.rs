//! Panics, disconnected callers and the shutdown of a service.

use std::sync::Arc;
use std::time::Duration;

use reknit_tool_service::{ServiceLimits, ShutdownError};

use crate::support::{bank, client, start_slow};

#[tokio::test]
async fn a_panic_is_a_service_error_and_the_service_stays_up() {
    let (_running, caller, _) = bank().await;
    let answer = caller.call("pay", r#"{"to":"crash","amount":1}"#).await;
    insta::assert_snapshot!(answer.to_snapshot(), @r#"
    500
    {
      "success": false,
      "error": {
        "code": "INTERNAL_ERROR",
        "message": "the capability panicked",
        "category": "SERVICE_ERROR"
      }
    }
    "#);
    assert_eq!(caller.call("pay", r#"{"to":"bob","amount":1}"#).await.status, 200);
}

#[tokio::test]
async fn a_call_runs_to_its_end_after_its_caller_has_disconnected() {
    let slow = start_slow(ServiceLimits::default()).await;
    let call = slow.begin_call().await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    slow.release.notify_one();
    slow.done.notified().await;
}

#[tokio::test]
async fn a_shutdown_waits_for_running_calls() {
    let slow = start_slow(ServiceLimits::default()).await;
    let call = slow.begin_call().await;
    let url = slow.running.base_url() + "/health";
    let release = Arc::clone(&slow.release);
    let (shutdown, response) = tokio::join!(slow.running.shutdown(), async move {
        release.notify_one();
        call.await.unwrap().unwrap()
    });
    shutdown.unwrap();
    assert_eq!(response.status(), 200);
    assert!(client().get(url).send().await.unwrap_err().is_connect(), "the port is closed");
}

#[tokio::test]
async fn a_shutdown_aborts_calls_that_do_not_end_in_time() {
    let slow = start_slow(ServiceLimits { drain_timeout: Duration::from_millis(20), ..ServiceLimits::default() }).await;
    let call = slow.begin_call().await;
    let error = slow.running.shutdown().await.unwrap_err();
    assert!(matches!(error, ShutdownError::CallsAborted { .. }), "{error}");
    let body = call.await.unwrap().unwrap().text().await.unwrap();
    assert!(body.contains("what it has done is not known"), "{body}");
}
