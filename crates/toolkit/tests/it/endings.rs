//! How calls and services end.

use std::sync::Arc;
use std::time::Duration;

use reknit_protocol::{Effect, ToolError};
use reknit_toolkit::{CallContext, Capability, Limits, Running, Service, ShutdownError};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::Notify;

use crate::support::{Caller, bank, client};

#[tokio::test]
async fn a_panic_is_an_error_of_the_service_and_the_service_lives_on() {
    let (_running, caller, _) = bank().await;
    let answer = caller.call("pay", r#"{"to":"crash","amount":1}"#).await;
    insta::assert_snapshot!(answer.shown(), @r#"
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

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

struct Slow {
    running: Running,
    started: Arc<Notify>,
    release: Arc<Notify>,
    done: Arc<Notify>,
}

async fn slow(limits: Limits) -> Slow {
    let (started, release, done) = (Arc::new(Notify::new()), Arc::new(Notify::new()), Arc::new(Notify::new()));
    let wait = {
        let signals = (Arc::clone(&started), Arc::clone(&release), Arc::clone(&done));
        move |_: CallContext, _: Nothing| {
            let (started, release, done) = signals.clone();
            async move {
                started.notify_one();
                release.notified().await;
                done.notify_one();
                Ok::<_, ToolError>("done")
            }
        }
    };
    let service = Service::new("slow").capability(Capability::new("wait", Effect::Unsafe, wait)).limits(limits);
    Slow { running: service.start().await.unwrap(), started, release, done }
}

#[tokio::test]
async fn a_call_runs_to_its_end_although_its_caller_has_gone() {
    let slow = slow(Limits::default()).await;
    let call = tokio::spawn(Caller::new(&slow.running).request("wait", "{}").send());
    slow.started.notified().await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    slow.release.notify_one();
    slow.done.notified().await;
}

#[tokio::test]
async fn a_shutdown_waits_for_the_calls_that_run() {
    let slow = slow(Limits::default()).await;
    let call = tokio::spawn(Caller::new(&slow.running).request("wait", "{}").send());
    slow.started.notified().await;
    let url = slow.running.base_url() + "/health";
    let release = Arc::clone(&slow.release);
    let (ended, response) = tokio::join!(slow.running.shutdown(), async move {
        release.notify_one();
        call.await.unwrap().unwrap()
    });
    ended.unwrap();
    assert_eq!(response.status(), 200);
    assert!(client().get(url).send().await.unwrap_err().is_connect(), "nobody listens any more");
}

#[tokio::test]
async fn a_shutdown_cuts_what_does_not_end_and_says_so() {
    let slow = slow(Limits { drain: Duration::from_millis(20), ..Limits::default() }).await;
    let call = tokio::spawn(Caller::new(&slow.running).request("wait", "{}").send());
    slow.started.notified().await;
    let error = slow.running.shutdown().await.unwrap_err();
    assert!(matches!(error, ShutdownError::Cut { .. }), "{error}");
    // Cut calls say that nobody knows what they did.
    let body = call.await.unwrap().unwrap().text().await.unwrap();
    assert!(body.contains("what it has done is not known"), "{body}");
}
