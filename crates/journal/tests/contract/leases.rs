//! Leases: one driver per run.

use std::process::{Command, Stdio};

use reknit_journal::{Append, AppendError, FenceError, Holder, LeaseError};

use crate::support::{event, leased, new_run, process_on_laptop, stores, term};

#[tokio::test]
async fn a_new_run_is_leased_to_its_creator() {
    for store in stores() {
        let holder = Holder::this_process();
        let lease = store.journal.create(new_run("r"), &holder, term(5)).await.unwrap();
        assert_eq!((lease.epoch(), lease.until_ms()), (1, 1005), "{}", store.name);
        let lease_info = store.journal.summary(lease.run()).await.unwrap().lease.unwrap();
        assert_eq!((lease_info.holder, lease_info.until_ms, lease_info.epoch), (holder, 1005, 1), "{}", store.name);
    }
}

#[tokio::test]
async fn a_run_id_can_be_used_once() {
    for store in stores() {
        leased(&store.journal, "r").await;
        let error = store.journal.create(new_run("r"), &Holder::this_process(), term(0)).await.unwrap_err();
        assert_eq!(error.to_string(), "there is already a run `r`", "{}", store.name);
        assert_eq!(store.journal.events(&"r".into(), 0).await.unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_held_run_can_be_acquired_only_after_its_lease_expired() {
    for store in stores() {
        let first = leased(&store.journal, "r").await;
        let other = process_on_laptop();
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
async fn a_fenced_holder_can_write_nothing() {
    for store in stores() {
        let old = leased(&store.journal, "r").await;
        let other = process_on_laptop();
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
async fn a_forced_acquire_takes_over_only_the_expected_epoch() {
    for store in stores() {
        let first = leased(&store.journal, "r").await;
        let (left, right) = (Holder::this_process(), Holder::this_process());
        // Both expect epoch 1; the first one succeeds.
        let won = store.journal.acquire_forced(first.run(), &left, term(1), 1).await.unwrap();
        let lost = store.journal.acquire_forced(first.run(), &right, term(1), 1).await;
        assert!(matches!(&lost, Err(LeaseError::Held { epoch: 2, .. })), "{}: {lost:?}", store.name);
        assert_eq!(won.epoch(), 2);
    }
}

#[tokio::test]
async fn the_run_of_a_dead_process_can_be_taken_over_at_once() {
    for store in stores() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let dead = Holder::of_process(child.id());
        child.wait().unwrap();
        let lease = store.journal.create(new_run("r"), &dead, term(0)).await.unwrap();
        let taken_over =
            store.journal.acquire_or_take_over(lease.run(), &Holder::this_process(), term(1)).await.unwrap();
        assert_eq!(taken_over.epoch(), 2);
        // This process is alive, so its run cannot be taken over.
        let refused = store.journal.acquire_or_take_over(lease.run(), &Holder::this_process(), term(1)).await;
        assert!(matches!(refused, Err(LeaseError::Held { epoch: 2, .. })), "{}: {refused:?}", store.name);
    }
}

#[tokio::test]
async fn an_expired_lease_of_a_live_process_is_not_taken_over_until_the_process_ends() {
    for store in stores() {
        // It ends when this process closes its input.
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let lease = store.journal.create(new_run("r"), &Holder::of_process(child.id()), term(0)).await.unwrap();
        // The clock was set forward by a day, or the machine was suspended.
        let tomorrow = term(86_400_000);
        let refused = store.journal.acquire_or_take_over(lease.run(), &Holder::this_process(), tomorrow).await;
        assert!(matches!(refused, Err(LeaseError::Held { epoch: 1, .. })), "{}: {refused:?}", store.name);
        store.journal.append(&lease, Append::at(1).event(event(2))).await.unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let taken = store.journal.acquire_or_take_over(lease.run(), &Holder::this_process(), tomorrow).await.unwrap();
        assert_eq!(taken.epoch(), 2, "{}", store.name);
        let late = store.journal.append(&lease, Append::at(2).event(event(3))).await.unwrap_err();
        assert!(matches!(late, AppendError::Fenced { .. }), "{}: {late:?}", store.name);
    }
}

#[tokio::test]
async fn an_expired_lease_of_another_driver_in_this_process_can_be_taken_over() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        let taken = store.journal.acquire_or_take_over(lease.run(), &Holder::this_process(), term(1000)).await.unwrap();
        assert_eq!(taken.epoch(), 2, "{}", store.name);
    }
}

#[tokio::test]
async fn an_expired_lease_works_until_another_process_takes_the_run_over() {
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
async fn a_released_lease_is_invalid_and_the_next_lease_has_the_next_epoch() {
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
async fn an_unknown_run_cannot_be_leased() {
    for store in stores() {
        let error = store.journal.acquire(&"r".into(), &Holder::this_process(), term(0)).await.unwrap_err();
        assert_eq!(error.to_string(), "there is no run `r`", "{}", store.name);
    }
}

#[tokio::test]
async fn of_many_concurrent_acquires_one_gets_the_lease() {
    for store in stores() {
        let lease = leased(&store.journal, "r").await;
        store.journal.release(&lease).await.unwrap();
        let mut acquiring = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let (journal, run) = (store.journal.clone(), lease.run().clone());
            acquiring.spawn(async move { journal.acquire(&run, &Holder::this_process(), term(0)).await.is_ok() });
        }
        let won = acquiring.join_all().await.into_iter().filter(|won| *won).count();
        assert_eq!(won, 1, "{}", store.name);
    }
}
