//! Several processes use one journal.

use std::time::Duration;

use reknit_journal::{Append, AppendError, Holder, LeaseError, RunFilter, RunSignal, SendError, StorageError};

use crate::child_process::ChildProcess;
use crate::support::{TERM, checked_len, event, grow, leased, new_path, open};

#[tokio::test]
async fn of_several_processes_one_gets_the_lease() {
    let (_directory, path) = new_path();
    let journal = open(&path);
    let lease = leased(&journal, "r").await;
    journal.release(&lease).await.unwrap();
    let mut children: Vec<_> = (0..4).map(|_| ChildProcess::start("acquire the lease", &path)).collect();
    // All of them answer before any of them ends: the lease of an ended process could be taken over.
    let mut answers: Vec<_> = children.iter_mut().map(|child| child.next_line().unwrap()).collect();
    answers.sort();
    assert_eq!(answers, ["epoch 2", "held", "held", "held"]);
    let late = journal.append(&lease, Append::at(1).event(event(1))).await;
    assert!(matches!(late, Err(AppendError::Fenced { by: Some(_), .. })), "{late:?}");
    for child in children {
        child.finish();
    }
    let taken_over = journal.acquire_or_take_over(lease.run(), &Holder::this_process(), TERM).await.unwrap();
    assert_eq!(taken_over.epoch(), 3);
}

#[tokio::test]
async fn a_mailbox_receives_signals_of_another_process() {
    let (_directory, path) = new_path();
    let journal = open(&path);
    let lease = leased(&journal, "r").await;
    let mut mailbox = journal.mailbox(lease.run());
    for _ in 0..2 {
        let to = path.clone();
        let sending = tokio::task::spawn_blocking(move || ChildProcess::start("send", &to).finish());
        let message = tokio::time::timeout(Duration::from_mins(2), mailbox.next()).await;
        assert_eq!(message.expect("a signal in time").unwrap().signal, RunSignal::new("cancel", "{}"));
        sending.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_of_a_driver_waits_while_another_process_locks_the_file() {
    let (_directory, path) = new_path();
    let journal = open(&path);
    let lease = leased(&journal, "r").await;
    let mut locker = ChildProcess::start("lock until the parent has seen it", &path);
    assert_eq!(locker.next_line().as_deref(), Some("locked"));
    // A signal of a user is refused after the busy timeout; the answer that a driver received is not.
    let send = async {
        let refused = journal.send(lease.run(), RunSignal::new("cancel", "{}"), 0).await;
        locker.finish();
        refused
    };
    let (refused, appended) = tokio::join!(send, journal.append(&lease, Append::at(1).event(event(1))));
    assert!(matches!(refused, Err(SendError::Storage(StorageError::Busy { .. }))), "{refused:?}");
    assert_eq!(appended.unwrap(), 2);
    assert_eq!(journal.locked_for(), None);
    assert_eq!(checked_len(&journal, "r").await, 2);
}

#[tokio::test]
async fn processes_that_start_together_create_one_journal() {
    let (_directory, path) = new_path();
    let children: Vec<_> = (0..6).map(|_| ChildProcess::start("create a run", &path)).collect();
    for child in children {
        child.finish();
    }
    assert_eq!(open(&path).runs(&RunFilter::newest(99)).await.unwrap().len(), 6);
}

#[tokio::test]
async fn two_handles_on_one_file_see_the_same_events_and_share_no_lease() {
    let (_directory, path) = new_path();
    let (left, right) = (open(&path), open(&path));
    let lease = leased(&left, "r").await;
    let refused = right.acquire(lease.run(), &Holder::this_process(), TERM).await;
    assert!(matches!(refused, Err(LeaseError::Held { .. })), "{refused:?}");
    grow(&left, &lease, 5).await;
    assert_eq!(checked_len(&right, "r").await, 5);
}

#[tokio::test]
async fn concurrent_runs_keep_their_events_apart() {
    let (_directory, path) = new_path();
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
        assert_eq!(checked_len(&journal, lease.run().as_str()).await, 5);
    }
}
