use reknit_protocol::Value;

use super::*;

fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}

fn claim(keys: &Keys, name: &str) -> Claim {
    keys.claim(&"pay".into(), &key(name), "{}".to_owned())
}

fn first(keys: &Keys, name: &str) -> Ticket {
    match claim(keys, name) {
        Claim::First(ticket) => ticket,
        other => panic!("expected to be the first, got {other:?}"),
    }
}

fn keys(limits: KeyLimits) -> Keys {
    Keys::new(limits)
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_kept_for_its_time_and_no_longer() {
    let keys = keys(KeyLimits::default());
    first(&keys, "a").finish(&Reply::data(Value::Null));
    tokio::time::advance(Duration::from_hours(24) - Duration::from_millis(1)).await;
    assert!(matches!(claim(&keys, "a"), Claim::Again(_)));
    tokio::time::advance(Duration::from_millis(1)).await;
    first(&keys, "a");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_still_runs_is_not_forgotten_however_old_it_is() {
    let keys = keys(KeyLimits::default());
    let ticket = first(&keys, "a");
    tokio::time::advance(Duration::from_hours(48)).await;
    assert!(matches!(claim(&keys, "a"), Claim::Again(_)));
    ticket.finish(&Reply::data(Value::Null));
    first(&keys, "a");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_cut_off_has_no_answer_and_is_not_run_again() {
    let keys = keys(KeyLimits::default());
    drop(first(&keys, "a"));
    let Claim::Again(pending) = claim(&keys, "a") else { panic!("the key is known") };
    assert!(pending.answer().await.is_none());
}

#[tokio::test]
async fn those_who_come_while_it_runs_get_the_answer_when_it_is_there() {
    let keys = keys(KeyLimits::default());
    let ticket = first(&keys, "a");
    let Claim::Again(pending) = claim(&keys, "a") else { panic!("the key is known") };
    // The wait is polled first, so the answer comes after it has begun.
    let (answer, ()) = tokio::join!(pending.answer(), async { ticket.finish(&Reply::data("paid".into())) });
    assert_eq!(answer.unwrap().size(), Reply::data("paid".into()).size());
}

#[tokio::test(start_paused = true)]
async fn bytes_are_given_back_when_entries_go() {
    let keys = keys(KeyLimits { bytes: 60, ..KeyLimits::default() });
    first(&keys, "a").finish(&Reply::data("0123456789012345".into()));
    assert!(matches!(claim(&keys, "b-with-a-long-name"), Claim::Full));
    tokio::time::advance(Duration::from_hours(24)).await;
    let ticket = first(&keys, "b-with-a-long-name");
    ticket.finish(&Reply::error(
        &reknit_protocol::ToolError::new("BUSY", "later", reknit_protocol::Category::RateLimit)
            .retryable(reknit_protocol::Retryable::Yes),
    ));
    assert_eq!(keys.lock().bytes, 0, "what is forgotten takes no room");
    assert!(keys.lock().entries.is_empty());
}
