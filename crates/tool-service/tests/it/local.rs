//! Capabilities that are called in their own process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use reknit_protocol::{Category, Object, SideEffect, ToolError, Value};
use reknit_tool_service::{CallContext, CapabilityDefinition, IdempotencyKey, LocalCapability};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Amount {
    amount: u32,
}

/// A capability that counts its calls, and panics if the amount is 0.
fn counting(effect: SideEffect) -> (LocalCapability, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&calls);
    let handler = move |_: CallContext, amount: Amount| {
        let call = counter.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            assert!(amount.amount > 0, "on purpose");
            Ok::<_, ToolError>(call)
        }
    };
    (LocalCapability::new(CapabilityDefinition::new("pay", effect, handler)).expect("a valid schema"), calls)
}

fn amount(amount: impl Into<Value>) -> Value {
    Value::Object(Object::from([("amount", amount.into())]))
}

fn key() -> IdempotencyKey {
    IdempotencyKey::parse("key-1").expect("a key")
}

#[tokio::test]
async fn a_keyed_capability_runs_once_for_all_calls_under_one_key() {
    let (capability, calls) = counting(SideEffect::Keyed);
    let first = capability.call(amount(5), Some(key())).await;
    assert_eq!(first.status, 200);
    assert_eq!(capability.call(amount(5), Some(key())).await, first);
    assert_eq!(capability.call(amount(6), Some(key())).await.status, 409, "another request under the same key");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_keyed_call_that_was_refused_by_a_rate_limit_runs_again_under_its_key() {
    let calls = AtomicU32::new(0);
    let handler = move |_: CallContext, _: Amount| {
        let is_first = calls.fetch_add(1, Ordering::SeqCst) == 0;
        let refused = || ToolError::new("BUSY", "too many payments", Category::RateLimit);
        async move { if is_first { Err(refused()) } else { Ok("paid") } }
    };
    let definition = CapabilityDefinition::new("pay", SideEffect::Keyed, handler);
    let capability = LocalCapability::new(definition).expect("a valid schema");
    assert_eq!(capability.call(amount(5), Some(key())).await.status, 429);
    assert_eq!(capability.call(amount(5), Some(key())).await.status, 200);
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_before_the_handler() {
    let (capability, calls) = counting(SideEffect::Read);
    let reply = capability.call(amount("many"), None).await;
    assert_eq!(reply.status, 400);
    assert_eq!(calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_panic_is_a_failed_call_whose_outcome_is_unknown() {
    for effect in [SideEffect::Read, SideEffect::Keyed, SideEffect::Unsafe] {
        let reply = counting(effect).0.call(amount(0), Some(key())).await;
        assert_eq!(reply.status, 500, "{effect:?}");
        let error = reply.body.to_value().get("error").cloned().expect("an error");
        assert_eq!(error.get("message").and_then(Value::as_str), Some("the capability panicked"));
        assert_eq!(error.get("retryable"), None);
    }
}
