//! Only its owner can read a journal, and who may not write is told so.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

use crate::child::Actor;
use crate::kit::{anywhere, leased, open, place};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn only_the_owner_can_read_the_journal_and_the_directories_that_were_made_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state/reknit/journal.db");
    let journal = open(&path);
    leased(&journal, "r").await;
    for made in ["state", "state/reknit"] {
        assert_eq!(mode(&directory.path().join(made)), 0o700, "{made}");
    }
    for file in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        assert_eq!(mode(&path.with_file_name(file)), 0o600, "{file}");
    }
}

#[tokio::test]
async fn a_journal_that_others_could_read_is_closed_to_them() {
    let (_directory, path) = place();
    drop(open(&path));
    set_mode(&path, 0o644);
    let journal = open(&path);
    leased(&journal, "r").await;
    assert_eq!(mode(&path), 0o600);
}

/// Opens the journal in a process that is not root.
fn opened_by_nobody(directory: &Path, path: &Path) -> String {
    let program = directory.join("program");
    if !program.exists() {
        // By another process: one of ours that a test starts meanwhile would keep the copy open for writing.
        let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status();
        assert!(copied.unwrap().success());
        set_mode(&program, 0o755);
    }
    let said = if fs::metadata(directory).unwrap().uid() == 0 {
        Actor::start_as_nobody(&program, "open", path).end()
    } else {
        Actor::start("open", path).end()
    };
    anywhere(&said.join("\n"), directory)
}

#[test]
fn who_may_not_write_is_told_which_file_and_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let closed = directory.path().join("closed");
    fs::create_dir(&closed).unwrap();
    drop(open(&closed.join("journal.db")));
    set_mode(directory.path(), 0o755);

    set_mode(&closed, 0o555);
    insta::assert_snapshot!(opened_by_nobody(directory.path(), &closed.join("new/journal.db")), @"
    cannot create the directory `DIR/closed/new` for the journal
    caused by: Permission denied (os error 13)
    hint: create `DIR/closed/new` yourself, or choose another place for the journal
    ");
    insta::assert_snapshot!(opened_by_nobody(directory.path(), &closed.join("new.db")), @"
    cannot open the journal `DIR/closed/new.db`
    caused by: Permission denied (os error 13)
    hint: check that you may read and write `DIR/closed/new.db` and its directory
    ");
    set_mode(&closed.join("journal.db"), 0o444);
    insta::assert_snapshot!(opened_by_nobody(directory.path(), &closed.join("journal.db")), @"
    cannot open the journal `DIR/closed/journal.db`
    caused by: Permission denied (os error 13)
    hint: check that you may read and write `DIR/closed/journal.db` and its directory
    ");
    // The file may be written, but nothing can be put beside it.
    set_mode(&closed.join("journal.db"), 0o600);
    if fs::metadata(directory.path()).unwrap().uid() == 0 {
        std::os::unix::fs::chown(closed.join("journal.db"), Some(65534), Some(65534)).unwrap();
    }
    insta::assert_snapshot!(opened_by_nobody(directory.path(), &closed.join("journal.db")), @"
    the journal `DIR/closed/journal.db` cannot be written
    caused by: attempt to write a readonly database (SQLite error 1544)
    hint: check that you may write to `DIR/closed/journal.db` and to the directory it is in, and that the disk is well
    ");
    set_mode(&closed, 0o755);
}
