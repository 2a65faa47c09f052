//! Journals whose last bytes are lost or wrong.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use crate::world::{STEPS, World, kill, outcome, stderr};

/// A run that was killed during its fourth call, with its last changes in the write-ahead log.
async fn killed_run() -> World {
    let world = World::new().await;
    let child = world.start();
    for _ in 0..3 {
        world.barrier.wait_for_arrivals(1).await;
        world.barrier.release_one();
    }
    world.tool.wait_for_calls(4).await;
    kill(child);
    world.barrier.release_all();
    assert!(fs::metadata(world.path("journal.db-wal")).is_ok_and(|file| file.len() > 0), "the changes are in the log");
    world
}

/// The events of a copy of the journal. Opening the journal itself would checkpoint its log.
async fn events_of_copy(world: &World) -> Vec<reknit_journal::StoredEvent> {
    let copy = tempfile::tempdir().expect("a folder");
    for name in ["journal.db", "journal.db-wal"] {
        fs::copy(world.path(name), copy.path().join(name)).expect("the file can be copied");
    }
    crate::world::events_in(&copy.path().join("journal.db")).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_before_a_lost_tail_are_kept() {
    for lost in [1, 100, 4_096, 10_000] {
        let world = killed_run().await;
        let before = events_of_copy(&world).await;
        let log = OpenOptions::new().write(true).open(world.path("journal.db-wal")).expect("the log is there");
        let length = log.metadata().expect("it has a length").len();
        log.set_len(length.saturating_sub(lost)).expect("it can be cut");
        drop(log);

        let listed = world.finish(&["runs", "list"]);
        assert_eq!(listed.status.code(), Some(0), "{lost} bytes: {}", stderr(&listed));
        let kept = world.events().await;
        assert!(before.starts_with(&kept), "{lost} bytes: the remaining events are unchanged");
        assert!(kept.len() + 2 >= before.len(), "{lost} bytes: {} of {} events are left", kept.len(), before.len());
        let (_, end) = world.resume_to_the_end();
        assert_eq!(end.status.code(), Some(0), "{lost} bytes: {}", stderr(&end));
        assert!(world.events().await.starts_with(&kept), "{lost} bytes");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_half_written_transaction_is_ignored() {
    let whole = World::new().await;
    whole.barrier.release_all();
    let expected = outcome(&whole.start().wait_with_output().expect("it ends"));

    let world = killed_run().await;
    let before = events_of_copy(&world).await;
    let mut log = OpenOptions::new().append(true).open(world.path("journal.db-wal")).expect("the log is there");
    log.write_all(&[0xa5; 3_000]).expect("it can be written");
    drop(log);
    assert_eq!(world.events().await, before, "nothing that was committed is lost");
    let (approvals, end) = world.resume_to_the_end();
    assert_eq!(end.status.code(), Some(0), "{}", stderr(&end));
    assert_eq!(outcome(&end), expected);
    assert_eq!(approvals, 1, "the payment was in progress");
    let calls: Vec<usize> = STEPS.iter().map(|(name, _)| world.tool.calls_of(name).len()).collect();
    assert_eq!(calls, [1, 1, 1, 2, 1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_truncated_journal_is_reported_as_damaged() {
    let world = World::new().await;
    world.barrier.release_all();
    assert!(world.start().wait_with_output().expect("it ends").status.success());
    // The last process that closes the journal checkpoints the log into the file.
    let file = OpenOptions::new().write(true).open(world.path("journal.db")).expect("the journal is there");
    let half = file.metadata().expect("it has a length").len() / 2;
    file.set_len(half / 4_096 * 4_096 + 100).expect("it can be cut");
    drop(file);
    for arguments in [&["runs", "list"][..], &["runs", "show", "last"], &["runs", "resume", "last"]] {
        let refused = world.finish(arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {}", stderr(&refused));
        assert!(stderr(&refused).contains("is damaged"), "{arguments:?}: {}", stderr(&refused));
        assert!(stderr(&refused).contains("\nhint: first copy `"), "{arguments:?}: {}", stderr(&refused));
    }
}
