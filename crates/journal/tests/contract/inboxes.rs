//! Inboxes and mailboxes.

use std::time::Duration;

use reknit_journal::{
    Append, AppendError, EarlierSignal, EventsOfKind, Journal, Mailbox, NewEvent, RunSignal, SendError, SignalId,
};
use reknit_protocol::RunId;

use crate::support::{event, leased, stores};

#[tokio::test]
async fn signals_stay_pending_in_order_until_an_append_consumes_them() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let cancel = RunSignal::new("cancel", r#"{"reason":"1.0"}"#);
        let first = store.journal.send(lease.run(), cancel.clone(), 5).await.unwrap();
        let second = store.journal.send(lease.run(), RunSignal::new("decide", "{}"), 4).await.unwrap();
        let inbox = store.journal.inbox(lease.run()).await.unwrap();
        assert_eq!(inbox.iter().map(|message| message.id).collect::<Vec<_>>(), [first, second], "{}", store.name);
        assert_eq!((inbox[0].at_ms, &inbox[0].signal), (5, &cancel));

        store.journal.append(&lease, Append { consumed: vec![first], ..Append::at(1).event(event(6)) }).await.unwrap();
        let inbox = store.journal.inbox(lease.run()).await.unwrap();
        assert_eq!(inbox.iter().map(|message| message.id).collect::<Vec<_>>(), [second]);
        // An append without events clears a signal that has no meaning.
        store.journal.append(&lease, Append { consumed: vec![second], ..Append::at(2) }).await.unwrap();
        assert_eq!(store.journal.inbox(lease.run()).await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_signal_is_consumed_once_and_only_by_its_own_run() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let other = leased(&store.journal, "other").await;
        let mine = store.journal.send(lease.run(), RunSignal::new("cancel", "{}"), 0).await.unwrap();
        let foreign = store.journal.send(other.run(), RunSignal::new("cancel", "{}"), 0).await.unwrap();
        for append in [
            Append { consumed: vec![mine, mine], ..Append::at(1).event(event(1)) },
            Append { consumed: vec![mine, foreign], ..Append::at(1).event(event(1)) },
        ] {
            let refused = store.journal.append(&lease, append).await;
            assert!(matches!(refused, Err(AppendError::SignalNotPending { .. })), "{}: {refused:?}", store.name);
        }
        assert_eq!(store.journal.summary(lease.run()).await.unwrap().len, 1);
        store.journal.append(&lease, Append { consumed: vec![mine], ..Append::at(1).event(event(1)) }).await.unwrap();
        let again = store.journal.append(&lease, Append { consumed: vec![mine], ..Append::at(2) }).await.unwrap_err();
        assert_eq!(again.to_string(), "signal 1 is not pending in the inbox of run `r`", "{}", store.name);
        assert_eq!(store.journal.inbox(other.run()).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_signal_to_an_unknown_or_ended_run_is_refused() {
    for store in stores() {
        let unknown = store.journal.send(&"r".into(), RunSignal::new("cancel", "{}"), 0).await.unwrap_err();
        assert_eq!(unknown.to_string(), "there is no run `r`", "{}", store.name);
        let lease = leased(&store.journal, "r").await;
        store.journal.append(&lease, Append::at(1).event(event(1)).ending("complete", 1)).await.unwrap();
        match store.journal.send(lease.run(), RunSignal::new("cancel", "{}"), 0).await {
            Err(error @ SendError::Ended { .. }) => {
                assert_eq!(error.to_string(), "run `r` has ended (complete)", "{}", store.name);
            }
            answer => panic!("{}: {answer:?}", store.name),
        }
    }
}

#[tokio::test]
async fn a_mailbox_returns_each_earlier_and_later_signal_once() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let other = leased(&store.journal, "other").await;
        store.journal.send(lease.run(), RunSignal::new("first", "{}"), 0).await.unwrap();
        let mut mailbox = store.journal.mailbox(lease.run());
        assert_eq!(next(&mut mailbox).await, "first", "{}", store.name);
        let (kind, ()) = tokio::join!(next(&mut mailbox), async {
            store.journal.send(other.run(), RunSignal::new("for another run", "{}"), 0).await.unwrap();
            store.journal.send(lease.run(), RunSignal::new("second", "{}"), 0).await.unwrap();
        });
        assert_eq!(kind, "second", "{}", store.name);
    }
}

#[tokio::test]
async fn a_dropped_wait_loses_no_signal() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let mut mailbox = store.journal.mailbox(lease.run());
        tokio::select! {
            biased;
            message = mailbox.next() => panic!("{}: {message:?}", store.name),
            () = std::future::ready(()) => {}
        }
        for kind in ["first", "second"] {
            store.journal.send(lease.run(), RunSignal::new(kind, "{}"), 0).await.unwrap();
        }
        assert_eq!(next(&mut mailbox).await, "first", "{}", store.name);
        assert_eq!(next(&mut mailbox).await, "second", "{}", store.name);
    }
}

