//! Calls under an idempotency key.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use reknit_protocol::{SideEffect, ToolError};
use reknit_tool_service::{CallContext, CapabilityDefinition, IdempotencyLimits, Service};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::Notify;

use crate::support::{Caller, bank};

const PAY: &str = r#"{"to":"bob","amount":5}"#;

#[tokio::test]
async fn a_repeated_call_gets_the_first_answer_and_does_not_run() {
    let (_running, caller, count) = bank().await;
    let first = caller.call_with_key("k-1", "pay", PAY).await;
    assert_eq!(first.body, r#"{"success":true,"data":{"nth":1,"key":"k-1"}}"#);
    // The same request in another spelling.
    let again = caller.call_with_key("k-1", "pay", r#"{ "amount": 5.0, "to": "bob" }"#).await;
    assert_eq!((again.status, again.body), (first.status, first.body));
    assert_eq!(count.load(Ordering::SeqCst), 1);
    caller.call_with_key("k-2", "pay", PAY).await;
    caller.call("pay", PAY).await;
    assert_eq!(count.load(Ordering::SeqCst), 3, "a call with another key and a call without one both run");
}

#[tokio::test]
async fn a_key_that_was_used_with_another_request_is_refused() {
    let (_running, caller, count) = bank().await;
    caller.call_with_key("k-1", "pay", PAY).await;
    insta::assert_snapshot!(caller.call_with_key("k-1", "pay", r#"{"to":"eve","amount":5}"#).await.to_snapshot(), @r#"
    409
    {
      "success": false,
      "error": {
        "code": "IDEMPOTENCY_KEY_REUSED",
        "message": "the idempotency key has been used with other parameters",
        "category": "INPUT_ERROR",
        "retryable": false,
        "details": {
          "idempotency_key": "k-1",
          "hint": "use a new key for a new request"
        }
      }
    }
    "#);
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_retryable_error_is_not_remembered() {
    let (_running, caller, count) = bank().await;
    let busy = r#"{"to":"busy","amount":5}"#;
    let answer = caller.call_with_key("k-1", "pay", busy).await;
    assert_eq!((answer.status, answer.headers["retry-after"].to_str().unwrap()), (429, "7"));
    caller.call_with_key("k-1", "pay", busy).await;
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn an_error_that_may_have_had_an_effect_is_remembered() {
    for (to, status) in [("nobody", 404), ("crash", 500)] {
        let (_running, caller, count) = bank().await;
        let body = format!(r#"{{"to":"{to}","amount":5}}"#);
        let first = caller.call_with_key("k-1", "pay", &body).await;
        let again = caller.call_with_key("k-1", "pay", &body).await;
        assert_eq!(first.status, status, "{to}");
        assert_eq!((again.status, again.body), (first.status, first.body), "{to}");
        assert_eq!(count.load(Ordering::SeqCst), 1, "{to}");
    }
}

#[tokio::test]
async fn a_capability_that_is_not_keyed_ignores_the_key() {
    let (_running, caller, _) = bank().await;
    assert_eq!(caller.call_with_key("k-1", "echo", PAY).await.status, 200);
    assert_eq!(caller.call_with_key("k-1", "echo", r#"{"to":"eve","amount":5}"#).await.status, 200);
}

#[tokio::test]
async fn an_invalid_key_is_refused() {
    let (_running, caller, _) = bank().await;
    let answer = caller.call_with_key("two words", "pay", PAY).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_REQUEST"));
}

#[derive(Deserialize, JsonSchema)]
struct NoArguments {}

#[tokio::test]
async fn a_repeated_call_waits_for_the_running_one() {
    let (started, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let count = Arc::new(AtomicUsize::new(0));
    let slow = {
        let (started, release, count) = (Arc::clone(&started), Arc::clone(&release), Arc::clone(&count));
        move |_: CallContext, _: NoArguments| {
            let (started, release, count) = (Arc::clone(&started), Arc::clone(&release), Arc::clone(&count));
            async move {
                started.notify_one();
                release.notified().await;
                Ok::<_, ToolError>(count.fetch_add(1, Ordering::SeqCst))
            }
        }
    };
    let running = Service::new("slow")
        .capability(CapabilityDefinition::new("slow", SideEffect::Keyed, slow))
        .start()
        .await
        .unwrap();
    let caller = Caller::new(&running);
    let first = caller.call_with_key("k", "slow", "{}");
    let second = async {
        started.notified().await;
        let (second, ()) = tokio::join!(caller.call_with_key("k", "slow", "{}"), async { release.notify_one() });
        second
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first.body, r#"{"success":true,"data":0}"#);
    assert_eq!(second.body, first.body);
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_full_store_refuses_new_keys_and_keeps_the_old_ones() {
    let pay = async |_: CallContext, _: NoArguments| Ok::<_, ToolError>(1);
    let running = Service::new("small")
        .capability(CapabilityDefinition::new(
            "pay",
            SideEffect::Keyed,
            move |context: CallContext, args: NoArguments| pay(context, args),
        ))
        .idempotency_limits(IdempotencyLimits { entries: 2, ..IdempotencyLimits::default() })
        .start()
        .await
        .unwrap();
    let caller = Caller::new(&running);
    for key in ["a", "b"] {
        assert_eq!(caller.call_with_key(key, "pay", "{}").await.status, 200);
    }
    let refused = caller.call_with_key("c", "pay", "{}").await;
    assert_eq!((refused.status, refused.code().as_str()), (503, "IDEMPOTENCY_STORE_FULL"));
    assert_eq!(caller.call_with_key("a", "pay", "{}").await.status, 200);
}
