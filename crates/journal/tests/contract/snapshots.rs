//! Snapshots.

use reknit_journal::{Append, AppendError, Holder, Snapshot};

use crate::support::{event, leased, stores, term};

fn snapshot(len: u64, body: &str) -> Snapshot {
    Snapshot { len, machine_version: 3, body: body.to_owned() }
}

#[tokio::test]
async fn a_new_snapshot_replaces_the_old_one() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        assert_eq!(store.journal.snapshot(lease.run()).await.unwrap(), None, "{}", store.name);
        store.journal.save_snapshot(&lease, snapshot(1, r#"{"n":1.0}"#)).await.unwrap();
        let mut append = Append::at(1).event(event(1));
        append.snapshot = Some(snapshot(2, r#"{"n":2.0}"#));
        store.journal.append(&lease, append).await.unwrap();
        assert_eq!(store.journal.snapshot(lease.run()).await.unwrap(), Some(snapshot(2, r#"{"n":2.0}"#)));
    }
}

#[tokio::test]
async fn a_snapshot_of_uncommitted_events_is_refused() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let early = store.journal.save_snapshot(&lease, snapshot(2, "{}")).await;
        assert!(matches!(early, Err(AppendError::Conflict { len: 1, .. })), "{}: {early:?}", store.name);
        let mut append = Append::at(1).event(event(1));
        append.snapshot = Some(snapshot(3, "{}"));
        let early = store.journal.append(&lease, append).await;
        assert!(matches!(early, Err(AppendError::Conflict { len: 2, .. })), "{}: {early:?}", store.name);
        assert_eq!(store.journal.summary(lease.run()).await.unwrap().len, 1);
    }
}

#[tokio::test]
async fn a_released_run_keeps_the_snapshot_until_it_ends() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        // A long value is stored as a blob.
        let body = format!(r#"{{"long":"{}"}}"#, "x".repeat(70_000));
        store.journal.release_with(&lease, snapshot(1, &body)).await.unwrap();
        assert_eq!(store.journal.summary(lease.run()).await.unwrap().lease, None, "{}", store.name);
        assert_eq!(store.journal.snapshot(lease.run()).await.unwrap(), Some(snapshot(1, &body)));
        let lease = store.journal.acquire(lease.run(), &Holder::this_process(), term(0)).await.unwrap();
        store.journal.append(&lease, Append::at(1).ending("complete", 1)).await.unwrap();
        assert_eq!(store.journal.snapshot(lease.run()).await.unwrap(), None, "{}", store.name);
    }
}
