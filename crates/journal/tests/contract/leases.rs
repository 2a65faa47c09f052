//! One driver per run.

use reknit_journal::{Append, FenceError, Holder, LeaseError};

use crate::kit::{event, laptop, leased, new_run, stores, term};

#[tokio::test]
async fn a_new_run_is_leased_to_its_maker() {
    for store in stores() {
        let holder = Holder::this_process();
        let lease = store.journal.create(new_run("r"), &holder, term(5)).await.unwrap();
        assert_eq!((lease.epoch(), lease.until_ms()), (1, 1005), "{}", store.name);
        let held = store.journal.summary(lease.run()).await.unwrap().lease.unwrap();
        assert_eq!((held.holder, held.until_ms, held.epoch), (holder, 1005, 1), "{}", store.name);
    }
}

#[tokio::test]
async fn an_id_is_used_once() {
    for store in stores() {
        leased(&store.journal, "r").await;
        let error = store.journal.create(new_run("r"), &Holder::this_process(), term(0)).await.unwrap_err();
        assert_eq!(error.to_string(), "there is already a run `r`", "{}", store.name);
        assert_eq!(store.journal.events(&"r".into(), 0).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_held_run_is_taken_only_at_the_end_of_the_term() {
    for store in stores() {
        let first = leased(&store.journal, "r").await;
        let other = laptop();
        for now in [0, 999] {
            match store.journal.acquire(first.run(), &other, term(now)).await {
                Err(LeaseError::Held { holder, until_ms, epoch, .. }) => {
                    assert_eq!((&holder, until_ms, epoch), (first.holder(), 1000, 1));
                }
                answer => panic!("{}: {answer:?}", store.name),
            }
        }
        let second = store.journal.acquire(first.run(), &other, term(1000)).await.unwrap();
        assert_eq!((second.epoch(), second.until_ms()), (2, 2000));
        let third = store.journal.acquire(first.run(), &other, term(1001)).await.unwrap_err();
        assert_eq!(third.to_string(), "run `r` is driven by process 7 on laptop", "{}", store.name);
    }
}

#[tokio::test]
async fn whoever_is_fenced_off_can_do_nothing_any_more() {
    for store in stores() {
        let old = leased(&store.journal, "r").await;
        let other = laptop();
        store.journal.acquire_forced(old.run(), &other, term(1), 1).await.unwrap();
        let append = store.journal.append(&old, Append::at(1).event(event(2))).await.unwrap_err();
        assert_eq!(
            append.to_string(),
            "the lease on run `r` is lost: process 7 on laptop drives it now",
            "{}",
            store.name
        );
        let snapshot = reknit_journal::Snapshot { len: 1, machine_version: 1, body: "{}".to_owned() };
        let refused = [
            store.journal.renew(&old, term(3)).await.map(|_| ()).unwrap_err().to_string(),
            store.journal.release(&old).await.unwrap_err().to_string(),
            store.journal.claim(&old, "a").await.map(|_| ()).unwrap_err().to_string(),
            store.journal.save_snapshot(&old, snapshot).await.unwrap_err().to_string(),
        ];
        assert!(refused.iter().all(|error| *error == append.to_string()), "{refused:?}");
        let summary = store.journal.summary(old.run()).await.unwrap();
        assert_eq!((summary.len, summary.epoch, summary.updated_ms), (1, 2, 0), "{}", store.name);
        assert_eq!(store.journal.claims(old.run()).await.unwrap(), Vec::<String>::new());
        assert_eq!(store.journal.snapshot(old.run()).await.unwrap(), None);
    }
}

#[tokio::test]
async fn force_takes_only_the_lease_that_was_seen() {
    for store in stores() {
        let first = leased(&store.journal, "r").await;
        let (left, right) = (Holder::this_process(), Holder::this_process());
        // Both saw epoch 1; the first one to come wins.
        let won = store.journal.acquire_forced(first.run(), &left, term(1), 1).await.unwrap();
        let lost = store.journal.acquire_forced(first.run(), &right, term(1), 1).await;
        assert!(matches!(&lost, Err(LeaseError::Held { epoch: 2, .. })), "{}: {lost:?}", store.name);
        assert_eq!(won.epoch(), 2);
    }
}

#[tokio::test]
async fn the_run_of_a_dead_process_is_taken_over_at_once() {
    for store in stores() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let dead = Holder::of_process(child.id());
        child.wait().unwrap();
        let lease = store.journal.create(new_run("r"), &dead, term(0)).await.unwrap();
        let inherited = store.journal.acquire_or_inherit(lease.run(), &Holder::this_process(), term(1)).await.unwrap();
        assert_eq!(inherited.epoch(), 2);
        // This process is alive, so nobody inherits from it.
        let refused = store.journal.acquire_or_inherit(lease.run(), &Holder::this_process(), term(1)).await;
        assert!(matches!(refused, Err(LeaseError::Held { epoch: 2, .. })), "{}: {refused:?}", store.name);
    }
}

#[tokio::test]
async fn a_term_that_has_passed_stops_nobody_until_somebody_takes_the_run() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        assert_eq!(store.journal.append(&lease, Append::at(1).event(event(5000))).await.unwrap(), 2);
        let renewed = store.journal.renew(&lease, term(6000)).await.unwrap();
        assert_eq!((renewed.epoch(), renewed.until_ms()), (1, 7000), "{}", store.name);
        let refused = store.journal.acquire(lease.run(), &Holder::this_process(), term(6999)).await;
        assert!(matches!(refused, Err(LeaseError::Held { until_ms: 7000, .. })), "{refused:?}");
    }
}

#[tokio::test]
async fn a_lease_that_was_given_back_is_worth_nothing_and_the_next_has_the_next_epoch() {
    for store in stores() {
        let first = leased(&store.journal, "r").await;
        store.journal.release(&first).await.unwrap();
        match store.journal.claim(&first, "a").await {
            Err(error @ FenceError::Fenced { by: None, .. }) => {
                assert_eq!(error.to_string(), "the lease on run `r` is lost", "{}", store.name);
            }
            answer => panic!("{}: {answer:?}", store.name),
        }
        let second = store.journal.acquire(first.run(), &Holder::this_process(), term(0)).await.unwrap();
        assert_eq!(second.epoch(), 2);
    }
}

#[tokio::test]
async fn there_is_nothing_to_lease_where_there_is_no_run() {
    for store in stores() {
        let error = store.journal.acquire(&"r".into(), &Holder::this_process(), term(0)).await.unwrap_err();
        assert_eq!(error.to_string(), "there is no run `r`", "{}", store.name);
    }
}

#[tokio::test]
async fn of_many_who_ask_at_once_one_gets_the_lease() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        store.journal.release(&lease).await.unwrap();
        let mut asking = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let (journal, run) = (store.journal.clone(), lease.run().clone());
            asking.spawn(async move { journal.acquire(&run, &Holder::this_process(), term(0)).await.is_ok() });
        }
        let won = asking.join_all().await.into_iter().filter(|won| *won).count();
        assert_eq!(won, 1, "{}", store.name);
    }
}
