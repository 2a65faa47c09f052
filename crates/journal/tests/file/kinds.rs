//! A file that is something else is not touched.

use std::fs;
use std::path::Path;

use reknit_journal::{Durability, Journal, OpenError};
use rusqlite::Connection;

use crate::kit::{anywhere, open, place, report};

fn refusal(path: &Path) -> OpenError {
    Journal::open(path, Durability::Full).expect_err("it is no journal of ours")
}

#[test]
fn a_newer_journal_is_left_to_a_newer_reknit() {
    let (directory, path) = place();
    drop(open(&path));
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    insta::assert_snapshot!(anywhere(&report(&refusal(&path)), directory.path()), @"
    the journal `DIR/journal.db` has version 99; this Reknit knows versions up to 2
    hint: update Reknit, or choose another place for the journal
    ");
}

#[tokio::test]
async fn a_journal_of_an_older_version_is_brought_up_to_date() {
    let (_directory, path) = place();
    drop(open(&path));
    let file = Connection::open(&path).unwrap();
    file.execute_batch("DROP TABLE lessons").unwrap();
    file.pragma_update(None, "user_version", 1).unwrap();
    drop(file);
    assert_eq!(open(&path).lessons(1).await.unwrap(), []);
    let version = |row: &rusqlite::Row<'_>| row.get::<_, u32>(0);
    assert_eq!(Connection::open(&path).unwrap().pragma_query_value(None, "user_version", version).unwrap(), 2);
}

#[test]
fn the_file_of_another_program_is_not_touched() {
    let (directory, path) = place();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE notes (text)").unwrap();
    let before = fs::read(&path).unwrap();
    insta::assert_snapshot!(anywhere(&report(&refusal(&path)), directory.path()), @"
    `DIR/journal.db` is not a journal
    hint: choose another place for the journal; this file was not touched
    ");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_of_text_is_not_touched() {
    let (_directory, path) = place();
    fs::write(&path, "dear diary, ".repeat(1000)).unwrap();
    assert!(matches!(refusal(&path), OpenError::NotAJournal { .. }));
    assert_eq!(fs::read_to_string(&path).unwrap(), "dear diary, ".repeat(1000));
}

#[test]
fn a_directory_is_not_a_journal() {
    let (directory, path) = place();
    fs::create_dir(&path).unwrap();
    insta::assert_snapshot!(anywhere(&report(&refusal(&path)), directory.path()), @"
    cannot open the journal `DIR/journal.db`
    caused by: Is a directory (os error 21)
    hint: check that you may read and write `DIR/journal.db` and its directory
    ");
}

#[test]
fn what_lies_on_the_way_must_be_a_directory() {
    let (directory, path) = place();
    fs::write(&path, "").unwrap();
    insta::assert_snapshot!(anywhere(&report(&refusal(&path.join("journal.db"))), directory.path()), @"
    cannot create the directory `DIR/journal.db` for the journal
    caused by: File exists (os error 17)
    hint: create `DIR/journal.db` yourself, or choose another place for the journal
    ");
}