/// The kind of the next signal, with a timeout so that a failing test ends.
async fn next(mailbox: &mut Mailbox) -> String {
    let message = tokio::time::timeout(Duration::from_mins(2), mailbox.next()).await;
    message.expect("a signal within ten seconds").unwrap().signal.kind
}

#[tokio::test]
async fn a_mailbox_of_an_unknown_run_returns_an_error() {
    for store in stores() {
        let error = store.journal.mailbox(&"r".into()).next().await.unwrap_err();
        assert_eq!(error.to_string(), "there is no run `r`", "{}", store.name);
    }
}

/// Sends a decision unless one waits, or the run has read one in its events from `from_seq` on.
async fn decide(
    journal: &Journal,
    run: &RunId,
    body: &str,
    from_seq: u64,
) -> Result<Result<SignalId, EarlierSignal>, SendError> {
    let read = Some(EventsOfKind { kind: "decided", from_seq });
    let is_same = |earlier: &EarlierSignal| match earlier {
        EarlierSignal::Waiting(message) => message.signal.kind == "decide",
        EarlierSignal::Read(event) => event.body.starts_with("\"about it"),
    };
    journal.send_once(run, RunSignal::new("decide", body), 0, read, is_same).await
}

#[tokio::test]
async fn of_two_signals_about_the_same_only_the_first_is_sent() {
    for store in stores() {
        let run = leased(&store.journal, "r").await.run().clone();
        let (first, second) =
            tokio::join!(decide(&store.journal, &run, "yes", 0), decide(&store.journal, &run, "no", 0));
        let results = [first.unwrap(), second.unwrap()];
        let [Ok(_), Err(EarlierSignal::Waiting(earlier))] = &results else { panic!("{}: {results:?}", store.name) };
        assert_eq!(earlier.signal.body, "yes");
        assert_eq!(store.journal.inbox(&run).await.unwrap().len(), 1, "{}", store.name);
        let missing = decide(&store.journal, &"none".into(), "yes", 0).await;
        assert!(missing.is_err(), "{}", store.name);
    }
}

#[tokio::test]
async fn a_signal_about_what_the_run_has_read_is_not_sent() {
    let read_event = |body: &str, at_ms| NewEvent::new(at_ms, "decided", format!("\"about {body}\""));
    for store in stores() {
        let (journal, name) = (&store.journal, store.name);
        let lease = leased(journal, "r").await;
        let id = decide(journal, lease.run(), "yes", 0).await.unwrap().expect("it is the first");
        let read = Append { consumed: vec![id], ..Append::at(1).event(read_event("something else", 1)) };
        journal.append(&lease, read.event(event(2)).event(read_event("it: yes", 3))).await.unwrap();

        for from_seq in [0, 1, 3] {
            let again = decide(journal, lease.run(), "yes", from_seq).await.unwrap();
            let Err(EarlierSignal::Read(earlier)) = again else { panic!("{name}: {again:?}") };
            assert_eq!((earlier.seq, earlier.body.as_str()), (3, "\"about it: yes\""), "{name}");
        }
        assert_eq!(journal.inbox(lease.run()).await.unwrap(), [], "{name}");
        let of_kind = async |from_seq| {
            let events = journal.events_of_kind(lease.run(), EventsOfKind { kind: "decided", from_seq }).await.unwrap();
            events.iter().map(|event| event.seq).collect::<Vec<_>>()
        };
        assert_eq!((of_kind(0).await, of_kind(2).await, of_kind(u64::MAX).await), (vec![1, 3], vec![3], vec![]));

        // Events before the position are about another question.
        let later = decide(journal, lease.run(), "yes", 4).await.unwrap().expect("it is the first");
        let end = Append { consumed: vec![later], ..Append::at(4).event(event(4)).ending("complete", 4) };
        journal.append(&lease, end).await.unwrap();
        let after = decide(journal, lease.run(), "yes", 0).await.unwrap();
        assert!(matches!(after, Err(EarlierSignal::Read(_))), "{name}: {after:?}");
        let refused = decide(journal, lease.run(), "yes", 4).await;
        assert!(matches!(refused, Err(SendError::Ended { .. })), "{name}: {refused:?}");
    }
}
