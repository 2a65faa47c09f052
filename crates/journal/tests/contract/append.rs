//! Compare-and-append.

use reknit_journal::{Append, AppendError, DueEffect, Holder, LeaseError, NewEvent};

use crate::support::{event, leased, new_run, stores, term};

#[tokio::test]
async fn events_are_read_in_order_with_the_effects_they_made_due() {
    for store in stores() {
        let mut run = new_run("r");
        run.first = NewEvent::new(3, "started", "{}").with_due([DueEffect::new("plan/0", "p")]);
        let lease = store.journal.create(run, &Holder::this_process(), term(0)).await.unwrap();
        let append = Append::at(1)
            .event(
                NewEvent::new(4, "model_answered", r#"{"x":1.10}"#)
                    .with_due([DueEffect::new("b", "1"), DueEffect::new("a", "2")]),
            )
            .event(NewEvent::new(5, "woke", "{}"));
        assert_eq!(store.journal.append(&lease, append).await.unwrap(), 3);
        let append = Append::at(3).event(NewEvent::new(6, "woke", "{}").with_due([DueEffect::new("c", "3")]));
        assert_eq!(store.journal.append(&lease, append).await.unwrap(), 4);

        let events = store.journal.events(lease.run(), 0).await.unwrap();
        let seen: Vec<_> = events.iter().map(|e| (e.seq, e.at_ms, e.kind.as_str(), e.body.as_str())).collect();
        let expected = [
            (0, 3, "started", "{}"),
            (1, 4, "model_answered", r#"{"x":1.10}"#),
            (2, 5, "woke", "{}"),
            (3, 6, "woke", "{}"),
        ];
        assert_eq!(seen, expected, "{}", store.name);
        assert_eq!(store.journal.events(lease.run(), 2).await.unwrap(), events[2..]);
        assert_eq!(store.journal.events(lease.run(), 9).await.unwrap(), []);
        let due = [(0, "plan/0", "p"), (1, "b", "1"), (1, "a", "2"), (3, "c", "3")];
        let due: Vec<_> = due.into_iter().map(|(seq, effect, digest)| (seq, DueEffect::new(effect, digest))).collect();
        assert_eq!(store.journal.due_effects(lease.run()).await.unwrap(), due, "{}", store.name);
    }
}

#[tokio::test]
async fn an_append_at_another_length_is_a_conflict_and_writes_nothing() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        for expected in [0, 2] {
            let append = Append::at(expected).event(event(1)).ending("complete", 1);
            match store.journal.append(&lease, append).await {
                Err(AppendError::Conflict { len: 1, .. }) => {}
                answer => panic!("{}: {answer:?}", store.name),
            }
        }
        let summary = store.journal.summary(lease.run()).await.unwrap();
        assert_eq!((summary.len, summary.status), (1, None), "{}", store.name);
        let error = store.journal.append(&lease, Append::at(7)).await.unwrap_err();
        assert_eq!(error.to_string(), "run `r` has 1 events, not 7", "{}", store.name);
    }
}

#[tokio::test]
async fn of_two_appends_at_the_same_length_one_succeeds() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let (left, right) = tokio::join!(
            store.journal.append(&lease, Append::at(1).event(event(1))),
            store.journal.append(&lease, Append::at(1).event(event(2)).event(event(3))),
        );
        let expected_len = if left.is_ok() { 2 } else { 3 };
        assert!(left.is_ok() != right.is_ok(), "{}: {left:?} {right:?}", store.name);
        assert_eq!(store.journal.events(lease.run(), 0).await.unwrap().len(), expected_len);
    }
}

#[tokio::test]
async fn the_last_append_ends_the_run_and_releases_its_lease() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        store.journal.append(&lease, Append::at(1).event(event(8)).ending("partial", 9)).await.unwrap();
        let summary = store.journal.summary(lease.run()).await.unwrap();
        assert_eq!(summary.status.as_deref(), Some("partial"), "{}", store.name);
        assert_eq!((summary.updated_ms, summary.len, summary.lease), (9, 2, None));
        let late = store.journal.append(&lease, Append::at(2).event(event(10))).await;
        assert!(matches!(late, Err(AppendError::Fenced { by: None, .. })), "{}: {late:?}", store.name);
        match store.journal.acquire(lease.run(), &Holder::this_process(), term(9999)).await {
            Err(error @ LeaseError::Ended { .. }) => {
                assert_eq!(error.to_string(), "run `r` has ended (partial)", "{}", store.name);
            }
            answer => panic!("{}: {answer:?}", store.name),
        }
    }
}

#[tokio::test]
async fn appends_to_one_run_do_not_affect_another() {
    for store in stores() {
        let left = leased(&store.journal, "left").await;
        let right = leased(&store.journal, "right").await;
        store.journal.append(&left, Append::at(1).event(event(1))).await.unwrap();
        store.journal.append(&right, Append::at(1).event(event(2)).ending("failed", 2)).await.unwrap();
        store.journal.append(&left, Append::at(2).event(event(3))).await.unwrap();
        assert_eq!(store.journal.events(left.run(), 0).await.unwrap().len(), 3, "{}", store.name);
        assert_eq!(store.journal.events(right.run(), 0).await.unwrap().len(), 2, "{}", store.name);
    }
}

#[tokio::test]
async fn the_last_event_of_a_kind_is_found() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let other = |at_ms| NewEvent::new(at_ms, "other", "{}");
        let append = Append::at(1).event(other(1)).event(other(2)).event(event(3));
        store.journal.append(&lease, append).await.unwrap();
        let last = async |kind| store.journal.last_event_of_kind(lease.run(), kind).await.unwrap();
        assert_eq!((last("other").await, last("happened").await), (Some(2), Some(3)), "{}", store.name);
        assert_eq!(last("missing").await, None, "{}", store.name);
    }
}
