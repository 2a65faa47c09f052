//! Several processes on one journal.

use std::time::Duration;

use reknit_journal::{Append, AppendError, Holder, LeaseError, RunFilter, Signal};

use crate::child::Actor;
use crate::kit::{TERM, event, grow, leased, open, place, whole};

#[tokio::test]
async fn of_several_processes_one_gets_the_lease() {
    let (_directory, path) = place();
    let journal = open(&path);
    let lease = leased(&journal, "r").await;
    journal.release(&lease).await.unwrap();
    let mut actors: Vec<_> = (0..4).map(|_| Actor::start("ask for the lease", &path)).collect();
    // All of them answer before any of them ends, or the lease of one that has ended would be inherited.
    let mut said: Vec<_> = actors.iter_mut().map(|actor| actor.says().unwrap()).collect();
    said.sort();
    assert_eq!(said, ["epoch 2", "held", "held", "held"]);
    let late = journal.append(&lease, Append::at(1).event(event(1))).await;
    assert!(matches!(late, Err(AppendError::Fenced { by: Some(_), .. })), "{late:?}");
    for actor in actors {
        actor.end();
    }
    let inherited = journal.acquire_or_inherit(lease.run(), &Holder::this_process(), TERM).await.unwrap();
    assert_eq!(inherited.epoch(), 3);
}

#[tokio::test]
async fn a_mailbox_hears_what_another_process_sends() {
    let (_directory, path) = place();
    let journal = open(&path);
    let lease = leased(&journal, "r").await;
    let mut mailbox = journal.mailbox(lease.run());
    for _ in 0..2 {
        let to = path.clone();
        let sending = tokio::task::spawn_blocking(move || Actor::start("send", &to).end());
        let letter = tokio::time::timeout(Duration::from_secs(20), mailbox.next()).await;
        assert_eq!(letter.expect("the signal comes").unwrap().signal, Signal::new("cancel", "{}"));
        sending.await.unwrap();
    }
}

#[tokio::test]
async fn processes_that_start_together_make_one_journal() {
    let (_directory, path) = place();
    let actors: Vec<_> = (0..6).map(|_| Actor::start("make a run of its own", &path)).collect();
    for actor in actors {
        actor.end();
    }
    assert_eq!(open(&path).runs(&RunFilter::newest(99)).await.unwrap().len(), 6);
}

#[tokio::test]
async fn two_handles_on_one_file_see_the_same_and_share_no_lease() {
    let (_directory, path) = place();
    let (left, right) = (open(&path), open(&path));
    let lease = leased(&left, "r").await;
    let refused = right.acquire(lease.run(), &Holder::this_process(), TERM).await;
    assert!(matches!(refused, Err(LeaseError::Held { .. })), "{refused:?}");
    grow(&left, &lease, 5).await;
    assert_eq!(whole(&right, "r").await, 5);
}

#[tokio::test]
async fn many_runs_at_once_keep_their_events_apart() {
    let (_directory, path) = place();
    let journal = open(&path);
    let mut runs = tokio::task::JoinSet::new();
    for run in 0..50 {
        let journal = journal.clone();
        runs.spawn(async move {
            let lease = leased(&journal, &format!("run {run}")).await;
            grow(&journal, &lease, 5).await;
            lease
        });
    }
    for lease in runs.join_all().await {
        assert_eq!(whole(&journal, lease.run().as_str()).await, 5);
    }
}
