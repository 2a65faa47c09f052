//! What a key promises.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use reknit_protocol::{Effect, ToolError};
use reknit_toolkit::{CallContext, Capability, KeyLimits, Service};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::Notify;

use crate::support::{Caller, bank};

const PAY: &str = r#"{"to":"bob","amount":5}"#;

#[tokio::test]
async fn the_same_call_under_the_same_key_gets_the_same_answer_and_runs_once() {
    let (_running, caller, count) = bank().await;
    let first = caller.call_under("k-1", "pay", PAY).await;
    assert_eq!(first.body, r#"{"success":true,"data":{"nth":1,"key":"k-1"}}"#);
    // The same request, written differently.
    let again = caller.call_under("k-1", "pay", r#"{ "amount": 5.0, "to": "bob" }"#).await;
    assert_eq!((again.status, again.body), (first.status, first.body));
    assert_eq!(count.load(Ordering::SeqCst), 1);
    caller.call_under("k-2", "pay", PAY).await;
    caller.call("pay", PAY).await;
    assert_eq!(count.load(Ordering::SeqCst), 3, "another key and no key are other calls");
}

#[tokio::test]
async fn a_key_that_comes_with_another_request_is_refused() {
    let (_running, caller, count) = bank().await;
    caller.call_under("k-1", "pay", PAY).await;
    insta::assert_snapshot!(caller.call_under("k-1", "pay", r#"{"to":"eve","amount":5}"#).await.shown(), @r#"
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
async fn a_refusal_that_had_no_effect_is_not_remembered() {
    let (_running, caller, count) = bank().await;
    let busy = r#"{"to":"busy","amount":5}"#;
    let answer = caller.call_under("k-1", "pay", busy).await;
    assert_eq!((answer.status, answer.headers["retry-after"].to_str().unwrap()), (429, "7"));
    caller.call_under("k-1", "pay", busy).await;
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn an_error_that_does_not_deny_an_effect_is_remembered() {
    for (to, status) in [("nobody", 404), ("crash", 500)] {
        let (_running, caller, count) = bank().await;
        let body = format!(r#"{{"to":"{to}","amount":5}}"#);
        let first = caller.call_under("k-1", "pay", &body).await;
        let again = caller.call_under("k-1", "pay", &body).await;
        assert_eq!(first.status, status, "{to}");
        assert_eq!((again.status, again.body), (first.status, first.body), "{to}");
        assert_eq!(count.load(Ordering::SeqCst), 1, "{to}");
    }
}

#[tokio::test]
async fn a_key_means_nothing_to_a_capability_that_is_not_keyed() {
    let (_running, caller, _) = bank().await;
    assert_eq!(caller.call_under("k-1", "echo", PAY).await.status, 200);
    assert_eq!(caller.call_under("k-1", "echo", r#"{"to":"eve","amount":5}"#).await.status, 200);
}

#[tokio::test]
async fn a_key_that_is_none_is_refused() {
    let (_running, caller, _) = bank().await;
    let answer = caller.call_under("two words", "pay", PAY).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "INVALID_REQUEST"));
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[tokio::test]
async fn a_second_call_waits_for_the_first_one_that_still_runs() {
    let (started, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let count = Arc::new(AtomicUsize::new(0));
    let slow = {
        let (started, release, count) = (Arc::clone(&started), Arc::clone(&release), Arc::clone(&count));
        move |_: CallContext, _: Nothing| {
            let (started, release, count) = (Arc::clone(&started), Arc::clone(&release), Arc::clone(&count));
            async move {
                started.notify_one();
                release.notified().await;
                Ok::<_, ToolError>(count.fetch_add(1, Ordering::SeqCst))
            }
        }
    };
    let running = Service::new("slow").capability(Capability::new("slow", Effect::Keyed, slow)).start().await.unwrap();
    let caller = Caller::new(&running);
    let first = caller.call_under("k", "slow", "{}");
    let second = async {
        started.notified().await;
        let (second, ()) = tokio::join!(caller.call_under("k", "slow", "{}"), async { release.notify_one() });
        second
    };
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first.body, r#"{"success":true,"data":0}"#);
    assert_eq!(second.body, first.body);
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_full_memory_refuses_new_keys_and_keeps_its_promises() {
    let pay = async |_: CallContext, _: Nothing| Ok::<_, ToolError>(1);
    let running = Service::new("small")
        .capability(Capability::new("pay", Effect::Keyed, move |context: CallContext, args: Nothing| {
            pay(context, args)
        }))
        .remember(KeyLimits { entries: 2, ..KeyLimits::default() })
        .start()
        .await
        .unwrap();
    let caller = Caller::new(&running);
    for key in ["a", "b"] {
        assert_eq!(caller.call_under(key, "pay", "{}").await.status, 200);
    }
    let refused = caller.call_under("c", "pay", "{}").await;
    assert_eq!((refused.status, refused.code().as_str()), (503, "IDEMPOTENCY_STORE_FULL"));
    assert_eq!(caller.call_under("a", "pay", "{}").await.status, 200);
}
