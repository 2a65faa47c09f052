//! The file shrinks after runs are pruned.

use std::fs;

use reknit_journal::{Append, Durability, Holder, Journal, NewEvent, Retention, Snapshot};

use crate::support::{TERM, leased, new_path, new_run, open};

async fn ended_runs(journal: &Journal, count: i64) {
    for number in 0..count {
        let lease =
            journal.create(new_run(&format!("r{number}")), &Holder::this_process(), TERM).await.expect("a new run");
        let body = format!(r#"{{"text":"{number}{}"}}"#, "x".repeat(60_000));
        let last = NewEvent::new(number, "answered", body);
        journal.append(&lease, Append::at(1).event(last).ending("complete", number)).await.expect("it ends");
    }
}

const KEEP_TWO: Retention = Retention { max_age_ms: None, max_runs: Some(2), max_bytes: None };

#[tokio::test]
async fn a_new_file_gives_the_space_of_pruned_runs_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    let journal = Journal::open(&path, Durability::Off).expect("a new journal");
    ended_runs(&journal, 40).await;
    let before = journal.size().await.expect("a size");
    assert_eq!(journal.prune(&KEEP_TWO, 100).await.expect("it can be pruned").runs, 38);
    assert!(journal.shrink(0).await.expect("it shrinks") > before.used_bytes / 2);
    let after = journal.size().await.expect("a size");
    assert!(after.used_bytes < before.used_bytes / 4 && after.free_bytes == 0, "{before:?} {after:?}");
    drop(journal);
    assert!(fs::metadata(&path).expect("it is there").len() < before.used_bytes / 4);
}

#[tokio::test]
async fn runs_are_pruned_until_the_file_is_small_enough() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = Journal::open(&folder.path().join("journal.db"), Durability::Off).expect("a new journal");
    ended_runs(&journal, 40).await;
    let limit = journal.size().await.expect("a size").used_bytes / 2;
    let retention = Retention { max_bytes: Some(limit), ..Retention::default() };
    let preview = journal.preview_prune(&retention, 100).await.expect("a preview");
    let pruned = journal.prune(&retention, 100).await.expect("it can be pruned");
    assert!(journal.size().await.expect("a size").used_bytes <= limit);
    assert!((15..=25).contains(&pruned.runs) && preview.by_size.abs_diff(pruned.runs) <= 3, "{preview:?} {pruned:?}");
}

#[tokio::test]
async fn a_long_value_that_only_a_snapshot_had_is_removed_with_it() {
    let (_directory, path) = new_path();
    let journal = open(&path);
    let snapshot = |len, letter: &str| Snapshot {
        len,
        machine_version: 3,
        body: format!(r#"{{"own":"{}","shared":"{}"}}"#, letter.repeat(50_000), "x".repeat(50_000)),
    };
    let connection = rusqlite::Connection::open(&path).expect("it can be opened");
    let blobs = || {
        let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, u32>(0)).expect("it can be counted");
        (count("SELECT count(*) FROM blobs"), count("SELECT count(*) FROM event_blobs"))
    };
    let lease = leased(&journal, "r").await;
    let event = NewEvent::new(1, "answered", format!(r#"{{"shared":"{}"}}"#, "x".repeat(50_000)));
    journal.append(&lease, Append::at(1).event(event)).await.expect("it is the driver");
    for letter in ["a", "b"] {
        journal.save_snapshot(&lease, snapshot(2, letter)).await.expect("every event is committed");
        assert_eq!(blobs(), (2, 3), "the value of the event, and that of the newest snapshot");
    }
    journal.append(&lease, Append::at(2).ending("complete", 2)).await.expect("it ends");
    assert_eq!(blobs(), (1, 1), "the value of the event");
    assert!(journal.events(lease.run(), 1).await.expect("it can be read")[0].body.len() > 50_000);
}
