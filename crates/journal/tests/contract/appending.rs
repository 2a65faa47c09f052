//! Compare-and-append.

use reknit_journal::{Append, AppendError, Due, Holder, LeaseError, NewEvent};

use crate::kit::{event, leased, new_run, stores, term};

#[tokio::test]
async fn events_come_back_in_order_with_what_they_made_due() {
    for store in stores() {
        let mut run = new_run("r");
        run.first = NewEvent::new(3, "started", "{}").with_due([Due::new("plan/0", "p")]);
        let lease = store.journal.create(run, &Holder::this_process(), term(0)).await.unwrap();
        let append = Append::at(1)
            .event(
                NewEvent::new(4, "model_answered", r#"{"x":1.10}"#).with_due([Due::new("b", "1"), Due::new("a", "2")]),
            )
            .event(NewEvent::new(5, "woke", "{}"));
        assert_eq!(store.journal.append(&lease, append).await.unwrap(), 3);
        let append = Append::at(3).event(NewEvent::new(6, "woke", "{}").with_due([Due::new("c", "3")]));
        assert_eq!(store.journal.append(&lease, append).await.unwrap(), 4);

        let records = store.journal.events(lease.run(), 0).await.unwrap();
        let seen: Vec<_> = records.iter().map(|r| (r.seq, r.at_ms, r.kind.as_str(), r.body.as_str())).collect();
        let expected = [
            (0, 3, "started", "{}"),
            (1, 4, "model_answered", r#"{"x":1.10}"#),
            (2, 5, "woke", "{}"),
            (3, 6, "woke", "{}"),
        ];
        assert_eq!(seen, expected, "{}", store.name);
        assert_eq!(store.journal.events(lease.run(), 2).await.unwrap(), records[2..]);
        assert_eq!(store.journal.events(lease.run(), 9).await.unwrap(), []);
        let due = [(0, "plan/0", "p"), (1, "b", "1"), (1, "a", "2"), (3, "c", "3")];
        let due: Vec<_> = due.into_iter().map(|(seq, effect, digest)| (seq, Due::new(effect, digest))).collect();
        assert_eq!(store.journal.due(lease.run()).await.unwrap(), due, "{}", store.name);
    }
}

#[tokio::test]
async fn another_length_than_expected_is_a_conflict_and_nothing_is_written() {
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
async fn of_two_appends_at_the_same_length_one_wins() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let (left, right) = tokio::join!(
            store.journal.append(&lease, Append::at(1).event(event(1))),
            store.journal.append(&lease, Append::at(1).event(event(2)).event(event(3))),
        );
        let winner = if left.is_ok() { 2 } else { 3 };
        assert!(left.is_ok() != right.is_ok(), "{}: {left:?} {right:?}", store.name);
        assert_eq!(store.journal.events(lease.run(), 0).await.unwrap().len(), winner);
    }
}

#[tokio::test]
async fn a_run_ends_with_its_last_events_and_gives_its_lease_back() {
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
async fn runs_do_not_touch_each_other() {
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
