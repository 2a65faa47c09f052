//! A file that is damaged is never read as if it were whole.

use std::fs::{self, OpenOptions};
use std::path::Path;

use reknit_journal::{Append, Durability, Journal, NewEvent, OpenError, ReadError, StorageError};
use rusqlite::Connection;

use crate::kit::{anywhere, grow, leased, open, place, report};

fn cut(path: &Path, len: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(len).unwrap();
}

#[tokio::test]
async fn a_file_that_was_cut_is_damaged_and_not_a_new_journal() {
    let (_directory, path) = place();
    let journal = open(&path);
    let lease = leased(&journal, "r").await;
    grow(&journal, &lease, 20).await;
    drop(journal);
    let size = fs::metadata(&path).unwrap().len();
    for len in [size - 4096, size / 2, 4096, 4000, 100] {
        cut(&path, len);
        match Journal::open(&path, Durability::Full) {
            Err(OpenError::Storage(StorageError::Damaged { .. })) => {}
            answer => panic!("{len} bytes of {size}: {answer:?}"),
        }
        assert_eq!(fs::metadata(&path).unwrap().len(), len, "it stays as it is");
    }
}

#[tokio::test]
async fn an_empty_file_beside_a_log_is_damaged_and_the_log_is_kept() {
    let (directory, path) = place();
    let journal = open(&path);
    leased(&journal, "r").await;
    let log = path.with_file_name("journal.db-wal");
    let events = fs::read(&log).unwrap();
    drop(journal);
    fs::write(&path, "").unwrap();
    fs::write(&log, &events).unwrap();
    let error = Journal::open(&path, Durability::Full).unwrap_err();
    insta::assert_snapshot!(anywhere(&report(&error), directory.path()), @"
    the journal `DIR/journal.db` is damaged
    caused by: the file is empty, but the log of changes to it is not
    hint: copy `DIR/journal.db` and `DIR/journal.db-wal` to another place before anything else; then bring back an older copy, or let `sqlite3 DIR/journal.db .recover` read what it can
    ");
    assert_eq!(fs::read(&log).unwrap(), events);
}

#[tokio::test]
async fn rows_that_are_not_what_was_written_are_noticed() {
    for (sql, expected) in [
        ("DELETE FROM events WHERE seq = 1", "events of run `r` are missing"),
        ("UPDATE blobs SET body = replace(body, 'x', 'y')", "is not what was written"),
        ("DELETE FROM blobs", "is not what was written"),
        ("UPDATE parts SET place = 99", "a blob lies outside event 1"),
        ("UPDATE runs SET holder = '{}'", "who holds a run cannot be read"),
    ] {
        let (_directory, path) = place();
        let journal = open(&path);
        let lease = leased(&journal, "r").await;
        let long = NewEvent::new(0, "long", format!(r#"{{"text":"{}"}}"#, "x".repeat(50_000)));
        journal.append(&lease, Append::at(1).event(long)).await.unwrap();
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        match journal.events(lease.run(), 0).await {
            Err(ReadError::Storage(StorageError::Damaged { source, .. })) => {
                assert!(source.to_string().contains(expected), "{sql}: {source}");
            }
            answer => panic!("{sql}: {answer:?}"),
        }
    }
}

#[tokio::test]
async fn runs_share_their_long_values() {
    let (_directory, path) = place();
    let journal = open(&path);
    let long = |at| NewEvent::new(at, "started", format!(r#"{{"at":{at},"catalogue":"{}"}}"#, "x".repeat(50_000)));
    for (run, at) in [("a", 1), ("b", 2)] {
        let lease = leased(&journal, run).await;
        journal.append(&lease, Append::at(1).event(long(at))).await.unwrap();
        assert_eq!(journal.events(lease.run(), 1).await.unwrap()[0].body, long(at).body);
    }
    let connection = Connection::open(&path).unwrap();
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap();
    assert_eq!((count("SELECT count(*) FROM blobs"), count("SELECT count(*) FROM parts")), (1, 2));
    assert!(count("SELECT max(length(body)) FROM events") < 5000);
    assert_eq!(count("SELECT max(size) FROM parts"), 50_002);
}
