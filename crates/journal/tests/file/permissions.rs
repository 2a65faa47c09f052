//! Permissions: only the owner can read a journal, and a process without permission gets a clear error.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::process::Command;

use crate::child_process::{ChildProcess, WITHOUT_CAPABILITIES};
use crate::support::{leased, mask_directory, new_path, open};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn only_the_owner_can_read_a_new_journal_and_its_new_directories() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("state/reknit/journal.db");
    let journal = open(&path);
    leased(&journal, "r").await;
    for created in ["state", "state/reknit"] {
        assert_eq!(mode(&directory.path().join(created)), 0o700, "{created}");
    }
    for file in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        assert_eq!(mode(&path.with_file_name(file)), 0o600, "{file}");
    }
}

#[tokio::test]
async fn opening_a_journal_restricts_it_to_its_owner() {
    let (_directory, path) = new_path();
    drop(open(&path));
    set_mode(&path, 0o644);
    let journal = open(&path);
    leased(&journal, "r").await;
    assert_eq!(mode(&path), 0o600);
}

fn is_root(directory: &Path) -> bool {
    fs::metadata(directory).unwrap().uid() == 0
}

/// Whether a process to which permissions apply can be started, and reaches the directory.
fn can_drop_privileges(directory: &Path) -> bool {
    if !is_root(directory) {
        return true;
    }
    let mut command = Command::new(WITHOUT_CAPABILITIES[0]);
    let tried = command.args(&WITHOUT_CAPABILITIES[1..]).args(["sh", "-c", r#"cd "$0""#]).arg(directory).output();
    if tried.is_ok_and(|output| output.status.success()) {
        return true;
    }
    // Not `eprintln!`: the test runner hides its output if the test passes.
    let reason = "root may write anywhere, and `setpriv` cannot change that here";
    let _ = writeln!(std::io::stderr(), "a test of permissions is skipped: {reason}");
    false
}

/// Opens the journal in a process to which permissions apply, and returns what that process prints.
fn open_without_privileges(directory: &Path, path: &Path) -> String {
    let child = if is_root(directory) {
        ChildProcess::start_without_capabilities("open", path)
    } else {
        ChildProcess::start("open", path)
    };
    mask_directory(&child.finish().join("\n"), directory)
}

#[test]
fn an_open_without_permission_names_the_file_and_gives_a_hint() {
    let directory = tempfile::tempdir().unwrap();
    if !can_drop_privileges(directory.path()) {
        return;
    }
    let closed = directory.path().join("closed");
    fs::create_dir(&closed).unwrap();
    drop(open(&closed.join("journal.db")));

    set_mode(&closed, 0o555);
    insta::assert_snapshot!(open_without_privileges(directory.path(), &closed.join("new/journal.db")), @"
    cannot create the directory `DIR/closed/new` for the journal
    caused by: Permission denied (os error 13)
    hint: create `DIR/closed/new` yourself, or choose another path for the journal
    ");
    insta::assert_snapshot!(open_without_privileges(directory.path(), &closed.join("new.db")), @"
    cannot open the journal `DIR/closed/new.db`
    caused by: Permission denied (os error 13)
    hint: check that you may read and write `DIR/closed/new.db` and its directory
    ");
    set_mode(&closed.join("journal.db"), 0o444);
    insta::assert_snapshot!(open_without_privileges(directory.path(), &closed.join("journal.db")), @"
    cannot open the journal `DIR/closed/journal.db`
    caused by: Permission denied (os error 13)
    hint: check that you may read and write `DIR/closed/journal.db` and its directory
    ");
    // The file is writable, but its directory is not.
    set_mode(&closed.join("journal.db"), 0o600);
    insta::assert_snapshot!(open_without_privileges(directory.path(), &closed.join("journal.db")), @"
    cannot write to the journal `DIR/closed/journal.db`
    caused by: attempt to write a readonly database (SQLite error 1544)
    hint: check that you may write to `DIR/closed/journal.db` and to its directory, and that the disk has no errors
    ");
    set_mode(&closed, 0o755);
}
