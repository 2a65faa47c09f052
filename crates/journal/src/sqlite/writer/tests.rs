use std::path::Path;
use std::sync::mpsc;

use rusqlite::Connection;
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::*;
use crate::error::storage::Stored;
use crate::rules::{self, Opening, Prepared};
use crate::sqlite::file::beside;
use crate::sqlite::open::open;
use crate::{Append, AppendError, CreateError, Durability, Holder, Lease, NewEvent, Term};

const TERM: Term = Term { now_ms: 0, ttl_ms: 1000 };

fn opened() -> (TempDir, Opened) {
    let directory = tempfile::tempdir().unwrap();
    let opened = open(&directory.path().join("journal.db"), Durability::Full).unwrap();
    (directory, opened)
}

fn creation(run: &str) -> impl FnMut(&mut dyn Tables) -> Verdict<Lease, CreateError> + Send + use<> {
    let first = crate::blob::fold(NewEvent::new(0, "started", "{}"));
    let opening = Opening { run: run.into(), title: String::new(), first };
    let holder = Holder::this_process();
    move |tables| rules::create(tables, &opening, &holder, TERM)
}

fn appending(lease: &Lease, body: String) -> impl FnMut(&mut dyn Tables) -> Verdict<u64, AppendError> + Send + use<> {
    let (lease, append) = (lease.clone(), Prepared::from(Append::at(1).event(NewEvent::new(0, "test", body))));
    move |tables| rules::append(tables, &lease, &append)
}

fn job<T, E, W>(work: W) -> (Box<dyn Job>, oneshot::Receiver<Result<T, E>>)
where
    T: Send + 'static,
    E: From<StorageError> + Send + 'static,
    W: FnMut(&mut dyn Tables) -> Verdict<T, E> + Send + 'static,
{
    let (task, answer) = Task::new(work);
    (Box::new(task), answer)
}

fn created(opened: &mut Opened, run: &str) -> Lease {
    let (creation, mut answer) = job(creation(run));
    write(opened, vec![creation]);
    answer.try_recv().unwrap().unwrap()
}

fn runs_in(path: &Path) -> u32 {
    let connection = Connection::open(path).unwrap();
    connection.query_row("SELECT count(*) FROM runs", [], |row| row.get(0)).unwrap()
}

/// How often something was committed since the log was last empty: each commit marks its last frame.
fn commits(path: &Path) -> usize {
    let log = std::fs::read(beside(path, "-wal")).unwrap();
    let (header, frames) = log.split_at(32);
    let page = u32::from_be_bytes(header[8..12].try_into().unwrap()) as usize;
    frames.chunks_exact(24 + page).filter(|frame| frame[4..8] != [0; 4]).count()
}

/// Looks into the file at the moment of its answer.
struct Witness<W> {
    work: W,
    path: PathBuf,
    saw: mpsc::Sender<u32>,
}

impl<W: FnMut(&mut dyn Tables) -> Verdict<Lease, CreateError> + Send> Job for Witness<W> {
    fn run(&mut self, tables: &mut dyn Tables) -> Stored<()> {
        (self.work)(tables)?.expect("the run is new");
        assert_eq!(runs_in(&self.path), 0, "others see nothing before the commit");
        Ok(())
    }

    fn answer(self: Box<Self>) {
        self.saw.send(runs_in(&self.path)).unwrap();
    }

    fn fail(self: Box<Self>, error: StorageError) {
        panic!("{error}");
    }
}

#[test]
fn a_group_is_committed_at_once_and_answered_after_it() {
    let (_directory, mut opened) = opened();
    let (saw, seen) = mpsc::channel();
    let before = commits(&opened.path);
    let group = ["a", "b", "c"].map(|run| {
        let witness = Witness { work: creation(run), path: opened.path.clone(), saw: saw.clone() };
        Box::new(witness) as Box<dyn Job>
    });
    write(&mut opened, group.into());
    drop(saw);
    assert_eq!(seen.iter().collect::<Vec<_>>(), [3, 3, 3]);
    assert_eq!(commits(&opened.path), before + 1);
}

#[test]
fn a_refused_job_does_not_spoil_its_group() {
    let (_directory, mut opened) = opened();
    let (first, mut first_answer) = job(creation("a"));
    let (again, mut again_answer) = job(creation("a"));
    let (other, mut other_answer) = job(creation("b"));
    let before = commits(&opened.path);
    write(&mut opened, vec![first, again, other]);
    assert_eq!(first_answer.try_recv().unwrap().unwrap().epoch(), 1);
    assert!(matches!(again_answer.try_recv().unwrap(), Err(CreateError::Exists { .. })));
    assert_eq!(other_answer.try_recv().unwrap().unwrap().run().as_str(), "b");
    assert_eq!(commits(&opened.path), before + 1);
}

#[test]
fn a_job_that_fails_leaves_nothing_behind_and_spoils_nobody() {
    let (_directory, mut opened) = opened();
    let (first, mut first_answer) = job(creation("a"));
    let mut half = creation("half");
    let (failing, mut failure) = job(move |tables: &mut dyn Tables| {
        half(tables)?.expect("the run is new");
        Err::<Result<Lease, CreateError>, _>(Failure::Contents("it breaks in the middle".to_owned()))
    });
    let (other, mut other_answer) = job(creation("b"));
    write(&mut opened, vec![first, failing, other]);
    assert!(first_answer.try_recv().unwrap().is_ok());
    assert!(matches!(failure.try_recv().unwrap(), Err(CreateError::Storage(StorageError::Damaged { .. }))));
    assert!(other_answer.try_recv().unwrap().is_ok());
    assert_eq!(runs_in(&opened.path), 2);
}

#[test]
fn a_full_disk_refuses_what_does_not_fit_and_keeps_what_does() {
    let (_directory, mut opened) = opened();
    let leases = ["a", "b"].map(|run| created(&mut opened, run));
    let pages: u32 = opened.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    opened.connection.pragma_update_and_check(None, "max_page_count", pages + 4, |_| Ok(())).unwrap();
    let (big, mut big_answer) = job(appending(&leases[0], format!(r#""{}""#, "x".repeat(1 << 20))));
    let (small, mut small_answer) = job(appending(&leases[1], "{}".to_owned()));
    write(&mut opened, vec![big, small]);
    let error = big_answer.try_recv().unwrap().unwrap_err();
    assert!(matches!(error, AppendError::Storage(StorageError::Full { .. })), "{error:?}");
    assert_eq!(small_answer.try_recv().unwrap().unwrap(), 2);

    // With room again, the one that was refused is as new: nothing of it was kept.
    opened.connection.pragma_update_and_check(None, "max_page_count", 1 << 20, |_| Ok(())).unwrap();
    let (again, mut again_answer) = job(appending(&leases[0], "{}".to_owned()));
    write(&mut opened, vec![again]);
    assert_eq!(again_answer.try_recv().unwrap().unwrap(), 2);
}

#[test]
fn a_file_that_was_deleted_is_not_written_to() {
    let (_directory, mut opened) = opened();
    std::fs::remove_file(&opened.path).unwrap();
    let (creation, mut answer) = job(creation("a"));
    write(&mut opened, vec![creation]);
    let error = answer.try_recv().unwrap().unwrap_err();
    assert!(matches!(error, CreateError::Storage(StorageError::Gone { .. })), "{error:?}");
}
