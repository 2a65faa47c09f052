//! Damaged files are refused.

use std::fs::{self, OpenOptions};
use std::path::Path;

use reknit_journal::{
    Append, DueEffect, Durability, Journal, KeyChange, KeyClaim, NewEvent, OpenError, RunReadError, StorageError,
};
use rusqlite::Connection;

use crate::support::{grow, leased, mask_directory, new_path, open, report};

fn truncate(path: &Path, len: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(len).unwrap();
}

#[tokio::test]
async fn a_truncated_file_is_damaged_and_not_a_new_journal() {
    let (_directory, path) = new_path();
    let journal = open(&path);
    let lease = leased(&journal, "r").await;
    grow(&journal, &lease, 20).await;
    drop(journal);
    let size = fs::metadata(&path).unwrap().len();
    for len in [size - 4096, size / 2, 4096, 4000, 100] {
        truncate(&path, len);
        match Journal::open(&path, Durability::Full) {
            Err(OpenError::Storage(StorageError::Damaged { .. })) => {}
            answer => panic!("{len} bytes of {size}: {answer:?}"),
        }
        assert_eq!(fs::metadata(&path).unwrap().len(), len, "the file is unchanged");
    }
}

#[tokio::test]
async fn an_empty_file_beside_a_log_is_damaged_and_the_log_is_kept() {
    let (directory, path) = new_path();
    let journal = open(&path);
    leased(&journal, "r").await;
    let log = path.with_file_name("journal.db-wal");
    let events = fs::read(&log).unwrap();
    drop(journal);
    fs::write(&path, "").unwrap();
    fs::write(&log, &events).unwrap();
    let error = Journal::open(&path, Durability::Full).unwrap_err();
    insta::assert_snapshot!(mask_directory(&report(&error), directory.path()), @"
    the journal `DIR/journal.db` is damaged
    caused by: the file is empty, but its write-ahead log is not
    hint: first copy `DIR/journal.db` and `DIR/journal.db-wal` to a safe place; then restore a backup, or recover what is readable with `sqlite3 DIR/journal.db .recover`
    ");
    assert_eq!(fs::read(&log).unwrap(), events);
}

#[tokio::test]
async fn a_trigger_in_a_file_of_somebody_else_changes_nothing() {
    let (_directory, path) = new_path();
    let journal = open(&path);
    let lease = leased(&journal, "r").await;
    drop(journal);
    let sql =
        "CREATE TRIGGER evil AFTER INSERT ON events BEGIN DELETE FROM claims; UPDATE runs SET title = 'evil'; END";
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let journal = open(&path);
    assert!(journal.claim(&lease, "s/call/1").await.is_ok());
    grow(&journal, &lease, 3).await;
    assert_eq!(journal.claims(lease.run()).await.unwrap(), ["s/call/1"]);
    assert_eq!(journal.summary(lease.run()).await.unwrap().title, "");
}

#[tokio::test]
async fn changed_or_deleted_rows_are_detected() {
    for (sql, expected) in [
        ("DELETE FROM events WHERE seq = 1", "events of run `r` are missing"),
        ("UPDATE blobs SET body = replace(body, 'x', 'y')", "was changed or deleted"),
        ("DELETE FROM blobs", "was changed or deleted"),
        ("UPDATE event_blobs SET offset = 99", "event 1 of run `r`"),
        ("UPDATE events SET body = replace(body, '0', '1') WHERE seq = 0", "event 0 of run `r`"),
        ("UPDATE events SET at_ms = at_ms + 1 WHERE seq = 1", "event 1 of run `r`"),
        ("UPDATE due SET digest = 'other'", "event 1 of run `r`"),
        ("DELETE FROM due", "event 1 of run `r`"),
        ("UPDATE claims SET epoch = 2", "the claim of `pay/call/1` was changed"),
        ("DELETE FROM claims", "event 1 of run `r`"),
        ("UPDATE runs SET holder = '{}'", "cannot read the holder of a run"),
    ] {
        let (_directory, path) = new_path();
        let journal = open(&path);
        let lease = leased(&journal, "r").await;
        let long = NewEvent::new(0, "long", format!(r#"{{"text":"{}"}}"#, "x".repeat(50_000)));
        journal.claim(&lease, "pay/call/1").await.unwrap();
        let long = long.with_due([DueEffect::new("pay/call/2", "digest")]);
        journal.append(&lease, Append::at(1).event(long)).await.unwrap();
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let claims = journal.claims(lease.run()).await;
        match claims.and(journal.events(lease.run(), 0).await) {
            Err(RunReadError::Storage(StorageError::Damaged { source, .. })) => {
                assert!(source.to_string().contains(expected), "{sql}: {source}");
            }
            answer => panic!("{sql}: {answer:?}"),
        }
    }
}

/// Flips one bit of the last occurrence of `text` in a file.
fn flip_bit(path: &Path, text: &str) {
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.windows(text.len()).rposition(|window| window == text.as_bytes()).expect("the file has the text");
    bytes[at + text.len() - 1] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn a_damaged_frame_of_a_log_in_use_is_detected_when_the_event_is_read() {
    let (_directory, path) = new_path();
    let journal = open(&path);
    let lease = leased(&journal, "r").await;
    for seq in 1..5 {
        let event = NewEvent::new(0, "counted", format!(r#"{{"seq":"event-{seq}"}}"#));
        journal.append(&lease, Append::at(seq).event(event)).await.unwrap();
    }
    // SQLite does not check the frames while a process has the log open. This writes into the same file, as a disk would.
    flip_bit(&path.with_file_name("journal.db-wal"), "event-2");
    let reader = Journal::open(&path, Durability::Normal).unwrap();
    match reader.events(lease.run(), 0).await {
        Err(RunReadError::Storage(StorageError::Damaged { source, .. })) => {
            assert!(source.to_string().starts_with("event 2 of run `r`"), "{source}");
        }
        answer => panic!("{answer:?}"),
    }
}

#[tokio::test]
async fn a_damaged_frame_with_commits_after_it_is_detected_when_the_journal_is_opened() {
    let ((_directory, source), (directory, path)) = (new_path(), new_path());
    let journal = open(&source);
    let lease = leased(&journal, "r").await;
    grow(&journal, &lease, 10).await;
    // The process dies here: its files stay as they are.
    for name in ["journal.db", "journal.db-wal"] {
        fs::copy(source.with_file_name(name), path.with_file_name(name)).unwrap();
    }
    let log = path.with_file_name("journal.db-wal");
    let whole = fs::read(&log).unwrap();
    let middle = whole.len() / 2;
    let damaged: Vec<u8> = whole.iter().enumerate().map(|(at, byte)| byte ^ u8::from(at == middle)).collect();
    fs::write(&log, &damaged).unwrap();
    let error = Journal::open(&path, Durability::Full).unwrap_err();
    let text = mask_directory(&report(&error), directory.path());
    assert!(text.starts_with("the journal `DIR/journal.db` is damaged\ncaused by: frame "), "{text}");
    assert_eq!(fs::read(&log).unwrap(), damaged, "the log is kept");
    fs::write(&log, &whole).unwrap();
    assert_eq!(open(&path).events(lease.run(), 0).await.unwrap().len(), 10);
}

#[tokio::test]
async fn runs_share_equal_long_values() {
    let (_directory, path) = new_path();
    let journal = open(&path);
    let long = |at| NewEvent::new(at, "started", format!(r#"{{"at":{at},"catalogue":"{}"}}"#, "x".repeat(50_000)));
    for (run, at) in [("a", 1), ("b", 2)] {
        let lease = leased(&journal, run).await;
        journal.append(&lease, Append::at(1).event(long(at))).await.unwrap();
        assert_eq!(journal.events(lease.run(), 1).await.unwrap()[0].body, long(at).body);
    }
    let connection = Connection::open(&path).unwrap();
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap();
    assert_eq!((count("SELECT count(*) FROM blobs"), count("SELECT count(*) FROM event_blobs")), (1, 2));
    assert!(count("SELECT max(length(body)) FROM events") < 5000);
    assert_eq!(count("SELECT max(size) FROM event_blobs"), 50_002);
}

#[tokio::test]
async fn a_changed_business_key_is_detected_and_its_deed_is_not_done() {
    for sql in [
        "UPDATE business_keys SET receipt = '{\"refund\":2}'",
        "UPDATE business_keys SET receipt = NULL",
        "UPDATE business_keys SET since_ms = 0, window_ms = 1",
        "UPDATE business_keys SET run = 'other'",
    ] {
        let (_directory, path) = new_path();
        let journal = open(&path);
        let lease = leased(&journal, "r").await;
        let [key, capability, values, step] = ["k", "shop/refund", "{}", "s"].map(str::to_owned);
        let claim = KeyClaim { key, capability, values, window_ms: 1_000, step };
        journal.claim_with_key(&lease, "s/call/1", claim.clone(), 10).await.unwrap();
        let done = KeyChange { claim: claim.clone(), receipt: Some(r#"{"refund":1}"#.to_owned()) };
        journal.append(&lease, Append { keys: vec![done], ..Append::at(1) }).await.unwrap();
        Connection::open(&path).unwrap().execute(sql, []).unwrap();
        let refused = journal.claim_with_key(&lease, "t/call/1", claim, 20).await.unwrap_err();
        assert!(format!("{refused:?}").contains("the business key `k` was changed"), "{sql}: {refused:?}");
        assert!(journal.business_keys().await.is_err(), "{sql}");
    }
}
