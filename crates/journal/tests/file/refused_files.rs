//! Files that are not a journal of this build are refused and not changed.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use reknit_journal::{Durability, Journal, OpenError};
use rusqlite::Connection;

use crate::support::{leased, mask_directory, new_path, open, report};

fn refusal(path: &Path) -> OpenError {
    Journal::open(path, Durability::Full).expect_err("not a journal of this build")
}

/// A journal as another build writes it, with this format version.
fn journal_of_version(version: u32, path: &Path) {
    drop(open(path));
    Connection::open(path).unwrap().pragma_update(None, "user_version", version).unwrap();
}

#[test]
fn a_journal_of_an_older_build_is_refused_and_not_changed() {
    for version in [1, 2, 3] {
        let (directory, path) = new_path();
        journal_of_version(version, &path);
        let before = fs::read(&path).unwrap();
        let text = mask_directory(&report(&refusal(&path)), directory.path());
        insta::allow_duplicates! {
            insta::assert_snapshot!(text.replace(&format!("format {version}"), "format OLD"), @"
            the journal `DIR/journal.db` was written by an older build of Reknit (format OLD, not 6)
            hint: keep it for the older build and start a new one with `mv DIR/journal.db DIR/journal.db.old`, or choose another path for the journal; its contents were not changed
            ");
        }
        assert_eq!(fs::read(&path).unwrap(), before);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "no other file is left behind");
    }
}

#[tokio::test]
async fn a_crashed_journal_of_an_older_build_keeps_its_log_when_it_is_moved() {
    let ((_directory, source), (_other_directory, path)) = (new_path(), new_path());
    journal_of_version(2, &source);
    let writer = Connection::open(&source).unwrap();
    writer.execute("INSERT INTO blobs VALUES ('digest', 'body')", []).unwrap();
    for suffix in ["", "-wal"] {
        let name = |path: &Path| format!("{}{suffix}", path.display());
        fs::copy(name(&source), name(&path)).unwrap();
    }

    refusal(&path);
    let moved = path.with_extension("db.old");
    fs::rename(&path, &moved).unwrap();
    leased(&open(&path), "r").await;
    let count = "SELECT count(*) FROM blobs";
    assert_eq!(Connection::open(&moved).unwrap().query_row(count, [], |row| row.get::<_, u32>(0)).unwrap(), 1);
}

#[test]
fn a_journal_of_a_newer_build_is_refused_and_not_changed() {
    let (directory, path) = new_path();
    journal_of_version(99, &path);
    let before = fs::read(&path).unwrap();
    insta::assert_snapshot!(mask_directory(&report(&refusal(&path)), directory.path()), @"
    the journal `DIR/journal.db` was written by a newer build of Reknit (format 99, not 6)
    hint: use the newer build, or choose another path for the journal; its contents were not changed. The newer build left a copy of what was there before it at `DIR/journal.db.v6-backup`, if it upgraded this journal
    ");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_database_of_another_program_is_refused_and_not_changed() {
    let (directory, path) = new_path();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE notes (text)").unwrap();
    let before = fs::read(&path).unwrap();
    insta::assert_snapshot!(mask_directory(&report(&refusal(&path)), directory.path()), @"
    `DIR/journal.db` is not a journal
    hint: choose another path for the journal; this file was not changed
    ");
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// The name, content, permissions and time of the last change of a file.
type FileState = (OsString, Vec<u8>, u32, (i64, i64));

/// Everything that a refusal must leave as it was.
fn state_of(directory: &Path) -> Vec<FileState> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        (entry.file_name(), fs::read(entry.path()).unwrap(), metadata.mode(), changed)
    });
    let mut state: Vec<_> = entries.collect();
    state.sort();
    state
}

/// A database of another program in this journal mode. The process that wrote it ended without closing it.
fn abandoned_database(mode: &str, path: &Path) {
    let (_directory, source) = new_path();
    let writer = Connection::open(&source).unwrap();
    writer.pragma_update_and_check(None, "journal_mode", mode, |_| Ok(())).unwrap();
    writer.execute_batch("CREATE TABLE notes (text); PRAGMA wal_checkpoint; INSERT INTO notes VALUES ('x')").unwrap();
    for suffix in ["", "-wal"] {
        let name = |path: &Path| format!("{}{suffix}", path.display());
        if fs::exists(name(&source)).unwrap() {
            fs::copy(name(&source), name(path)).unwrap();
        }
    }
}

#[test]
fn a_refused_file_keeps_its_bytes_permissions_and_times_and_gets_no_side_files() {
    type MakeFile = fn(&Path);
    let files: [(&str, MakeFile); 4] = [
        ("text", |path| fs::write(path, "dear diary, ".repeat(1000)).unwrap()),
        ("short text", |path| fs::write(path, "x").unwrap()),
        ("a database with a rollback journal", |path| abandoned_database("delete", path)),
        ("a database with a write-ahead log", |path| abandoned_database("wal", path)),
    ];
    for (name, make) in files {
        let (directory, path) = new_path();
        make(&path);
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let before = state_of(directory.path());
        let error = refusal(&path);
        assert!(matches!(error, OpenError::NotAJournal(_)), "{name}: {error:?}");
        assert_eq!(state_of(directory.path()), before, "{name}");
    }
}

#[test]
fn a_text_file_is_refused_and_not_changed() {
    let (_directory, path) = new_path();
    fs::write(&path, "dear diary, ".repeat(1000)).unwrap();
    assert!(matches!(refusal(&path), OpenError::NotAJournal { .. }));
    assert_eq!(fs::read_to_string(&path).unwrap(), "dear diary, ".repeat(1000));
}

#[test]
fn a_directory_is_refused() {
    let (directory, path) = new_path();
    fs::create_dir(&path).unwrap();
    insta::assert_snapshot!(mask_directory(&report(&refusal(&path)), directory.path()), @"
    cannot open the journal `DIR/journal.db`
    caused by: Is a directory (os error 21)
    hint: check that you may read and write `DIR/journal.db` and its directory
    ");
}

#[test]
fn a_file_in_place_of_a_parent_directory_is_refused() {
    let (directory, path) = new_path();
    fs::write(&path, "").unwrap();
    insta::assert_snapshot!(mask_directory(&report(&refusal(&path.join("journal.db"))), directory.path()), @"
    cannot create the directory `DIR/journal.db` for the journal
    caused by: File exists (os error 17)
    hint: create `DIR/journal.db` yourself, or choose another path for the journal
    ");
}
