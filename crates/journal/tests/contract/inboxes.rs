//! Signals.

use std::time::Duration;

use reknit_journal::{Append, AppendError, Mailbox, SendError, Signal};

use crate::kit::{event, leased, stores};

#[tokio::test]
async fn signals_are_unread_in_order_until_an_event_consumes_them() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let cancel = Signal::new("cancel", r#"{"reason":"1.0"}"#);
        let first = store.journal.send(lease.run(), cancel.clone(), 5).await.unwrap();
        let second = store.journal.send(lease.run(), Signal::new("decide", "{}"), 4).await.unwrap();
        let inbox = store.journal.inbox(lease.run()).await.unwrap();
        assert_eq!(inbox.iter().map(|letter| letter.id).collect::<Vec<_>>(), [first, second], "{}", store.name);
        assert_eq!((inbox[0].at_ms, &inbox[0].signal), (5, &cancel));

        store.journal.append(&lease, Append::at(1).event(event(6)).consuming(first)).await.unwrap();
        let inbox = store.journal.inbox(lease.run()).await.unwrap();
        assert_eq!(inbox.iter().map(|letter| letter.id).collect::<Vec<_>>(), [second]);
        // A signal that means nothing is cleared without an event.
        store.journal.append(&lease, Append::at(2).consuming(second)).await.unwrap();
        assert_eq!(store.journal.inbox(lease.run()).await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_signal_is_consumed_once_and_by_its_own_run() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let other = leased(&store.journal, "other").await;
        let mine = store.journal.send(lease.run(), Signal::new("cancel", "{}"), 0).await.unwrap();
        let foreign = store.journal.send(other.run(), Signal::new("cancel", "{}"), 0).await.unwrap();
        for append in [
            Append::at(1).event(event(1)).consuming(mine).consuming(mine),
            Append::at(1).event(event(1)).consuming(mine).consuming(foreign),
        ] {
            let refused = store.journal.append(&lease, append).await;
            assert!(matches!(refused, Err(AppendError::NotWaiting { .. })), "{}: {refused:?}", store.name);
        }
        assert_eq!(store.journal.summary(lease.run()).await.unwrap().len, 1);
        store.journal.append(&lease, Append::at(1).event(event(1)).consuming(mine)).await.unwrap();
        let again = store.journal.append(&lease, Append::at(2).consuming(mine)).await.unwrap_err();
        assert_eq!(again.to_string(), "signal 1 is not waiting in the inbox of run `r`", "{}", store.name);
        assert_eq!(store.journal.inbox(other.run()).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_signal_needs_a_run_that_has_not_ended() {
    for store in stores() {
        let unknown = store.journal.send(&"r".into(), Signal::new("cancel", "{}"), 0).await.unwrap_err();
        assert_eq!(unknown.to_string(), "there is no run `r`", "{}", store.name);
        let lease = leased(&store.journal, "r").await;
        store.journal.append(&lease, Append::at(1).event(event(1)).ending("complete", 1)).await.unwrap();
        match store.journal.send(lease.run(), Signal::new("cancel", "{}"), 0).await {
            Err(error @ SendError::Ended { .. }) => {
                assert_eq!(error.to_string(), "run `r` has ended (complete)", "{}", store.name);
            }
            answer => panic!("{}: {answer:?}", store.name),
        }
    }
}

#[tokio::test]
async fn a_mailbox_gives_each_signal_once_whether_it_was_there_or_comes() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let other = leased(&store.journal, "other").await;
        store.journal.send(lease.run(), Signal::new("first", "{}"), 0).await.unwrap();
        let mut mailbox = store.journal.mailbox(lease.run());
        assert_eq!(next(&mut mailbox).await, "first", "{}", store.name);
        let (kind, ()) = tokio::join!(next(&mut mailbox), async {
            store.journal.send(other.run(), Signal::new("not mine", "{}"), 0).await.unwrap();
            store.journal.send(lease.run(), Signal::new("second", "{}"), 0).await.unwrap();
        });
        assert_eq!(kind, "second", "{}", store.name);
    }
}

#[tokio::test]
async fn a_wait_that_was_given_up_loses_no_signal() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let mut mailbox = store.journal.mailbox(lease.run());
        tokio::select! {
            biased;
            letter = mailbox.next() => panic!("{}: {letter:?}", store.name),
            () = std::future::ready(()) => {}
        }
        for kind in ["first", "second"] {
            store.journal.send(lease.run(), Signal::new(kind, "{}"), 0).await.unwrap();
        }
        assert_eq!(next(&mut mailbox).await, "first", "{}", store.name);
        assert_eq!(next(&mut mailbox).await, "second", "{}", store.name);
    }
}

/// A test that fails should not wait for ever.
async fn next(mailbox: &mut Mailbox) -> String {
    let letter = tokio::time::timeout(Duration::from_secs(10), mailbox.next()).await;
    letter.expect("a signal within ten seconds").unwrap().signal.kind
}

#[tokio::test]
async fn a_mailbox_of_no_run_says_so() {
    for store in stores() {
        let error = store.journal.mailbox(&"r".into()).next().await.unwrap_err();
        assert_eq!(error.to_string(), "there is no run `r`", "{}", store.name);
    }
}
