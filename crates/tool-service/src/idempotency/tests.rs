use reknit_protocol::{Category, Retryable, ToolError, Value};

use super::*;

fn claim(store: &IdempotencyStore, key: &str) -> Claim {
    store.claim(&"pay".into(), &IdempotencyKey::parse(key).unwrap(), "{}".to_owned())
}

fn first(store: &IdempotencyStore, key: &str) -> RunPermit {
    match claim(store, key) {
        Claim::First(permit) => permit,
        other => panic!("expected a permit, got {other:?}"),
    }
}

fn store() -> IdempotencyStore {
    IdempotencyStore::new(IdempotencyLimits::default())
}

#[tokio::test(start_paused = true)]
async fn a_reply_is_kept_until_its_retention_ends() {
    let store = store();
    first(&store, "a").finish(&Reply::data(Value::Null));
    tokio::time::advance(Duration::from_hours(24) - Duration::from_millis(1)).await;
    assert!(matches!(claim(&store, "a"), Claim::Repeated(_)));
    tokio::time::advance(Duration::from_millis(1)).await;
    first(&store, "a");
}

#[tokio::test(start_paused = true)]
async fn a_running_call_does_not_expire() {
    let store = store();
    let permit = first(&store, "a");
    tokio::time::advance(Duration::from_hours(48)).await;
    assert!(matches!(claim(&store, "a"), Claim::Repeated(_)));
    permit.finish(&Reply::data(Value::Null));
    first(&store, "a");
}

#[tokio::test(start_paused = true)]
async fn an_aborted_call_has_no_reply_and_is_not_run_again() {
    let store = store();
    drop(first(&store, "a"));
    let Claim::Repeated(earlier) = claim(&store, "a") else { panic!("the key is known") };
    assert!(reply_of(earlier).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn removed_entries_free_their_bytes() {
    let store = IdempotencyStore::new(IdempotencyLimits { bytes: 60, ..IdempotencyLimits::default() });
    first(&store, "a").finish(&Reply::data("0123456789012345".into()));
    assert!(matches!(claim(&store, "b-with-a-long-name"), Claim::StoreFull));
    tokio::time::advance(Duration::from_hours(24)).await;
    let busy = ToolError::new("BUSY", "later", Category::RateLimit).retryable(Retryable::Yes);
    first(&store, "b-with-a-long-name").finish(&Reply::error(&busy));
    assert_eq!(store.entries.lock().bytes, 0, "a forgotten entry takes no room");
    assert!(store.entries.lock().by_id.is_empty());
}
